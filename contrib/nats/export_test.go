package nats

// Waiting returns a function that counts the requests that a service has received and not begun to answer.
func Waiting(s *Service) func() int {
	return func() (n int) {
		for _, sub := range s.subs {
			pending, _, _ := sub.Pending()
			n += pending
		}
		return n
	}
}

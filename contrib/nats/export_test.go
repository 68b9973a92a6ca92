package nats

// Waiting returns a function that counts the requests that a service has received and not begun to answer.
func Waiting(s *Service) func() int {
	return func() int { return len(s.held) - len(s.calls) }
}

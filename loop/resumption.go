package loop

import "github.com/hookgen/hookgen/generated/agent"

// A resumption has the answers and the wanted calls with which a suspended run was resumed, and who makes its calls.
type resumption struct {
	answers map[string]Answer                                 // by the ID of the question
	wanted  func(run string, call agent.ToolCallRequest) bool // Request.Continue
	engine  Dispatch                                          // nil: the loop
}

// wants reports whether a deferred call of a suspended run is to be called again.
func (r *resumption) wants(s *snapshot, c *savedCall) bool {
	return c.Deferred && (r.wanted == nil || r.wanted(s.Run, c.request(s.Counters.Steps)))
}

// continues reports whether a suspended run can continue: there is an answer to one of the questions of its tree, or a
// deferred call is wanted.
func (r *resumption) continues(s *snapshot) (found bool) {
	s.each(func(s *snapshot) {
		for i := range s.Calls {
			c := &s.Calls[i]
			if q := c.Question; q != nil {
				_, answered := r.answers[q.ID]
				found = found || answered
			}
			found = found || r.wants(s, c)
		}
	})
	return found
}

// resumes reports whether a run that a call has started is suspended and can continue.
func (r *resumption) resumes(s savedSpawn) bool { return s.State != nil && r.continues(s.State) }

package mcp

import (
	"strconv"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A reporter passes the progress of one call on, one report at a time, until the call ends. The library delivers
// reports in another goroutine: a report may be under way when the answer of the call arrives, or come after it.
type reporter struct {
	f     func(*sdk.ProgressNotificationParams)
	turn  chan struct{} // holds a value while a report is under way, and from the end on
	ended chan struct{} // closed at the end
}

func newReporter(f func(*sdk.ProgressNotificationParams)) *reporter {
	return &reporter{f: f, turn: make(chan struct{}, 1), ended: make(chan struct{})}
}

func (r *reporter) report(p *sdk.ProgressNotificationParams) {
	select {
	case r.turn <- struct{}{}:
		defer func() { <-r.turn }()
		r.f(p)
	case <-r.ended:
	}
}

// end waits for the report under way. Later reports are dropped.
func (r *reporter) end() {
	r.turn <- struct{}{}
	close(r.ended)
}

// report passes a progress report on to the call that it is about.
func (s *Server) report(p *sdk.ProgressNotificationParams) {
	if p == nil {
		return
	}
	token, _ := p.ProgressToken.(string)
	s.mu.Lock()
	r := s.reports[token]
	s.mu.Unlock()
	if r != nil {
		r.report(p)
	}
}

// reporting registers f for the progress of one call and returns the token of the call. After end, f is not running
// and is not called again.
func (s *Server) reporting(f func(*sdk.ProgressNotificationParams)) (token string, end func()) {
	r := newReporter(f)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tokens++
	token = strconv.Itoa(s.tokens)
	s.reports[token] = r
	return token, func() {
		s.mu.Lock()
		delete(s.reports, token)
		s.mu.Unlock()
		r.end()
	}
}

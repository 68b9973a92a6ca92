package mcp

import (
	"strconv"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxReports bounds the reports of a call that wait for hooks. The oldest are dropped.
const maxReports = 16

// A reporter passes the progress of one call on, one report at a time, until the call ends. A server may send more
// reports than the hooks can follow. The library would keep all of them until their turn, so report never waits.
type reporter struct {
	f       func(*sdk.ProgressNotificationParams)
	waiting chan *sdk.ProgressNotificationParams
	ended   chan struct{} // closed at the end
	done    chan struct{} // closed when f is not called any more
}

func newReporter(f func(*sdk.ProgressNotificationParams)) *reporter {
	r := &reporter{
		f: f, waiting: make(chan *sdk.ProgressNotificationParams, maxReports),
		ended: make(chan struct{}), done: make(chan struct{}),
	}
	go r.pass()
	return r
}

// pass passes the reports on until the end, and then those that wait.
func (r *reporter) pass() {
	defer close(r.done)
	for {
		select {
		case p := <-r.waiting:
			r.f(p)
			continue
		case <-r.ended:
		}
		select {
		case p := <-r.waiting:
			r.f(p)
		default:
			return
		}
	}
}

func (r *reporter) report(p *sdk.ProgressNotificationParams) {
	for {
		select {
		case r.waiting <- p:
			return
		default:
		}
		select {
		case <-r.waiting:
		default:
		}
	}
}

// end waits for the reports that have come. Later reports are dropped.
func (r *reporter) end() {
	close(r.ended)
	<-r.done
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

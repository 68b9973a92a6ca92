package mcp

import (
	"testing"
	"time"
)

// SetStuck sets the time for a server to read a request, until the test ends.
func SetStuck(t *testing.T, d time.Duration) {
	was := stuck
	stuck = d
	t.Cleanup(func() { stuck = was })
}

// Ended reports whether the current connection is known to have ended.
func (s *Server) Ended() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conn.ended.Load()
}

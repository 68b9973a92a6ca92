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

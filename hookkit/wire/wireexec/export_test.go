package wireexec

import (
	"testing"
	"time"
)

// SetStaying sets how long a program may run after it closed its output, until the end of the test.
func SetStaying(t *testing.T, d time.Duration) {
	before := staying
	staying = d
	t.Cleanup(func() { staying = before })
}

package loop

import (
	"testing"
	"testing/synctest"
)

func TestAttemptsEndWithTheirFire(t *testing.T) {
	for _, c := range []struct {
		name string
		run  func(t *testing.T, a *attempts)
	}{
		{"NoneBeginsAfterTheEnd", func(t *testing.T, a *attempts) {
			a.end()
			if a.begin() {
				t.Error("an attempt has begun")
			}
		}},
		{"RunningOnesAreCancelled", func(t *testing.T, a *attempts) {
			const n = 3
			cancelled := make(chan bool, n)
			for range n {
				if !a.begin() {
					t.Fatal("an attempt has not begun")
				}
				a.cancelWith(func() { cancelled <- true; a.done() })
			}
			a.end()
			if len(cancelled) != n {
				t.Errorf("%d attempts are cancelled, want %d", len(cancelled), n)
			}
		}},
		{"OneThatBeginsToWaitTooLateIsCancelled", func(t *testing.T, a *attempts) {
			a.begin()
			ended := make(chan bool)
			go func() { a.end(); close(ended) }()
			synctest.Wait() // end waits for the attempt
			cancelled := false
			a.cancelWith(func() { cancelled = true })
			a.done()
			<-ended
			if !cancelled {
				t.Error("the attempt is not cancelled")
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { c.run(t, new(attempts)) })
		})
	}
}

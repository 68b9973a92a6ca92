package runtime_test

import (
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/hookgen/hookgen/tests/points"
	"pgregory.net/rapid"
)

// Played is the result of a program.
type Played struct {
	Fires    []FireResult // in the order of their starts
	Deep     int          // the number of fires by hooks
	Parallel bool         // some ran in parallel
	Wrong    []string     // differences between real Hooks and the model
}

// Play plays a program on real Hooks in a synctest bubble, and compares each fire with the model.
func Play(t *testing.T, p Program) (played Played) {
	t.Helper()
	old := slog.Default()
	slog.SetDefault(slog.New(logger{}))
	defer slog.SetDefault(old)
	s := perform(t, p)
	played.Wrong, played.Parallel = s.compare(), len(p.Threads) > 0
	for _, f := range s.firings {
		played.Fires = append(played.Fires, f.FireResult)
		if f.depth > 0 {
			played.Deep++
		}
	}
	return played
}

// Check plays a program. If it fails, Check prints the differences and the program as Go code.
func Check(t *testing.T, rt *rapid.T, p Program) Played {
	played := Play(t, p)
	if len(played.Wrong) > 0 {
		rt.Fatalf("%s", p.report(played.Wrong))
	}
	return played
}

func perform(t *testing.T, p Program) (s *harness) {
	synctest.Test(t, func(*testing.T) {
		points.Forget()
		s = newHarness() // its channel must belong to the bubble
		defer close(s.over)
		defer func() {
			if r := recover(); r != nil {
				s.wrong("%v", r)
			}
		}()
		for _, step := range p.Steps {
			s.play(step)
		}
		s.parallel = true
		var threads sync.WaitGroup
		for _, steps := range p.Threads {
			threads.Go(func() {
				for _, step := range steps {
					s.play(step)
				}
			})
		}
		threads.Wait()
		for reg := range s.regs {
			s.drain(reg)
		}
	})
	return s
}

// report describes the differences and how to reproduce them.
func (p Program) report(wrong []string) string {
	return strings.Join(wrong, "\n") + "\n\n\t" + strings.ReplaceAll(p.String(), "\n", "\n\t")
}

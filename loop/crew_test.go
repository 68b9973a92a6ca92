package loop

import (
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
)

// A jobFunc is a job for tests.
type jobFunc func()

func (f jobFunc) do() { f() }

func TestACrewReusesItsGoroutines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // fails if a goroutine is left
		var c crew
		for range 100 {
			var all sync.WaitGroup
			for range 3 {
				all.Add(1)
				c.do(jobFunc(all.Done))
			}
			all.Wait()
			synctest.Wait()
		}
		if len(c.idle) != 3 {
			t.Errorf("%d goroutines are kept, want 3", len(c.idle))
		}
		c.close()
	})
}

func TestACrewSurvivesGoexit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c crew
		done := make(chan bool, 2)
		c.do(jobFunc(func() {
			defer func() { done <- true }()
			runtime.Goexit()
		}))
		<-done
		c.do(jobFunc(func() { done <- true }))
		<-done
		c.close()
	})
}

func TestAClosedCrewStillRunsFunctions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c crew
		release, done := make(chan bool), make(chan bool)
		c.do(jobFunc(func() { <-release; done <- true }))
		c.close()
		c.do(jobFunc(func() { done <- true }))
		<-done
		close(release)
		<-done
		synctest.Wait()
		if len(c.idle) != 0 {
			t.Errorf("%d goroutines are kept", len(c.idle))
		}
	})
}

func TestACrewRunsNestedFunctions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c crew
		const depth = 10
		done := make(chan int, depth)
		var nest func(level int)
		nest = func(level int) {
			if level < depth {
				c.do(jobFunc(func() { nest(level + 1) }))
			}
			done <- level
		}
		c.do(jobFunc(func() { nest(1) }))
		sum := 0
		for range depth {
			sum += <-done
		}
		if want := depth * (depth + 1) / 2; sum != want {
			t.Errorf("the levels that ran sum up to %d, want %d", sum, want)
		}
		synctest.Wait()
		c.close()
	})
}

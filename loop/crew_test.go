package loop

import (
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
)

func TestACrewKeepsItsGoroutines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // fails if a goroutine is left
		var c crew
		for range 100 {
			var all sync.WaitGroup
			for range 3 {
				all.Add(1)
				c.do(all.Done)
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

func TestAFunctionThatEndsItsGoroutineCostsItAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c crew
		done := make(chan bool, 2)
		c.do(func() {
			defer func() { done <- true }()
			runtime.Goexit()
		})
		<-done
		c.do(func() { done <- true })
		<-done
		c.close()
	})
}

func TestAClosedCrewStillRunsAndKeepsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c crew
		release, done := make(chan bool), make(chan bool)
		c.do(func() { <-release; done <- true })
		c.close()
		c.do(func() { done <- true })
		<-done
		close(release)
		<-done
		synctest.Wait()
		if len(c.idle) != 0 {
			t.Errorf("%d goroutines are kept", len(c.idle))
		}
	})
}

package queue

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
)

func TestADeliveryKeepsTheOrderAndSurvivesItsTaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d Delivery[int]
		var got []int
		take := func(n int) {
			switch n {
			case 3:
				panic("three")
			case 5:
				runtime.Goexit()
			}
			got = append(got, n)
		}
		for n := range 8 {
			d.Put("a test", 0, n, take)
		}
		if err := d.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, []int{0, 1, 2, 4, 6, 7}) || d.Lost() != 0 {
			t.Errorf("got %v, lost %d", got, d.Lost())
		}
		if err := d.Flush(t.Context()); err != nil {
			t.Errorf("flushing nothing: %v", err)
		}
	}) // and no goroutine is left
}

func TestADeliveryDropsTheOldestWhenTooManyWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d Delivery[int]
		var got []int
		hold := make(chan struct{})
		take := func(n int) {
			<-hold
			got = append(got, n)
		}
		d.Put("a test", 3, 0, take)
		synctest.Wait() // it is being handed over
		for n := 1; n <= 5; n++ {
			d.Put("a test", 3, n, take)
		}
		over, cancel := context.WithCancel(t.Context())
		cancel()
		if err := d.Flush(over); !errors.Is(err, context.Canceled) {
			t.Errorf("flush: %v", err)
		}
		close(hold)
		if err := d.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, []int{0, 3, 4, 5}) || d.Lost() != 2 {
			t.Errorf("got %v, lost %d", got, d.Lost())
		}
	})
}

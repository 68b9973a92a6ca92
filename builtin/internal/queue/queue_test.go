package queue

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
)

func TestQueueSurvivesAPanickingConsumer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d Queue[int]
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
			d.Put(n, Consumer[int]{Name: "a test", Take: take, Size: 10})
		}
		if err := d.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, []int{0, 1, 2, 4, 6, 7}) || d.Dropped() != 0 {
			t.Errorf("got %v, dropped %d", got, d.Dropped())
		}
		if err := d.Flush(t.Context()); err != nil {
			t.Errorf("flushing nothing: %v", err)
		}
	}) // synctest fails if a goroutine remains
}

func TestAFullQueueDropsItems(t *testing.T) {
	for _, c := range []struct {
		name       string
		dropNewest bool
		want       []int
	}{{"oldest", false, []int{0, 3, 4, 5}}, {"newest", true, []int{0, 1, 2, 3}}} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var q Queue[int]
				var got []int
				hold := make(chan struct{})
				to := Consumer[int]{Name: "a test", Size: 3, DropNewest: c.dropNewest, Take: func(n int) {
					<-hold
					got = append(got, n)
				}}
				q.Put(0, to)
				synctest.Wait() // Take has received the item
				for n := 1; n <= 5; n++ {
					q.Put(n, to)
				}
				over, cancel := context.WithCancel(t.Context())
				cancel()
				if err := q.Flush(over); !errors.Is(err, context.Canceled) {
					t.Errorf("flush: %v", err)
				}
				close(hold)
				if err := q.Flush(t.Context()); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got, c.want) || q.Dropped() != 2 {
					t.Errorf("got %v, dropped %d", got, q.Dropped())
				}
			})
		})
	}
}

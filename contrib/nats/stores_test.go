package nats_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/hookgen/hookgen/builtin/memory"
	"github.com/hookgen/hookgen/builtin/memory/memorytest"
	"github.com/hookgen/hookgen/builtin/session"
	"github.com/hookgen/hookgen/contrib/nats"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop/looptest"
)

// buckets returns a function that makes an empty bucket for each test of a suite.
func buckets(t *testing.T) func(*testing.T) *nats.Bucket {
	t.Helper()
	c := connect(t, newServer(t).URL())
	n := 0
	return func(t *testing.T) *nats.Bucket {
		t.Helper()
		n++
		b, err := c.Bucket(t.Context(), fmt.Sprint("b", n), nats.Limits{MaxBytes: 64 << 20})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
}

func TestStoreConforms(t *testing.T) {
	open := buckets(t)
	looptest.CheckStore(t, func(t *testing.T) agent.Store { return nats.Store{Bucket: open(t)} })
}

func TestSessionsConform(t *testing.T) {
	open := buckets(t)
	looptest.CheckSessionStore(t, func(t *testing.T) agent.SessionStore {
		return session.Sessions{Store: nats.Store{Bucket: open(t)}}
	})
}

func TestRunStoreConforms(t *testing.T) {
	open := buckets(t)
	looptest.CheckRunStore(t, func(t *testing.T) agent.RunStore {
		return session.Runs{Store: nats.Store{Bucket: open(t)}}
	})
}

func TestMemoryConforms(t *testing.T) {
	open := buckets(t)
	memorytest.Check(t, func(t *testing.T, clock agent.Clock) memory.Store {
		return &memory.Facts{In: nats.Store{Bucket: open(t)}, Clock: clock}
	})
}

func TestStoresShareABucket(t *testing.T) {
	b := newBucket(t, nats.Limits{})
	store := nats.Store{Bucket: b}
	err := store.Put(t.Context(), "session/t/u/c", []byte("x"))
	_, failed := b.Put(t.Context(), "session/t/u/c", []byte("1"))
	if err = errors.Join(err, failed); err != nil {
		t.Fatal(err)
	}
	keys, err := store.Keys(t.Context(), "")
	if err != nil || !slices.Equal(keys, []string{"session/t/u/c"}) {
		t.Errorf("the store has %q, %v", keys, err)
	}
	if value, err := store.Get(t.Context(), "session/t/u/c"); err != nil || string(value) != "x" {
		t.Errorf("its value is %q, %v", value, err)
	}
}

func TestOneProcessSwapsAValue(t *testing.T) {
	s, long := nats.Store{Bucket: newBucket(t, nats.Limits{})}, []byte(strings.Repeat("long", 200_000))
	if err := s.Put(t.Context(), "key", long); err != nil {
		t.Fatal(err)
	}
	var (
		all   sync.WaitGroup
		taken atomic.Int32
	)
	for range 8 {
		all.Go(func() {
			swapped, err := s.Swap(t.Context(), "key", long, nil)
			if err != nil {
				t.Error(err)
			}
			if swapped {
				taken.Add(1)
			}
		})
	}
	all.Wait()
	if n := taken.Load(); n != 1 {
		t.Errorf("%d have taken it", n)
	}
}

package sqlite

import (
	"errors"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
)

func TestOneOfManySwapsAValue(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.db")
	first := Store{reopen(t, path)}
	if err := first.Put(t.Context(), "run", []byte("state")); err != nil {
		t.Fatal(err)
	}
	var taken atomic.Int32
	var all sync.WaitGroup
	for range 4 {
		store := Store{reopen(t, path)} // as another process has it
		all.Go(func() {
			swapped, err := store.Swap(t.Context(), "run", []byte("state"), nil)
			if err != nil {
				t.Error(err)
			}
			if swapped {
				taken.Add(1)
			}
		})
	}
	all.Wait()
	if taken.Load() != 1 {
		t.Errorf("%d took the key", taken.Load())
	}
	if _, err := first.Get(t.Context(), "run"); !errors.As(err, new(*agent.NotFound)) {
		t.Errorf("the key is still there: %v", err)
	}
}

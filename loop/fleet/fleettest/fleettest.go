// Package fleettest is the conformance suite of the stores and engines of package fleet. The author of a store calls
// [TestStore] in a test, and the author of another engine [Hooks] and [Storm].
//
//	func TestStore(t *testing.T) {
//		fleettest.TestStore(t, func(t *testing.T) fleet.Store { return open(t) })
//	}
package fleettest

import (
	"context"
	"errors"
	"maps"
	"testing"

	"github.com/hookgen/hookgen/loop/fleet"
)

// TestStore checks a store: its three parts, and runs in a [Storm]. open returns an empty store whose claims live for
// some seconds at most, because the tests wait until claims have ended.
func TestStore(t *testing.T, open func(*testing.T) fleet.Store) {
	t.Run("Log", func(t *testing.T) { testLog(t, open(t).Log) })
	t.Run("Queue", func(t *testing.T) { testQueue(t, open(t).Queue) })
	t.Run("Table", func(t *testing.T) { testTable(t, open(t).Table) })
	t.Run("Hooks", func(t *testing.T) { Hooks(t, open(t), nil) })
	t.Run("Storm", func(t *testing.T) { Storm(t, open(t), nil) })
}

// orQueue returns open, or the engine that is the queue of a store.
func orQueue(open Open) Open {
	if open != nil {
		return open
	}
	return func(s fleet.Store, _ *Newer) Engine { return engine{fleet.NewClient(s)} }
}

type engine struct{ *fleet.Client }

func (engine) Work(ctx context.Context, w *fleet.Worker) error { return w.Run(ctx) }

func testLog(t *testing.T, log fleet.Log) {
	ctx := t.Context()
	add := func(run, text string, last uint64) uint64 {
		t.Helper()
		n, err := log.Append(ctx, run, []byte(text), last)
		if err != nil || n <= last {
			t.Fatalf("event %q after %d: %d, %v", text, last, n, err)
		}
		return n
	}
	first := add("a", "1", 0)
	add("b", "other", 0)
	for _, wrong := range []uint64{0, first + 1} {
		if _, err := log.Append(ctx, "a", []byte("x"), wrong); !errors.Is(err, fleet.ErrConflict) {
			t.Errorf("after %d: %v", wrong, err)
		}
	}
	second := add("a", "2", first)
	all, err := log.Read(ctx, "a", 0)
	if err != nil || len(all) != 2 || string(all[0].Event)+string(all[1].Event) != "12" || all[1].Number != second {
		t.Errorf("%v, %v", all, err)
	}
	if rest, err := log.Read(ctx, "a", first); err != nil || len(rest) != 1 {
		t.Errorf("%v, %v", rest, err)
	}
	for run, want := range map[string]uint64{"a": second, "none": 0} {
		if last, err := log.Last(ctx, run); err != nil || last != want {
			t.Errorf("%s: %d, %v", run, last, err)
		}
	}
	runs, err := log.Runs(ctx)
	if err != nil || !maps.Equal(runs, map[string]uint64{"a": 2, "b": 1}) {
		t.Errorf("%v, %v", runs, err)
	}
	if err := log.Await(ctx, "a", first); err != nil {
		t.Error(err)
	}
	heard := make(chan error)
	go func() { heard <- log.Await(ctx, "a", second) }()
	add("a", "3", second)
	if err := <-heard; err != nil {
		t.Error(err)
	}
}

func testQueue(t *testing.T, queue fleet.Queue) {
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	take := func(before fleet.Token) fleet.Delivery {
		t.Helper()
		d, err := queue.Take(ctx)
		if err != nil || d.Run() != "a" {
			t.Fatalf("%v, %v", d, err)
		}
		if now := d.Token(); before != (fleet.Token{}) && (!now.After(before) || before.After(now)) {
			t.Errorf("%+v, then %+v", before, now)
		}
		return d
	}
	has := func(want map[string]bool) {
		t.Helper()
		if got, err := queue.Runs(ctx); err != nil || !maps.Equal(got, want) {
			t.Errorf("the queue has %v, %v, want %v", got, err, want)
		}
	}
	has(map[string]bool{})
	must(queue.Put(ctx, "a"))
	must(queue.Put(ctx, "a"))
	has(map[string]bool{"a": true})
	first := take(fleet.Token{})
	must(queue.Put(ctx, "a")) // a worker holds it
	has(map[string]bool{"a": true})
	must(first.Return(ctx, 0))
	second := take(first.Token())
	third := take(second.Token()) // the claim has ended
	must(third.Renew(ctx))
	must(third.Done(ctx))
	must(queue.Put(ctx, "a"))
	must(take(third.Token()).Done(ctx))
	has(map[string]bool{})
	over, cancel := context.WithCancel(ctx)
	cancel()
	if d, err := queue.Take(over); err == nil {
		t.Errorf("%+v", d)
	}
}

func testTable(t *testing.T, table fleet.Table) {
	ctx, key := t.Context(), "account/a b"
	if _, _, err := table.Get(ctx, key); !errors.Is(err, fleet.ErrNotFound) {
		t.Error(err)
	}
	put := func(text string, last uint64, want error) {
		t.Helper()
		if err := table.Put(ctx, key, []byte(text), last); !errors.Is(err, want) {
			t.Errorf("put %s after revision %d: %v, want %v", text, last, err, want)
		}
	}
	put("1", 0, nil)
	put("2", 0, fleet.ErrConflict)
	value, revision, err := table.Get(ctx, key)
	if err != nil || string(value) != "1" {
		t.Errorf("%s, %v", value, err)
	}
	put("2", revision, nil)
	put("3", revision, fleet.ErrConflict)
}

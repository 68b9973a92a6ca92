package fleet

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop/looptest"
)

func TestAmountsNeverShrink(t *testing.T) {
	for _, c := range []struct{ a, b, sum int }{
		{1, 2, 3}, {5, -1, 5}, {-5, 1, 1}, {math.MaxInt, 1, math.MaxInt}, {0, math.MinInt, 0}, {-1, -1, 0},
	} {
		if got := add(c.a, c.b); got != c.sum {
			t.Errorf("%d and %d are %d, want %d", c.a, c.b, got, c.sum)
		}
	}
}

func TestReservationsFitEachLimit(t *testing.T) {
	b := bank{newMemory(simLifetime).store().Table, agent.SystemClock{}}
	same := []Account{{Name: "x", Limit: Amount{Calls: 5}}, {Name: "x", Limit: Amount{Calls: 1}}, {Name: "y"}}
	for i, want := range []error{nil, ErrSpent} {
		h := hold{ID: string(rune('a' + i)), Amount: Amount{Calls: 1}}
		for range 2 { // the second time, the answer to the first attempt was lost
			if err := b.reserve(t.Context(), same, h); !errors.Is(err, want) {
				t.Errorf("reservation %d: %v", i, err)
			}
		}
	}
	for _, name := range []string{"x", "y"} {
		if balance, _, err := b.balance(t.Context(), name); err != nil || balance.Total().Calls != 1 {
			t.Errorf("%s: %+v, %v", name, balance, err)
		}
	}
}

func TestErrorNamesTheLimit(t *testing.T) {
	b := bank{newMemory(simLifetime).store().Table, agent.SystemClock{}}
	for limit, want := range map[Amount]string{
		{Calls: 1}: "the limit is 1 calls", {Tokens: 3}: "the limit is 3 tokens",
		{Calls: 9, Tokens: 3}: "the limit is 9 calls and 3 tokens",
	} {
		t.Run(want, func(t *testing.T) {
			err := b.reserve(t.Context(), []Account{{"x", limit}}, hold{"a", Amount{2, 5}})
			if err == nil || !strings.HasSuffix(err.Error(), "needs 5 tokens; "+want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestStrangeAccountEndsItsRuns(t *testing.T) {
	store := newMemory(simLifetime).store()
	if err := store.Table.Put(t.Context(), accountKey("x"), []byte("hello"), 0); err != nil {
		t.Fatal(err)
	}
	client := NewClient(store)
	if err := client.Submit(t.Context(), task("a")); err != nil {
		t.Fatal(err)
	}
	accounts := func(Task) []Account { return []Account{{Name: "x"}} }
	w := &Worker{Store: store, Logger: quiet, Agents: clerk(looptest.NewScript()), Accounts: accounts}
	work(t, w, func(ctx context.Context) {
		if r, err := client.Wait(ctx, "a"); err != nil || r.State != Failed || !strings.Contains(r.Err, "another program") {
			t.Errorf("%+v, %v", r, err)
		}
	})
}

package memorytest

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hookgen/hookgen/builtin/memory"
	"github.com/hookgen/hookgen/builtin/session"
	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/generated/agent"
)

func TestStoresOfMemoryConform(t *testing.T) {
	for name, open := range map[string]func() *memory.Facts{
		"here":      func() *memory.Facts { return new(memory.Facts) },
		"in a Dir":  func() *memory.Facts { return &memory.Facts{In: session.Dir{Path: t.TempDir()}} },
		"embedding": func() *memory.Facts { return &memory.Facts{Embedder: initials{}} },
	} {
		t.Run(name, func(t *testing.T) {
			Check(t, func(_ *testing.T, clock agent.Clock) memory.Store {
				m := open()
				m.Clock = clock
				return m
			})
		})
	}
}

// initials is an embedder that knows nothing of most texts.
type initials struct{}

func (initials) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	return make([][]float32, len(texts)), ctx.Err()
}

// A failedTest collects the errors of a check.
type failedTest struct {
	testing.TB
	mu    sync.Mutex
	texts []string
}

func (f *failedTest) Errorf(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.texts = append(f.texts, fmt.Sprintf(format, args...))
}

func (f *failedTest) Fatalf(format string, args ...any) {
	f.Errorf(format, args...)
	runtime.Goexit()
}

// Broken stores, each with a method that breaks the contract.
type (
	deletes   struct{ memory.Store } // Forget removes the fact from the history
	unordered struct{ memory.Store } // lists the oldest first
	scopeless struct{ memory.Store } // ignores scopes
	keyless   struct{ memory.Store } // accepts empty keys
	endless   struct{ memory.Store } // ignores the context
	wasteful  struct{ memory.Store } // an equal value is a new fact
	silent    struct{ memory.Store } // does not say how many facts it leaves out
	literal   struct{ memory.Store } // ignores the text of a query
)

func (s deletes) History(context.Context, string, string) ([]memory.Fact, error) { return nil, nil }

func (s unordered) Search(ctx context.Context, q memory.Query) ([]memory.Fact, int, error) {
	facts, more, err := s.Store.Search(ctx, q)
	slices.Reverse(facts)
	return facts, more, err
}

func (s scopeless) Forget(ctx context.Context, key, _ string) (bool, error) {
	return s.Store.Forget(ctx, key, "here")
}

func (s keyless) Put(ctx context.Context, facts ...memory.Fact) error {
	for i := range facts {
		facts[i].Key += " "
	}
	return s.Store.Put(ctx, facts...)
}

func (s endless) Put(ctx context.Context, facts ...memory.Fact) error {
	return s.Store.Put(context.WithoutCancel(ctx), facts...)
}

func (s wasteful) Put(ctx context.Context, facts ...memory.Fact) error {
	for _, f := range facts {
		_, _ = s.Forget(ctx, f.Key, f.Scope)
	}
	return s.Store.Put(ctx, facts...)
}

func (s silent) Search(ctx context.Context, q memory.Query) ([]memory.Fact, int, error) {
	facts, _, err := s.Store.Search(ctx, q)
	return facts, 0, err
}

func (s literal) Search(ctx context.Context, q memory.Query) ([]memory.Fact, int, error) {
	q.Text = ""
	return s.Store.Search(ctx, q)
}

func TestCheckFindsBrokenStores(t *testing.T) {
	for _, c := range []struct {
		check string
		store func(memory.Store) memory.Store
		want  string
	}{
		{"forgotten facts stay in the history", func(s memory.Store) memory.Store { return deletes{s} },
			"history k in=here = v:0-1@0\n"},
		{"facts are listed newest first", func(s memory.Store) memory.Store { return unordered{s} },
			`search = d a c b` + "\n"},
		{"forgotten facts stay in the history", func(s memory.Store) memory.Store { return scopeless{s} },
			"forget k = false\n"},
		{"empty keys are errors", func(s memory.Store) memory.Store { return keyless{s} }, "Put without a key"},
		{"done contexts have no effect", func(s memory.Store) memory.Store { return endless{s} },
			"Put with a done context"},
		{"equal values only update the time", func(s memory.Store) memory.Store { return wasteful{s} },
			"history k = v:0-@2(a)\n"},
		{"new values replace old facts", func(s memory.Store) memory.Store { return wasteful{s} },
			"history city = Oslo:0-1@0(user) Rome:1-@1<Oslo\n"},
		{"the last 500 episodes are kept", func(s memory.Store) memory.Store { return unordered{s} }, "the last 500"},
		{"what a search leaves out is counted", func(s memory.Store) memory.Store { return silent{s} },
			"search limit=2 = tea tea +1\n"},
		{"facts are found by their words", func(s memory.Store) memory.Store { return literal{s} }, "search text=tea =\n"},
		{"owners are apart", func(memory.Store) memory.Store { return &memory.Facts{Share: share.User} },
			"search = 0\n"},
		{"owners see the common memory", func(memory.Store) memory.Store { return &memory.Facts{Share: share.Everyone} },
			"forget common = false\n"},
	} {
		t.Run(c.want, func(t *testing.T) {
			clock := &clock{now: begin}
			f := &failedTest{TB: t}
			var done sync.WaitGroup
			done.Go(func() {
				for _, check := range checks() {
					if check.name == c.check {
						check.check(suite{f, c.store(&memory.Facts{Clock: clock}), clock, t.Context()})
					}
				}
			})
			done.Wait()
			if got := strings.Join(f.texts, "\n"); !strings.Contains(got, c.want) {
				t.Errorf("found %q, want %q", got, c.want)
			}
		})
	}
}

package memorytest

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/hookgen/hookgen/builtin/memory"
	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/generated/agent"
)

func TestStoresOfMemoryConform(t *testing.T) {
	t.Run("memory.Map", func(t *testing.T) {
		Check(t, func(_ *testing.T, clock agent.Clock) memory.Store { return &memory.Map{Clock: clock} })
	})
	t.Run("memory.File", func(t *testing.T) {
		Check(t, func(t *testing.T, clock agent.Clock) memory.Store {
			m, err := memory.OpenFile(filepath.Join(t.TempDir(), "memory.json"))
			if err != nil {
				t.Fatal(err)
			}
			m.Clock = clock
			return m
		})
	})
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
	sharing   struct{ memory.Store } // returns one payload to all
)

func (s deletes) History(context.Context, string, string) ([]memory.Fact, error) { return nil, nil }

func (s unordered) Facts(ctx context.Context, scope string) ([]memory.Fact, error) {
	facts, err := s.Store.Facts(ctx, scope)
	for i, j := 0, len(facts)-1; i < j; i, j = i+1, j-1 {
		facts[i], facts[j] = facts[j], facts[i]
	}
	return facts, err
}

func (s scopeless) Forget(ctx context.Context, key, _ string) (bool, error) {
	return s.Store.Forget(ctx, key, "here")
}

func (s keyless) SetPreference(ctx context.Context, key, value string) error {
	return s.Store.SetPreference(ctx, key+" ", value)
}

func (s endless) SetPreference(ctx context.Context, key, value string) error {
	return s.Store.SetPreference(context.WithoutCancel(ctx), key, value)
}

func (s wasteful) AddFact(ctx context.Context, f memory.Fact) (memory.Fact, error) {
	_, _ = s.Forget(ctx, f.Key, f.Scope)
	return s.Store.AddFact(ctx, f)
}

func (s sharing) AddEpisode(ctx context.Context, e memory.Episode) error {
	e.Kind, e.Payload = "all", nil
	return s.Store.AddEpisode(ctx, e)
}

func TestCheckFindsBrokenStores(t *testing.T) {
	for _, c := range []struct {
		check string
		store func(memory.Store) memory.Store
		want  string
	}{
		{"forgotten facts stay in the history", func(s memory.Store) memory.Store { return deletes{s} },
			"want the closed fact"},
		{"facts are listed newest first", func(s memory.Store) memory.Store { return unordered{s} }, `want "d a c b"`},
		{"forgotten facts stay in the history", func(s memory.Store) memory.Store { return scopeless{s} }, "another scope"},
		{"empty keys are errors", func(s memory.Store) memory.Store { return keyless{s} }, "SetPreference without a key"},
		{"done contexts have no effect", func(s memory.Store) memory.Store { return endless{s} },
			"SetPreference with a cancelled"},
		{"equal values only update the time", func(s memory.Store) memory.Store { return wasteful{s} }, "want one fact"},
		{"new values close old facts", func(s memory.Store) memory.Store { return wasteful{s} }, "that supersedes"},
		{"payloads are JSON", func(s memory.Store) memory.Store { return sharing{s} }, "came back as"},
		{"the last 500 episodes are kept", func(s memory.Store) memory.Store { return sharing{s} }, "Recent of a kind"},
		{"owners are apart", func(memory.Store) memory.Store { return &memory.Map{Share: share.User} }, "has the facts"},
		{"owners see the common memory", func(memory.Store) memory.Store { return &memory.Map{Share: share.Everyone} },
			"Forget of a common fact by an owner: true"},
	} {
		t.Run(c.want, func(t *testing.T) {
			clock := &clock{now: begin}
			f := &failedTest{TB: t}
			var done sync.WaitGroup
			done.Go(func() {
				for _, check := range checks {
					if check.name == c.check {
						check.check(f, c.store(&memory.Map{Clock: clock}), clock)
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

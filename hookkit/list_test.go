package hookkit_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/hookgen/hookgen/hookkit"
)

// explained returns the text of Explain, without sites.
func explained(t *testing.T, h *hooks) string {
	t.Helper()
	var b strings.Builder
	if err := h.Explain(&b); err != nil {
		t.Fatal(err)
	}
	return withoutSites(b.String())
}

func TestExplainShowsEveryHookWithReasons(t *testing.T) {
	var h hooks
	plain := h.First.Add(continues, hookkit.Named("plain"))
	gone := h.First.Add(continues, hookkit.Named("gone"))
	h.First.Add(
		continues,
		hookkit.Named("guard"),
		hookkit.Priority(hookkit.Safety),
		hookkit.Timeout(1500*time.Millisecond),
		hookkit.FailClosed(),
	)
	h.First.Add(
		continues,
		hookkit.Named("odd"),
		hookkit.Priority(7),
		hookkit.After(plain),
		hookkit.Before(gone),
	)
	h.First.ObserveFunc(ignore, hookkit.Named("audit"), hookkit.Async(64))
	all := h.ObserveAny(ignoreAny, hookkit.Named("everything"), hookkit.Priority(hookkit.Detection))
	gone.Remove()
	inner := h.Layer("tenant")
	inner.First.Add(
		continues,
		hookkit.Named("umbrella"),
		hookkit.Priority(hookkit.InputShape),
	)
	inner.Last.Add(lastContinues, hookkit.Named("a"), hookkit.Priority(hookkit.Mutation))
	inner.Last.Add(lastContinues, hookkit.Named("b"))
	nameless := inner.Layer("")
	nameless.Last.Add(lastContinues, hookkit.Named("c"))

	want := `First(int): Stop, FailOpen
   1. guard  priority 100 (Safety), layer 0, timeout 1.5s, fail closed, from SITE
   2. plain  priority 0 (default), layer 0, from SITE
   3. odd  priority 7, layer 0, after plain, from SITE
   4. umbrella  priority 80 (InputShape), layer 1 (tenant), from SITE
   o  everything  priority 60 (Detection), layer 0, from SITE
   o  audit  priority 0 (default), layer 0, async, queue 64, from SITE
Second(int): Stop, FailClosed
   o  everything  priority 60 (Detection), layer 0, from SITE
Last(int): Reverse, Stop, FailOpen
   1. c  priority 0 (default), layer 2, from SITE
   2. b  priority 0 (default), layer 1 (tenant), from SITE
   3. a  priority 40 (Mutation), layer 1 (tenant), from SITE
   o  everything  priority 60 (Detection), layer 0, from SITE
Shape(Letter): Replace, Edit[Text], FailOpen
`
	if got := explained(t, nameless); !strings.HasPrefix(got, want) {
		t.Errorf("got\n%s\nwant at first\n%s", got, want)
	}
	all.Remove()
	if got := explained(t, nameless); !strings.HasSuffix(got, "Watch(int): observe\n      nothing\n") {
		t.Errorf("got\n%s", got)
	}
}

func TestExplainShowsPointsWithoutHooks(t *testing.T) {
	want := `First(int): Stop, FailOpen
      nothing
Second(int): Stop, FailClosed
      nothing
Last(int): Reverse, Stop, FailOpen
      nothing
Shape(Letter): Replace, Edit[Text], FailOpen
      nothing
Poll(int): Vote, Deny, Allow, FailClosed
      nothing
PollOpen(int): Vote, Deny, Allow, FailOpen
      nothing
Gather(int): Collect[string]
      nothing
GatherClosed(int): Collect[string], FailClosed
      nothing
Review(Letter): Replace, Stop, Coded, Numbered, Collect[string], FailOpen
      nothing
Verify(int): Check
      nothing
Wrap(int): Around[string]
      nothing
Watch(int): observe
      nothing
`
	if got := explained(t, new(hooks)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestExplainReturnsTheErrorOfTheWriter(t *testing.T) {
	broken := errors.New("broken pipe")
	if err := new(hooks).Explain(failingWriter{broken}); !errors.Is(err, broken) {
		t.Errorf("it returned %v", err)
	}
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }

func TestListShowsTheOptions(t *testing.T) {
	var h hooks
	reg := h.First.Add(continues, hookkit.Priority(7), hookkit.Named("a"), hookkit.Timeout(1), hookkit.FailClosed())
	want := hookkit.Info{Name: "a", Site: reg.Site(), Priority: 7, Timeout: 1, FailClosed: true,
		Why: "priority 7, layer 0, timeout 1ns, fail closed, from " + reg.Site()}
	if got := h.First.List(); len(got) != 1 || !reflect.DeepEqual(got[0], want) {
		t.Errorf("hook: got %+v, want %+v", got, want)
	}
	reg = h.First.ObserveFunc(ignore, hookkit.Async(1), hookkit.Named("b"))
	want = hookkit.Info{
		Name:  "b",
		Site:  reg.Site(),
		Async: 1,
		Why:   "priority 0 (default), layer 0, async, queue 1, from " + reg.Site(),
	}
	if got := h.Points()[0].Observers(); len(got) != 1 || !reflect.DeepEqual(got[0], want) {
		t.Errorf("observer: got %+v, want %+v", got, want)
	}
}

// At a point without a policy no failure is an error of the fire, or every one is.
func TestListShowsWhichFailuresEndFires(t *testing.T) {
	var h hooks
	want := map[string]bool{"Second": true, "Poll": true, "GatherClosed": true, "Verify": true, "Wrap": true}
	for _, p := range h.Points() {
		p.AddAny(func(ctx, hookkit.AnyRun, hookkit.AnyCall) (hookkit.AnyReply, error) { return hookkit.AnyReply{}, nil })
		if got := p.Hooks()[0].FailClosed; got != want[p.Name] {
			t.Errorf("%s: FailClosed is %v", p.Name, got)
		}
	}
}

func TestListNamesTheLayers(t *testing.T) {
	var h hooks
	tenant := h.Layer("tenant")
	nameless := tenant.Layer("")
	h.First.Add(continues)
	tenant.First.Add(continues)
	nameless.First.Add(continues)
	nameless.First.ObserveFunc(ignore)
	tenant.First.ObserveFunc(ignore)
	for i, want := range []struct {
		layer int
		name  string
	}{{0, ""}, {1, "tenant"}, {2, ""}} {
		if got := nameless.First.List()[i]; got.Layer != want.layer || got.LayerName != want.name {
			t.Errorf("hook %d is in layer %d %q, want %d %q", i, got.Layer, got.LayerName, want.layer, want.name)
		}
	}
	for i, want := range []string{"tenant", ""} {
		if got := nameless.Points()[0].Observers()[i]; got.Layer != i+1 || got.LayerName != want {
			t.Errorf("observer %d is in layer %d %q, want %d %q", i, got.Layer, got.LayerName, i+1, want)
		}
	}
}

func TestEmptyRegistrationsAreHarmless(t *testing.T) {
	for name, r := range map[string]*hookkit.Registration{"nil": nil, "zero": new(hookkit.Registration)} {
		t.Run(name, func(t *testing.T) {
			if r.Name() != "" || r.Site() != "" || r.Remove() || r.Drain(t.Context()) != nil || r.Dropped() != 0 {
				t.Error("a method does something")
			}
		})
	}
}

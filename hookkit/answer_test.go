package hookkit_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/internal/testdata/testpoints"
)

type wrapFunc = testpoints.WrapFunc

// wrapPasses is a hook that passes the answer on.
func wrapPasses(c ctx, _ *run, n int, next testpoints.WrapNext) (hookkit.Answer[string], error) {
	return next.Call(c, n)
}

func TestAnswerHasItsValue(t *testing.T) {
	if got := hookkit.Answered("x").Value(); got != "x" {
		t.Errorf("the value is %q", got)
	}
	if got := (hookkit.Answer[string]{}).Value(); got != "" {
		t.Errorf("the value of the zero Answer is %q", got)
	}
}

func TestAroundHooksWrapTheAct(t *testing.T) {
	var kept testpoints.WrapNext
	for name, c := range map[string]struct {
		hooks  []wrapFunc
		result string
		acted  int
		err    error
		by     string // the name of the hook, which is its index
	}{
		"the first is the outermost": {[]wrapFunc{adds("a"), adds("b")}, "act(5)ba", 1, nil, "0"},
		"an answer replaces the act": {[]wrapFunc{wrapPasses, answers("x"), wrapPasses}, "x", 0, nil, "1"},
		"the act answers":            {[]wrapFunc{wrapPasses, wrapPasses}, "act(5)", 1, nil, ""},
		"next may change the payload": {
			[]wrapFunc{func(c ctx, _ *run, n int, next testpoints.WrapNext) (hookkit.Answer[string], error) {
				return next.Call(c, n+1)
			}},
			"act(6)",
			1,
			nil,
			"",
		},
		"next may be called twice": {
			[]wrapFunc{func(c ctx, _ *run, n int, next testpoints.WrapNext) (hookkit.Answer[string], error) {
				_, _ = next.Call(c, n)
				return next.Call(c, n)
			}, wrapPasses},
			"act(5)",
			2,
			nil,
			"",
		},
		"an error passes on":     {[]wrapFunc{wrapPasses, fails(errBad)}, "", 0, errBad, "1"},
		"no answer is a failure": {[]wrapFunc{wrapPasses, fails(nil)}, "", 0, hookkit.ErrNoAnswer, "1"},
		"an outer hook may answer instead": {
			[]wrapFunc{func(c ctx, _ *run, n int, next testpoints.WrapNext) (hookkit.Answer[string], error) {
				if a, err := next.Call(c, n); err == nil {
					return a, nil
				}
				return hookkit.Answered("instead"), nil
			}, fails(errBad)},
			"instead",
			0,
			nil,
			"0",
		},
		"a kept next is over": {
			[]wrapFunc{func(c ctx, _ *run, n int, next testpoints.WrapNext) (hookkit.Answer[string], error) {
				kept = next
				return next.Call(c, n)
			}},
			"act(5)",
			1,
			nil,
			"",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var h hooks
			for i, f := range c.hooks {
				h.Wrap.Add(f, hookkit.Named(fmt.Sprint(i)))
			}
			acted := 0
			result, by, err := h.Wrap.FireBy(t.Context(), nil, 5, func(_ ctx, n int) (string, error) {
				acted++
				return fmt.Sprintf("act(%d)", n), nil
			})
			if result != c.result || acted != c.acted || !errors.Is(err, c.err) || by.Hook != c.by {
				t.Errorf("FireBy returned %q, %+v, %v; the act ran %d times", result, by, err, acted)
			}
		})
	}
	if _, err := kept.Call(t.Context(), 0); err != hookkit.ErrNextOver {
		t.Errorf("a kept next returned %v", err)
	}
	if _, err := (testpoints.WrapNext{}).Call(t.Context(), 0); err != hookkit.ErrNextOver {
		t.Errorf("a zero next returned %v", err)
	}
}

// adds appends a text to the answer of next.
func adds(text string) wrapFunc {
	return func(c ctx, _ *run, n int, next testpoints.WrapNext) (hookkit.Answer[string], error) {
		a, err := next.Call(c, n)
		return hookkit.Answered(a.Value() + text), err
	}
}

func answers(text string) wrapFunc {
	return func(ctx, *run, int, testpoints.WrapNext) (hookkit.Answer[string], error) {
		return hookkit.Answered(text), nil
	}
}

func fails(err error) wrapFunc {
	return func(ctx, *run, int, testpoints.WrapNext) (hookkit.Answer[string], error) {
		return hookkit.Answer[string]{}, err
	}
}

// An around hook that returns an error of an inner hook or of the act only passes it on, even if it adds words.
func TestErrorsAtAroundPointsNameTheirMaker(t *testing.T) {
	errAct := errors.New("act")
	wrapped := func(c ctx, _ *run, n int, next testpoints.WrapNext) (hookkit.Answer[string], error) {
		a, err := next.Call(c, n)
		if err != nil {
			err = fmt.Errorf("wrapped: %w", err)
		}
		return a, err
	}
	hides := func(c ctx, _ *run, n int, next testpoints.WrapNext) (hookkit.Answer[string], error) {
		_, err := next.Call(c, n)
		return hookkit.Answer[string]{}, fmt.Errorf("hidden: %v", err)
	}
	retries := func(c ctx, _ *run, n int, next testpoints.WrapNext) (a hookkit.Answer[string], err error) {
		for range 1000 {
			a, err = next.Call(c, n)
		}
		return a, err
	}
	fresh := func(ctx, *run, int, testpoints.WrapNext) (hookkit.Answer[string], error) {
		return hookkit.Answer[string]{}, errors.New("fresh")
	}
	//hookvet:ignore noanswer this test is about the failure
	forgets := func(ctx, *run, int, testpoints.WrapNext) (a hookkit.Answer[string], err error) { return }
	for name, c := range map[string]struct {
		hooks []wrapFunc
		act   error
		want  string // the number of the hook
	}{
		"the act's":                           {[]wrapFunc{wrapPasses, wrapPasses}, errAct, ""},
		"the act's, wrapped":                  {[]wrapFunc{wrapped, wrapPasses, wrapped}, errAct, ""},
		"the act's, hidden":                   {[]wrapFunc{wrapPasses, hides, wrapped}, errAct, "1"},
		"the act's, after many calls":         {[]wrapFunc{retries}, errAct, ""},
		"an inner hook's":                     {[]wrapFunc{wrapPasses, fails(errBad)}, nil, "1"},
		"an inner hook's, wrapped":            {[]wrapFunc{wrapped, fails(errBad)}, nil, "1"},
		"an inner hook's, hidden":             {[]wrapFunc{hides, fails(errBad)}, nil, "0"},
		"the last of an inner hook's":         {[]wrapFunc{retries, fresh}, nil, "1"},
		"an inner hook's that did not answer": {[]wrapFunc{wrapped, wrapPasses, forgets}, nil, "2"},
		"the same as the act's":               {[]wrapFunc{fails(errAct), wrapPasses}, errAct, "0"},
	} {
		t.Run(name, func(t *testing.T) {
			var h hooks
			for i, f := range c.hooks {
				h.Wrap.Add(f, hookkit.Named(fmt.Sprint(i)))
			}
			_, by, err := h.Wrap.FireBy(t.Context(), nil, 5, func(ctx, int) (string, error) { return "", c.act })
			if by.Hook != c.want || by.Decision != "Error" || err == nil {
				t.Errorf("FireBy returned %+v, %v, want hook %q", by, err, c.want)
			}
		})
	}
}

type hollow struct{ text string }

func (h *hollow) Error() string { return h.text }

// isHollow reports whether err is the failure of a hook that returned a typed nil.
func isHollow(err error) bool {
	f, ok := err.(*hookkit.Failure)
	return ok && f.Cause == error((*hollow)(nil))
}

// A hook that returns a typed nil has failed, although the methods of the error panic.
func TestTypedNilErrorOfAnAroundHook(t *testing.T) {
	for _, observed := range []bool{false, true} {
		var h hooks
		h.Wrap.AddFunc(func(ctx, *run, int, testpoints.WrapNext) (hookkit.Answer[string], error) {
			return hookkit.Answer[string]{}, (*hollow)(nil)
		})
		if observed {
			h.ObserveAny(watcher(func(ctx, *run, hookkit.AnyFired) {}))
		}
		if _, err := h.Wrap.Fire(t.Context(), nil, 0, nil); !isHollow(err) {
			t.Errorf("Fire returned %T", err)
		}
		_, by, err := h.Wrap.FireBy(t.Context(), nil, 0, nil)
		if !isHollow(err) || !strings.HasPrefix(by.Reason, "*hookkit_test.hollow, whose Error panicked: ") {
			t.Errorf("FireBy returned %T and %v", err, by)
		}
	}
}

// A cache keeps the answer of a fire and returns it in later ones.
func TestKeptAnswerBelongsToItsHook(t *testing.T) {
	for name, traced := range map[string]bool{"alone": false, "with a tracer": true} {
		t.Run(name, func(t *testing.T) {
			var h hooks
			var calls hookkit.TraceRecorder
			if traced {
				h.Trace(&calls)
			}
			var kept hookkit.Answer[string]
			cached := false
			cache := h.Wrap.AddFunc(func(c ctx, _ *run, n int, next testpoints.WrapNext) (hookkit.Answer[string], error) {
				if cached {
					return kept, nil
				}
				var err error
				kept, err = next.Call(c, n)
				cached = err == nil
				return kept, err
			}, hookkit.Named("cache"))
			inner := h.Wrap.AddFunc(answers("x"), hookkit.Named("inner"))
			fire := func() hookkit.By {
				t.Helper()
				got, by, err := h.Wrap.FireBy(t.Context(), testpoints.NewRun(""), 1, acts)
				if got != "x" || err != nil {
					t.Fatalf("got %q, %v", got, err)
				}
				return by
			}
			if by, want := fire(), (hookkit.By{Hook: "inner", Site: inner.Site(), Decision: "Answered"}); by != want {
				t.Errorf("first %+v, want %+v", by, want)
			}
			inner.Remove()
			for range 2 {
				if by, want := fire(), (hookkit.By{Hook: "cache", Site: cache.Site(), Decision: "Answered"}); by != want {
					t.Errorf("then %+v, want %+v", by, want)
				}
			}
			if traced {
				var decisions []string
				for _, e := range calls.Events() {
					if e.Kind == hookkit.EventHook {
						decisions = append(decisions, e.Hook+" "+e.Decision)
					}
				}
				// The event of the hook shows only an answer that it has made in this call.
				want := []string{"inner Answered", "cache ", "cache ", "cache "}
				if !slices.Equal(decisions, want) {
					t.Errorf("traced %q, want %q", decisions, want)
				}
			}
		})
	}
}

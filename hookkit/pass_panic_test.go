package hookkit_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/internal/testdata/testpoints"
)

var errAbort = errors.New("abort")

func TestPassPanicRaisesThePanicOfTheActAgain(t *testing.T) {
	hookkit.PassPanic(errAbort)
	type hook = func(context.Context, *run, int, testpoints.WrapNext) (hookkit.Answer[string], error)
	passing := func(ctx context.Context, _ *run, n int, next testpoints.WrapNext) (hookkit.Answer[string], error) {
		return next.Call(ctx, n)
	}
	wrapping := func(ctx context.Context, _ *run, n int, next testpoints.WrapNext) (hookkit.Answer[string], error) {
		a, err := next.Call(ctx, n)
		if err != nil {
			err = fmt.Errorf("wrapped: %w", err)
		}
		return a, err
	}
	answering := func(ctx context.Context, _ *run, n int, next testpoints.WrapNext) (hookkit.Answer[string], error) {
		_, _ = next.Call(ctx, n)
		return hookkit.Answered("instead"), nil
	}
	other := errors.New("another panic")
	for name, c := range map[string]struct {
		hooks  []hook
		opts   []hookkit.HookOption
		value  any
		raised bool
	}{
		"without hooks":              {value: errAbort, raised: true},
		"inside a hook":              {hooks: []hook{passing}, value: errAbort, raised: true},
		"in an error around it":      {hooks: []hook{passing, wrapping}, value: errAbort, raised: true},
		"in the goroutine of a hook": {[]hook{passing}, []hookkit.HookOption{hookkit.Timeout(time.Hour)}, errAbort, true},
		"if a hook answers":          {hooks: []hook{answering}, value: errAbort},
		"of another error":           {hooks: []hook{passing}, value: other},
		"of another value":           {hooks: []hook{passing}, value: []int{1}},
		"of another value, no hooks": {value: "x"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, watched := range []bool{false, true} {
				var h hooks
				for _, f := range c.hooks {
					h.Wrap.AddFunc(f, c.opts...)
				}
				observed := false
				if watched {
					h.Wrap.ObserveFunc(func(_ ctx, _ *run, f testpoints.WrapFired[int]) {
						var failure *hookkit.Failure
						observed = !c.raised || errors.As(f.Err, &failure) && errors.Is(f.Err, errAbort)
					})
				}
				var raised any
				func() {
					defer func() { raised = recover() }()
					_, _ = h.Wrap.Fire(t.Context(), nil, 1, func(context.Context, int) (string, error) { panic(c.value) })
				}()
				if want := map[bool]any{true: errAbort, false: nil}[c.raised]; raised != want || observed != watched {
					t.Errorf("Fire panicked with %v, want %v; observed: %v", raised, want, observed)
				}
			}
		})
	}
	t.Run("of a hook is a failure", func(t *testing.T) {
		var h hooks
		h.Wrap.AddFunc(func(context.Context, *run, int, testpoints.WrapNext) (hookkit.Answer[string], error) {
			panic(errAbort)
		})
		_, err := h.Wrap.Fire(t.Context(), nil, 1, nil)
		if !errors.Is(err, errAbort) {
			t.Errorf("Fire returned %v", err)
		}
	})
	t.Run("is refused for nil", func(t *testing.T) {
		text := panicText(func() { hookkit.PassPanic(nil) })
		if !strings.Contains(text, "PassPanic at hookkit/pass_panic_test.go:") {
			t.Errorf("it panicked with %q", text)
		}
	})
}

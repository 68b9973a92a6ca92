package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/tests/fixture"
	"github.com/hookgen/hookgen/tests/points"
)

// next returns the place of the line below the call.
func next() string {
	_, _, line, _ := runtime.Caller(1)
	return fmt.Sprintf("tests/runtime/place_test.go:%d", line+1)
}

// crashes do not return. Each stores its place first.
var crashes = map[string]func(place *string){
	"text": func(place *string) {
		*place = next()
		panic("text")
	},
	"error": func(place *string) {
		*place = next()
		panic(errFailing)
	},
	"nil": func(place *string) {
		*place = next()
		panic(nil)
	},
	"nil map": func(place *string) {
		var m map[string]int
		*place = next()
		m["x"] = 1
	},
	"index": func(place *string) {
		var s []int
		*place = next()
		s[len(*place)]++
	},
	"slice bounds": func(place *string) {
		*place = next()
		_ = (*place)[len(*place)+1:]
	},
	"nil pointer": func(place *string) {
		var run *fixture.Item
		*place = next()
		run.ID++
	},
	"division": func(place *string) {
		var zero int
		*place = next()
		*place = fmt.Sprint(len(*place) / zero)
	},
	"type assertion": func(place *string) {
		var v any = place
		*place = next()
		_ = v.(error)
	},
	"closed channel": func(place *string) {
		c := make(chan int)
		close(c)
		*place = next()
		close(c)
	},
	"standard library": func(place *string) {
		*place = next()
		_ = strings.Repeat("x", -len(*place))
	},
	"callback of the standard library": func(place *string) {
		slices.SortFunc([]int{2, 1}, func(int, int) int {
			*place = next()
			panic("callback")
		})
	},
	"misuse of hookkit": func(place *string) {
		*place = next()
		hookkit.Timeout(0)
	},
	"deep": func(place *string) {
		var dig func(int)
		dig = func(n int) {
			if n > 0 {
				dig(n - 1)
			}
			*place = next()
			panic("deep")
		}
		dig(300)
	},
	"deferred function": func(place *string) {
		defer func() {
			*place = next()
			panic("deferred")
		}()
	},
	"raised again": func(place *string) {
		var first string
		defer func() {
			r := recover()
			*place = first + ", again at " + next()
			panic(r)
		}()
		first = next()
		panic("raised")
	},
	"recovered before": func(place *string) {
		func() {
			defer func() { _ = recover() }()
			panic("recovered")
		}()
		*place = next()
		panic("second")
	},
	"Goexit": func(place *string) {
		*place = next()
		runtime.Goexit()
	},
}

// Failures name the line that panicked. So do the log, observers and tracers.
func TestFailuresNameThePlaceOfThePanic(t *testing.T) {
	for name, crash := range crashes {
		for _, timeout := range []bool{false, true} {
			atPoints(t, func(*points.Point) bool { return true }, func(t *testing.T, p *points.Point, watched bool) {
				log := captureLog(t)
				synctest.Test(t, func(t *testing.T) {
					var h fixture.Hooks
					var seen []error
					if watched {
						p.Observe(&h, func(f points.Fired) {
							for _, failure := range f.Failures {
								seen = append(seen, failure)
							}
						})
						h.Trace(tracerFunc(func(_ context.Context, e hookkit.Event) {
							if e.Kind == hookkit.EventHook {
								seen = append(seen, e.Failure)
							}
						}))
					}
					var place string
					var opts []hookkit.GateOption
					if timeout {
						opts = append(opts, hookkit.Timeout(time.Second))
					}
					p.Add(&h, func(points.Call) points.Reply { crash(&place); return points.Reply{} }, opts...)
					var err error
					var fire sync.WaitGroup
					fire.Go(func() { err = p.Fire(t.Context(), &h, newRun(), fixture.Item{}, points.Yields).Err })
					fire.Wait()
					if err == nil {
						if text := log.String(); !strings.Contains(text, "place="+place) &&
							!strings.Contains(text, `place="`+place+`"`) {
							t.Errorf("%s: the log is %s, want the place %s", name, text, place)
						}
					} else {
						seen = append(seen, err)
					}
					for _, err := range seen {
						var f *hookkit.Failure
						if !errors.As(err, &f) || f.Place != place || !strings.Contains(err.Error(), f.Site+") at "+place+": ") {
							t.Errorf("%s: the failure is %v, want the place %s", name, err, place)
						}
					}
					if watched && len(seen) < 2 {
						t.Errorf("%s: observers and tracers have seen %v", name, seen)
					}
				})
			})
		}
	}
}

func TestOtherFailuresNameThePlaceToo(t *testing.T) {
	for name, crash := range crashes {
		for who, add := range map[string]func(*fixture.Hooks, *string) points.Act{
			"observer": func(h *fixture.Hooks, place *string) points.Act {
				points.Named("Wrap").Observe(h, func(points.Fired) { crash(place) })
				return points.Yields
			},
			"tracer": func(h *fixture.Hooks, place *string) points.Act {
				h.Trace(tracerFunc(func(context.Context, hookkit.Event) { crash(place) }))
				return points.Yields
			},
			"act": func(_ *fixture.Hooks, place *string) points.Act {
				return func(context.Context, fixture.Item) (fixture.Result, error) {
					crash(place)
					return fixture.Result{}, nil
				}
			},
			"act inside a hook": func(h *fixture.Hooks, place *string) points.Act {
				points.Named("Wrap").Add(h, points.Continue)
				return func(context.Context, fixture.Item) (fixture.Result, error) {
					crash(place)
					return fixture.Result{}, nil
				}
			},
			"hook of a fire inside a panic": func(h *fixture.Hooks, place *string) points.Act {
				points.Named("Wrap").Add(h, func(points.Call) points.Reply { crash(place); return points.Reply{} })
				return points.Yields
			},
		} {
			t.Run(who+", "+name, func(t *testing.T) {
				var h fixture.Hooks
				var all []error
				h.HandleFailures(func(_ context.Context, f *hookkit.Failure) { all = append(all, f) })
				var place string
				act := add(&h, &place)
				var fire sync.WaitGroup
				fire.Go(func() {
					defer func() { _ = recover() }()
					defer func() {
						err := points.Named("Wrap").Fire(t.Context(), &h, newRun(), fixture.Item{}, act).Err
						all = append(all, err)
					}()
					panic("an outer panic")
				})
				fire.Wait()
				all = slices.DeleteFunc(all, func(err error) bool { return err == nil })
				if len(all) == 0 {
					t.Fatal("nothing failed")
				}
				for _, err := range all {
					if !strings.Contains(err.Error(), " at "+place+": ") {
						t.Errorf("the failure is %v, want the place %s", err, place)
					}
				}
			})
		}
	}
}

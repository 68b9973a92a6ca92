package runtime_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/tests/fixture"
	"github.com/hookgen/hookgen/tests/points"
)

func TestLateAnswersAreTimeouts(t *testing.T) {
	for range 200 { // the answer and the timer are ready at the same time
		synctest.Test(t, func(t *testing.T) {
			var h fixture.Hooks
			h.PollClosed.AddFunc(func(ctx context.Context, _ *fixture.Run, _ fixture.Item) (fixture.PollClosedOutcome, error) {
				<-ctx.Done()
				return fixture.Allow{}, nil
			}, hookkit.Timeout(time.Second))
			exit, err := h.PollClosed.Fire(t.Context(), fixture.NewRun(nil), fixture.Item{})
			if exit != nil || !errors.Is(err, hookkit.ErrTimeout) {
				t.Fatalf("the fire returned %v, %v", exit, err)
			}
		})
	}
}

func TestTimeoutsAreFailures(t *testing.T) {
	captureLog(t)
	for name, hang := range map[string]func(points.Call) points.Reply{
		"deaf": func(points.Call) points.Reply { time.Sleep(slow); return points.Reply{} },
		"obedient": func(c points.Call) points.Reply {
			<-c.Ctx.Done()
			return points.Reply{Err: c.Ctx.Err()}
		},
		"late by nothing": func(points.Call) points.Reply { time.Sleep(quick); return points.Reply{Err: errFailing} },
	} {
		t.Run(name, func(t *testing.T) {
			// If the timer and the answer are equally early, either may win, except where there is no answer.
			applies := func(p *points.Point) bool { return name != "late by nothing" || p.Kind == points.Observe }
			atPoints(t, applies, func(t *testing.T, p *points.Point, watched bool) {
				synctest.Test(t, func(t *testing.T) {
					start := time.Now()
					f := fireFaulty(p, watched, hang, hookkit.Timeout(quick))
					if took := time.Since(start); took != quick {
						t.Errorf("%s: the fire took %v", p, took)
					}
					if name != "late by nothing" {
						f.hasFailed(t, p, func(err error) bool {
							return errors.Is(err, hookkit.ErrTimeout) && errors.Is(err, context.DeadlineExceeded)
						})
					}
					time.Sleep(2 * slow)
				})
			})
		})
	}
}

package otel_test

import (
	"testing"

	"github.com/hookgen/hookgen/contrib/otel"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// BenchmarkStep measures a step with one tool call, in a run of 20 steps, with an SDK that records every span.
func BenchmarkStep(b *testing.B) {
	const steps = 20
	run := func(b *testing.B, hooks ...agent.Hook) {
		b.Helper()
		turns := make([]looptest.Turn, steps, steps+1)
		for i := range turns {
			turns[i] = looptest.Call("work", `{"path":"/tmp/x"}`)
		}
		a := &loop.Agent{
			Model: looptest.NewScript(append(turns, looptest.Reply("done"))...).ForEachRun(), Hooks: loop.Hooks(hooks...),
			Tools: []agent.Tool{&looptest.Tool{Name: "work", Result: "ok"}}, Limits: loop.Limits{Steps: steps + 1},
		}
		for range b.N / steps {
			if _, err := a.Run(b.Context(), "go"); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("without", func(b *testing.B) { run(b) })
	b.Run("no SDK", func(b *testing.B) { run(b, new(otel.Telemetry)) })
	b.Run("spans", func(b *testing.B) {
		s := newSink(b)
		run(b, s.hook())
	})
	b.Run("content", func(b *testing.B) {
		s := newSink(b)
		hook := s.hook()
		hook.Content = true
		run(b, hook)
	})
}

package otel_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/codes"

	"github.com/hookgen/hookgen/contrib/otel"
	"github.com/hookgen/hookgen/examples/languages/mail"
	"github.com/hookgen/hookgen/hookkit"
)

func TestTraceRecordsEachFireOfAnySpec(t *testing.T) {
	named := hookkit.Named("guard")
	for _, c := range []struct {
		name string
		hook func(context.Context, *mail.Run, mail.Message) (mail.BeforeSendOutcome, error)
		want map[string]string
		code codes.Code
	}{
		{"continue", func(context.Context, *mail.Run, mail.Message) (mail.BeforeSendOutcome, error) { return nil, nil },
			map[string]string{"hookgen.point": "BeforeSend", "hookgen.run.id": "r1"}, codes.Unset},
		{"refuse", func(_ context.Context, _ *mail.Run, m mail.Message) (mail.BeforeSendOutcome, error) {
			return mail.Refuse{Reason: m.Text}, nil
		}, map[string]string{
			"hookgen.point": "BeforeSend", "hookgen.run.id": "r1", "hookgen.hook.name": "guard",
			"hookgen.decision.name": "Refuse",
		}, codes.Unset},
		{"fail", func(_ context.Context, _ *mail.Run, m mail.Message) (mail.BeforeSendOutcome, error) {
			return nil, errors.New(m.Text)
		}, map[string]string{
			"hookgen.point": "BeforeSend", "hookgen.run.id": "r1", "hookgen.hook.name": "guard",
			"hookgen.decision.name": "Error",
			"error.type":            "_OTHER",
		}, codes.Error},
		{"panic", func(_ context.Context, _ *mail.Run, m mail.Message) (mail.BeforeSendOutcome, error) { panic(m.Text) },
			map[string]string{
				"hookgen.point": "BeforeSend", "hookgen.run.id": "r1", "hookgen.hook.name": "guard",
				"hookgen.decision.name": "Error",
				"error.type":            "panic",
			}, codes.Error},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSink(t)
			var hooks mail.Hooks
			hooks.Trace(otel.Trace(s.traces))
			hooks.BeforeSend.AddFunc(c.hook, named)
			ctx, span := s.tracer().Start(t.Context(), "request")
			_, _ = hooks.BeforeSend.Fire(ctx, hookkit.NewRunWithID("r1", struct{}{}), &mail.Message{Text: "private"})
			span.End()
			if diff := cmp.Diff("request\n  fire BeforeSend\n", s.tree(t)); diff != "" {
				t.Error(diff)
			}
			fire := s.span(t, "fire BeforeSend")
			got := values(fire.Attributes())
			delete(got, "hookgen.hook.site")
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			if fire.Status().Code != c.code {
				t.Errorf("the status is %v", fire.Status())
			}
			if fire.EndTime().Before(fire.StartTime()) {
				t.Errorf("from %v to %v", fire.StartTime(), fire.EndTime())
			}
			if all := s.everything(); strings.Contains(all, "private") {
				t.Errorf("the payload left the process: %s", all)
			}
		})
	}
}

func TestTraceRecordsFailedObservers(t *testing.T) {
	s := newSink(t)
	var hooks mail.Hooks
	hooks.HandleFailures(func(context.Context, *hookkit.Failure) {})
	hooks.Trace(otel.Trace(s.traces))
	hooks.OnSent.ObserveFunc(func(context.Context, *mail.Run, mail.OnSentFired[mail.Message]) { panic("full") },
		hookkit.Named("log"))
	ctx, span := s.tracer().Start(t.Context(), "request")
	hooks.OnSent.Fire(ctx, nil, mail.Message{})
	span.End()
	want := []string{"hookgen.failure hookgen.point=OnSent hookgen.hook.name=log error.type=panic"}
	if diff := cmp.Diff(want, lines(s.span(t, "request"))); diff != "" {
		t.Error(diff)
	}
}

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/lab/bench/points"
)

// Hand-written code for each law: a slice of an interface and a loop, without order, removal, recovery and
// observers. It is the baseline of the generated code.
type (
	handWatcher interface {
		Watch(ctx context.Context, run *points.Run, call points.Call) error
	}
	handFlow interface {
		Flow(ctx context.Context, run *points.Run, call points.Call) (handOutcome, error)
	}
	handTrimmer interface {
		Trim(ctx context.Context, run *points.Run, call points.Call) (handOutcome, error)
	}
	handJudge interface {
		Judge(ctx context.Context, run *points.Run, call points.Call) (handOutcome, error)
	}
	handGatherer interface {
		Gather(ctx context.Context, run *points.Run, call points.Call) ([]string, error)
	}
	handRefuser interface {
		Refuse(ctx context.Context, run *points.Run, call points.Call) error
	}
	handNext    func(ctx context.Context, call points.Call) (points.Result, error)
	handWrapper interface {
		Wrap(ctx context.Context, run *points.Run, call points.Call, next handNext) (points.Result, error)
	}
)

// The outcomes of the hand-written loops.
type (
	handOutcome interface{ outcome() }
	handReplace struct {
		to     points.Call
		reason string
	}
	handReplaceCall struct {
		to     agent.ToolCallRequest
		reason string
	}
	handEdit struct {
		to     json.RawMessage
		reason string
	}
	handDeny  struct{ reason string }
	handAsk   struct{ reason string }
	handAllow struct{ reason string }
)

func (handReplace) outcome()     {}
func (handReplaceCall) outcome() {}
func (handEdit) outcome()        {}
func (handDeny) outcome()        {}
func (handAsk) outcome()         {}
func (handAllow) outcome()       {}

// handPoints has the loops as methods; the receiver represents the struct that a program would keep them in.
type handPoints struct {
	watchers  []handWatcher
	flow      []handFlow
	trimmers  []handTrimmer
	judges    []handJudge
	gatherers []handGatherer
	refusers  []handRefuser
	wrappers  []handWrapper
}

//go:noinline
func (p *handPoints) fireWatch(ctx context.Context, run *points.Run, call points.Call) {
	for _, h := range p.watchers {
		if err := h.Watch(ctx, run, call); err != nil {
			slog.ErrorContext(ctx, "a hook failed", "error", err)
		}
	}
}

//go:noinline
func (p *handPoints) fireFlow(ctx context.Context, run *points.Run, call *points.Call) (handOutcome, error) {
	payload := *call
	for _, h := range p.flow {
		out, err := h.Flow(ctx, run, payload)
		if err != nil {
			return nil, err
		}
		switch o := out.(type) {
		case nil:
		case handReplace:
			*call, payload = o.to, o.to
		default:
			return out, nil
		}
	}
	return nil, nil
}

//go:noinline
func (p *handPoints) fireLenient(ctx context.Context, run *points.Run, call *points.Call) (handOutcome, error) {
	payload := *call
	for _, h := range p.flow {
		out, err := h.Flow(ctx, run, payload)
		if err != nil {
			slog.ErrorContext(ctx, "a hook failed", "error", err)
			continue
		}
		switch o := out.(type) {
		case nil:
		case handReplace:
			*call, payload = o.to, o.to
		default:
			return out, nil
		}
	}
	return nil, nil
}

//go:noinline
func (p *handPoints) fireTrim(ctx context.Context, run *points.Run, call *points.Call) error {
	payload := *call
	for _, h := range p.trimmers {
		out, err := h.Trim(ctx, run, payload)
		if err != nil {
			return err
		}
		switch o := out.(type) {
		case nil:
		case handEdit:
			call.Args, payload.Args = o.to, o.to
		}
	}
	return nil
}

//go:noinline
func (p *handPoints) fireLeave(ctx context.Context, run *points.Run, call points.Call) (handOutcome, error) {
	for _, h := range p.flow {
		if out, err := h.Flow(ctx, run, call); out != nil || err != nil {
			return out, err
		}
	}
	return nil, nil
}

//go:noinline
func (p *handPoints) fireJudge(ctx context.Context, run *points.Run, call points.Call) (handOutcome, error) {
	var best handOutcome
	rank := 4
	for _, h := range p.judges {
		out, err := h.Judge(ctx, run, call)
		if err != nil {
			return nil, err
		}
		r := 4
		switch out.(type) {
		case handDeny:
			r = 1
		case handAsk:
			r = 2
		case handAllow:
			r = 3
		}
		if r < rank {
			best, rank = out, r
		}
	}
	return best, nil
}

//go:noinline
func (p *handPoints) fireGather(ctx context.Context, run *points.Run, call points.Call) []string {
	var all []string
	for _, h := range p.gatherers {
		some, err := h.Gather(ctx, run, call)
		if err != nil {
			slog.ErrorContext(ctx, "a hook failed", "error", err)
			continue
		}
		all = append(all, some...)
	}
	return all
}

//go:noinline
func (p *handPoints) fireRefuse(ctx context.Context, run *points.Run, call points.Call) error {
	for _, h := range p.refusers {
		if err := h.Refuse(ctx, run, call); err != nil {
			return err
		}
	}
	return nil
}

// fireWrap chains the hooks with one closure each, as most interceptor libraries do.
//
//go:noinline
func (p *handPoints) fireWrap(
	ctx context.Context, run *points.Run, call points.Call, act handNext,
) (points.Result, error) {
	next := act
	for i := len(p.wrappers) - 1; i >= 0; i-- {
		h, inner := p.wrappers[i], next
		next = func(ctx context.Context, call points.Call) (points.Result, error) {
			return h.Wrap(ctx, run, call, inner)
		}
	}
	return next(ctx, call)
}

// fireWrapRecovering is like fireWrap, and converts a panic to an error.
//
//go:noinline
func (p *handPoints) fireWrapRecovering(
	ctx context.Context, run *points.Run, call points.Call, act handNext,
) (result points.Result, err error) {
	returned := false
	defer func() {
		if !returned {
			err = fmt.Errorf("a hook or the act did not return: %v", recover())
		}
	}()
	next := act
	for i := len(p.wrappers) - 1; i >= 0; i-- {
		h, inner := p.wrappers[i], next
		next = func(ctx context.Context, call points.Call) (points.Result, error) {
			return h.Wrap(ctx, run, call, inner)
		}
	}
	result, err = next(ctx, call)
	returned = true
	return result, err
}

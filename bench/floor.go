package main

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/hookgen/hookgen/bench/points"
)

// Plain calls, the baseline of firing without hooks.

//go:noinline
func plainWatch(ctx context.Context, run *points.Run, call points.Call) {}

//go:noinline
func plainFlow(ctx context.Context, run *points.Run, call *points.Call) (points.FlowExit, error) {
	return nil, nil
}

//go:noinline
func plainError(ctx context.Context, run *points.Run, call *points.Call) error { return nil }

//go:noinline
func plainLenient(ctx context.Context, run *points.Run, call *points.Call) (points.LenientExit, error) {
	return nil, nil
}

//go:noinline
func plainLeave(ctx context.Context, run *points.Run, call points.Call) (points.LeaveExit, error) {
	return nil, nil
}

//go:noinline
func plainJudge(ctx context.Context, run *points.Run, call points.Call) (points.JudgeExit, error) {
	return nil, nil
}

//go:noinline
func plainGather(ctx context.Context, run *points.Run, call points.Call) []string { return nil }

//go:noinline
func plainRefuse(ctx context.Context, run *points.Run, call points.Call) error { return nil }

// plainWrapRecovering calls the act and converts a panic to an error, as Fire does.
//
//go:noinline
func plainWrapRecovering(
	ctx context.Context, run *points.Run, call points.Call, act handNext,
) (result points.Result, err error) {
	returned := false
	defer func() {
		if !returned {
			err = fmt.Errorf("the act did not return: %v", recover())
		}
	}()
	result, err = act(ctx, call)
	returned = true
	return result, err
}

// Hand-written loops with one deferred recover: the cheapest loops that survive a panic of a hook.

//go:noinline
func (p *handPoints) fireFlowRecovering(
	ctx context.Context, run *points.Run, call *points.Call,
) (out handOutcome, err error) {
	returned := false
	defer func() {
		if !returned {
			err = fmt.Errorf("a hook did not return: %v", recover())
		}
	}()
	payload := *call
	for _, h := range p.flow {
		o, err := h.Flow(ctx, run, payload)
		if err != nil {
			returned = true
			return nil, err
		}
		switch r := o.(type) {
		case nil:
		case handReplace:
			*call, payload = r.to, r.to
		default:
			returned = true
			return o, nil
		}
	}
	returned = true
	return nil, nil
}

//go:noinline
func (p *handPoints) fireLeaveRecovering(
	ctx context.Context, run *points.Run, call points.Call,
) (out handOutcome, err error) {
	returned := false
	defer func() {
		if !returned {
			err = fmt.Errorf("a hook did not return: %v", recover())
		}
	}()
	for _, h := range p.flow {
		if o, err := h.Flow(ctx, run, call); o != nil || err != nil {
			returned = true
			return o, err
		}
	}
	returned = true
	return nil, nil
}

//go:noinline
func (p *handPoints) fireWatchRecovering(ctx context.Context, run *points.Run, call points.Call) {
	returned := false
	defer func() {
		if !returned {
			slog.ErrorContext(ctx, "a hook did not return", "panic", recover())
		}
	}()
	for _, h := range p.watchers {
		if err := h.Watch(ctx, run, call); err != nil {
			slog.ErrorContext(ctx, "a hook failed", "error", err)
		}
	}
	returned = true
}

//go:noinline
func (p *handPoints) fireRefuseRecovering(ctx context.Context, run *points.Run, call points.Call) (err error) {
	returned := false
	defer func() {
		if !returned {
			err = fmt.Errorf("a hook did not return: %v", recover())
		}
	}()
	for _, h := range p.refusers {
		if err := h.Refuse(ctx, run, call); err != nil {
			returned = true
			return err
		}
	}
	returned = true
	return nil
}

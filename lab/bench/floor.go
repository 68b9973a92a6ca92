package main

import (
	"context"
	"fmt"

	"github.com/hookgen/hookgen/lab/bench/points"
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

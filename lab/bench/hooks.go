package main

import (
	"context"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/lab/bench/points"
)

// A quiet hook continues at every point. The field gives each hook its own address.
type quiet struct{ _ int }

func (*quiet) Watch(context.Context, *points.Run, points.Call) error { return nil }
func (*quiet) Rewrite(context.Context, *points.Run, points.Call) (points.RewriteOutcome, error) {
	return nil, nil
}
func (*quiet) Flow(context.Context, *points.Run, points.Call) (points.FlowOutcome, error) {
	return nil, nil
}
func (*quiet) Lenient(context.Context, *points.Run, points.Call) (points.LenientOutcome, error) {
	return nil, nil
}
func (*quiet) Trim(context.Context, *points.Run, points.Call) (points.TrimOutcome, error) {
	return nil, nil
}
func (*quiet) Leave(context.Context, *points.Run, points.Call) (points.LeaveOutcome, error) {
	return nil, nil
}
func (*quiet) Judge(context.Context, *points.Run, points.Call) (points.JudgeOutcome, error) {
	return nil, nil
}
func (*quiet) Gather(context.Context, *points.Run, points.Call) ([]string, error) { return nil, nil }
func (*quiet) Refuse(context.Context, *points.Run, points.Call) error             { return nil }
func (*quiet) Wrap(
	ctx context.Context, run *points.Run, call points.Call, next points.WrapNext,
) (hookkit.Answer[points.Result], error) {
	return next.Call(ctx, call)
}

// quietByHand is the equivalent for the hand-written loops.
type quietByHand struct{ _ int }

func (*quietByHand) Watch(context.Context, *points.Run, points.Call) error { return nil }
func (*quietByHand) Flow(context.Context, *points.Run, points.Call) (handOutcome, error) {
	return nil, nil
}
func (*quietByHand) Trim(context.Context, *points.Run, points.Call) (handOutcome, error) {
	return nil, nil
}
func (*quietByHand) Judge(context.Context, *points.Run, points.Call) (handOutcome, error) {
	return nil, nil
}
func (*quietByHand) Gather(context.Context, *points.Run, points.Call) ([]string, error) {
	return nil, nil
}
func (*quietByHand) Refuse(context.Context, *points.Run, points.Call) error { return nil }
func (*quietByHand) Wrap(ctx context.Context, run *points.Run, call points.Call, next handNext) (points.Result, error) {
	return next(ctx, call)
}

package tests

import (
	"context"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/tests/fixture"
)

// A watcher observes every point of the fixture whose payload is an Item, each by its own method, and any point.
type watcher struct{ note func(told) }

// told is what an observer was told.
type told struct {
	point string
	run   *fixture.Run
	fired any // NFired[Item] or AnyFired
}

func (w *watcher) Observe(ctx context.Context, run *fixture.Run, fired hookkit.AnyFired) {
	w.note(told{fired.Point, run, fired})
}

func (w *watcher) ObserveWatch(ctx context.Context, run *fixture.Run, fired fixture.WatchFired[fixture.Item]) {
	w.note(told{"Watch", run, fired})
}

func (w *watcher) ObserveWatchBack(ctx context.Context, run *fixture.Run, fired fixture.WatchBackFired[fixture.Item]) {
	w.note(told{"WatchBack", run, fired})
}

func (w *watcher) ObserveRewriteAmendLeaveClosed(ctx context.Context, run *fixture.Run, fired fixture.RewriteAmendLeaveClosedFired[fixture.Item]) {
	w.note(told{"RewriteAmendLeaveClosed", run, fired})
}

func (w *watcher) ObserveRewriteAmendLeaveOpen(ctx context.Context, run *fixture.Run, fired fixture.RewriteAmendLeaveOpenFired[fixture.Item]) {
	w.note(told{"RewriteAmendLeaveOpen", run, fired})
}

func (w *watcher) ObserveRewriteAmendLeaveBackClosed(ctx context.Context, run *fixture.Run, fired fixture.RewriteAmendLeaveBackClosedFired[fixture.Item]) {
	w.note(told{"RewriteAmendLeaveBackClosed", run, fired})
}

func (w *watcher) ObserveRewriteAmendLeaveBackOpen(ctx context.Context, run *fixture.Run, fired fixture.RewriteAmendLeaveBackOpenFired[fixture.Item]) {
	w.note(told{"RewriteAmendLeaveBackOpen", run, fired})
}

func (w *watcher) ObserveRewriteAmendLeaveGatherClosed(ctx context.Context, run *fixture.Run, fired fixture.RewriteAmendLeaveGatherClosedFired[fixture.Item]) {
	w.note(told{"RewriteAmendLeaveGatherClosed", run, fired})
}

func (w *watcher) ObserveRewriteAmendLeaveGatherOpen(ctx context.Context, run *fixture.Run, fired fixture.RewriteAmendLeaveGatherOpenFired[fixture.Item]) {
	w.note(told{"RewriteAmendLeaveGatherOpen", run, fired})
}

func (w *watcher) ObserveRewriteAmendLeaveGatherBackClosed(ctx context.Context, run *fixture.Run, fired fixture.RewriteAmendLeaveGatherBackClosedFired[fixture.Item]) {
	w.note(told{"RewriteAmendLeaveGatherBackClosed", run, fired})
}

func (w *watcher) ObserveRewriteAmendLeaveGatherBackOpen(ctx context.Context, run *fixture.Run, fired fixture.RewriteAmendLeaveGatherBackOpenFired[fixture.Item]) {
	w.note(told{"RewriteAmendLeaveGatherBackOpen", run, fired})
}

func (w *watcher) ObserveRewriteAmendClosed(ctx context.Context, run *fixture.Run, fired fixture.RewriteAmendClosedFired[fixture.Item]) {
	w.note(told{"RewriteAmendClosed", run, fired})
}

func (w *watcher) ObserveRewriteAmendOpen(ctx context.Context, run *fixture.Run, fired fixture.RewriteAmendOpenFired[fixture.Item]) {
	w.note(told{"RewriteAmendOpen", run, fired})
}

func (w *watcher) ObserveRewriteAmendBackClosed(ctx context.Context, run *fixture.Run, fired fixture.RewriteAmendBackClosedFired[fixture.Item]) {
	w.note(told{"RewriteAmendBackClosed", run, fired})
}

func (w *watcher) ObserveRewriteAmendBackOpen(ctx context.Context, run *fixture.Run, fired fixture.RewriteAmendBackOpenFired[fixture.Item]) {
	w.note(told{"RewriteAmendBackOpen", run, fired})
}

func (w *watcher) ObserveRewriteAmendGatherClosed(ctx context.Context, run *fixture.Run, fired fixture.RewriteAmendGatherClosedFired[fixture.Item]) {
	w.note(told{"RewriteAmendGatherClosed", run, fired})
}

func (w *watcher) ObserveRewriteAmendGatherOpen(ctx context.Context, run *fixture.Run, fired fixture.RewriteAmendGatherOpenFired[fixture.Item]) {
	w.note(told{"RewriteAmendGatherOpen", run, fired})
}

func (w *watcher) ObserveRewriteAmendGatherBackClosed(ctx context.Context, run *fixture.Run, fired fixture.RewriteAmendGatherBackClosedFired[fixture.Item]) {
	w.note(told{"RewriteAmendGatherBackClosed", run, fired})
}

func (w *watcher) ObserveRewriteAmendGatherBackOpen(ctx context.Context, run *fixture.Run, fired fixture.RewriteAmendGatherBackOpenFired[fixture.Item]) {
	w.note(told{"RewriteAmendGatherBackOpen", run, fired})
}

func (w *watcher) ObserveRewriteLeaveClosed(ctx context.Context, run *fixture.Run, fired fixture.RewriteLeaveClosedFired[fixture.Item]) {
	w.note(told{"RewriteLeaveClosed", run, fired})
}

func (w *watcher) ObserveRewriteLeaveOpen(ctx context.Context, run *fixture.Run, fired fixture.RewriteLeaveOpenFired[fixture.Item]) {
	w.note(told{"RewriteLeaveOpen", run, fired})
}

func (w *watcher) ObserveRewriteLeaveBackClosed(ctx context.Context, run *fixture.Run, fired fixture.RewriteLeaveBackClosedFired[fixture.Item]) {
	w.note(told{"RewriteLeaveBackClosed", run, fired})
}

func (w *watcher) ObserveRewriteLeaveBackOpen(ctx context.Context, run *fixture.Run, fired fixture.RewriteLeaveBackOpenFired[fixture.Item]) {
	w.note(told{"RewriteLeaveBackOpen", run, fired})
}

func (w *watcher) ObserveRewriteLeaveGatherClosed(ctx context.Context, run *fixture.Run, fired fixture.RewriteLeaveGatherClosedFired[fixture.Item]) {
	w.note(told{"RewriteLeaveGatherClosed", run, fired})
}

func (w *watcher) ObserveRewriteLeaveGatherOpen(ctx context.Context, run *fixture.Run, fired fixture.RewriteLeaveGatherOpenFired[fixture.Item]) {
	w.note(told{"RewriteLeaveGatherOpen", run, fired})
}

func (w *watcher) ObserveRewriteLeaveGatherBackClosed(ctx context.Context, run *fixture.Run, fired fixture.RewriteLeaveGatherBackClosedFired[fixture.Item]) {
	w.note(told{"RewriteLeaveGatherBackClosed", run, fired})
}

func (w *watcher) ObserveRewriteLeaveGatherBackOpen(ctx context.Context, run *fixture.Run, fired fixture.RewriteLeaveGatherBackOpenFired[fixture.Item]) {
	w.note(told{"RewriteLeaveGatherBackOpen", run, fired})
}

func (w *watcher) ObserveRewriteClosed(ctx context.Context, run *fixture.Run, fired fixture.RewriteClosedFired[fixture.Item]) {
	w.note(told{"RewriteClosed", run, fired})
}

func (w *watcher) ObserveRewriteOpen(ctx context.Context, run *fixture.Run, fired fixture.RewriteOpenFired[fixture.Item]) {
	w.note(told{"RewriteOpen", run, fired})
}

func (w *watcher) ObserveRewriteBackClosed(ctx context.Context, run *fixture.Run, fired fixture.RewriteBackClosedFired[fixture.Item]) {
	w.note(told{"RewriteBackClosed", run, fired})
}

func (w *watcher) ObserveRewriteBackOpen(ctx context.Context, run *fixture.Run, fired fixture.RewriteBackOpenFired[fixture.Item]) {
	w.note(told{"RewriteBackOpen", run, fired})
}

func (w *watcher) ObserveRewriteGatherClosed(ctx context.Context, run *fixture.Run, fired fixture.RewriteGatherClosedFired[fixture.Item]) {
	w.note(told{"RewriteGatherClosed", run, fired})
}

func (w *watcher) ObserveRewriteGatherOpen(ctx context.Context, run *fixture.Run, fired fixture.RewriteGatherOpenFired[fixture.Item]) {
	w.note(told{"RewriteGatherOpen", run, fired})
}

func (w *watcher) ObserveRewriteGatherBackClosed(ctx context.Context, run *fixture.Run, fired fixture.RewriteGatherBackClosedFired[fixture.Item]) {
	w.note(told{"RewriteGatherBackClosed", run, fired})
}

func (w *watcher) ObserveRewriteGatherBackOpen(ctx context.Context, run *fixture.Run, fired fixture.RewriteGatherBackOpenFired[fixture.Item]) {
	w.note(told{"RewriteGatherBackOpen", run, fired})
}

func (w *watcher) ObserveAmendLeaveClosed(ctx context.Context, run *fixture.Run, fired fixture.AmendLeaveClosedFired[fixture.Item]) {
	w.note(told{"AmendLeaveClosed", run, fired})
}

func (w *watcher) ObserveAmendLeaveOpen(ctx context.Context, run *fixture.Run, fired fixture.AmendLeaveOpenFired[fixture.Item]) {
	w.note(told{"AmendLeaveOpen", run, fired})
}

func (w *watcher) ObserveAmendLeaveBackClosed(ctx context.Context, run *fixture.Run, fired fixture.AmendLeaveBackClosedFired[fixture.Item]) {
	w.note(told{"AmendLeaveBackClosed", run, fired})
}

func (w *watcher) ObserveAmendLeaveBackOpen(ctx context.Context, run *fixture.Run, fired fixture.AmendLeaveBackOpenFired[fixture.Item]) {
	w.note(told{"AmendLeaveBackOpen", run, fired})
}

func (w *watcher) ObserveAmendLeaveGatherClosed(ctx context.Context, run *fixture.Run, fired fixture.AmendLeaveGatherClosedFired[fixture.Item]) {
	w.note(told{"AmendLeaveGatherClosed", run, fired})
}

func (w *watcher) ObserveAmendLeaveGatherOpen(ctx context.Context, run *fixture.Run, fired fixture.AmendLeaveGatherOpenFired[fixture.Item]) {
	w.note(told{"AmendLeaveGatherOpen", run, fired})
}

func (w *watcher) ObserveAmendLeaveGatherBackClosed(ctx context.Context, run *fixture.Run, fired fixture.AmendLeaveGatherBackClosedFired[fixture.Item]) {
	w.note(told{"AmendLeaveGatherBackClosed", run, fired})
}

func (w *watcher) ObserveAmendLeaveGatherBackOpen(ctx context.Context, run *fixture.Run, fired fixture.AmendLeaveGatherBackOpenFired[fixture.Item]) {
	w.note(told{"AmendLeaveGatherBackOpen", run, fired})
}

func (w *watcher) ObserveAmendClosed(ctx context.Context, run *fixture.Run, fired fixture.AmendClosedFired[fixture.Item]) {
	w.note(told{"AmendClosed", run, fired})
}

func (w *watcher) ObserveAmendOpen(ctx context.Context, run *fixture.Run, fired fixture.AmendOpenFired[fixture.Item]) {
	w.note(told{"AmendOpen", run, fired})
}

func (w *watcher) ObserveAmendBackClosed(ctx context.Context, run *fixture.Run, fired fixture.AmendBackClosedFired[fixture.Item]) {
	w.note(told{"AmendBackClosed", run, fired})
}

func (w *watcher) ObserveAmendBackOpen(ctx context.Context, run *fixture.Run, fired fixture.AmendBackOpenFired[fixture.Item]) {
	w.note(told{"AmendBackOpen", run, fired})
}

func (w *watcher) ObserveAmendGatherClosed(ctx context.Context, run *fixture.Run, fired fixture.AmendGatherClosedFired[fixture.Item]) {
	w.note(told{"AmendGatherClosed", run, fired})
}

func (w *watcher) ObserveAmendGatherOpen(ctx context.Context, run *fixture.Run, fired fixture.AmendGatherOpenFired[fixture.Item]) {
	w.note(told{"AmendGatherOpen", run, fired})
}

func (w *watcher) ObserveAmendGatherBackClosed(ctx context.Context, run *fixture.Run, fired fixture.AmendGatherBackClosedFired[fixture.Item]) {
	w.note(told{"AmendGatherBackClosed", run, fired})
}

func (w *watcher) ObserveAmendGatherBackOpen(ctx context.Context, run *fixture.Run, fired fixture.AmendGatherBackOpenFired[fixture.Item]) {
	w.note(told{"AmendGatherBackOpen", run, fired})
}

func (w *watcher) ObserveLeaveClosed(ctx context.Context, run *fixture.Run, fired fixture.LeaveClosedFired[fixture.Item]) {
	w.note(told{"LeaveClosed", run, fired})
}

func (w *watcher) ObserveLeaveOpen(ctx context.Context, run *fixture.Run, fired fixture.LeaveOpenFired[fixture.Item]) {
	w.note(told{"LeaveOpen", run, fired})
}

func (w *watcher) ObserveLeaveBackClosed(ctx context.Context, run *fixture.Run, fired fixture.LeaveBackClosedFired[fixture.Item]) {
	w.note(told{"LeaveBackClosed", run, fired})
}

func (w *watcher) ObserveLeaveBackOpen(ctx context.Context, run *fixture.Run, fired fixture.LeaveBackOpenFired[fixture.Item]) {
	w.note(told{"LeaveBackOpen", run, fired})
}

func (w *watcher) ObserveLeaveGatherClosed(ctx context.Context, run *fixture.Run, fired fixture.LeaveGatherClosedFired[fixture.Item]) {
	w.note(told{"LeaveGatherClosed", run, fired})
}

func (w *watcher) ObserveLeaveGatherOpen(ctx context.Context, run *fixture.Run, fired fixture.LeaveGatherOpenFired[fixture.Item]) {
	w.note(told{"LeaveGatherOpen", run, fired})
}

func (w *watcher) ObserveLeaveGatherBackClosed(ctx context.Context, run *fixture.Run, fired fixture.LeaveGatherBackClosedFired[fixture.Item]) {
	w.note(told{"LeaveGatherBackClosed", run, fired})
}

func (w *watcher) ObserveLeaveGatherBackOpen(ctx context.Context, run *fixture.Run, fired fixture.LeaveGatherBackOpenFired[fixture.Item]) {
	w.note(told{"LeaveGatherBackOpen", run, fired})
}

func (w *watcher) ObservePollClosed(ctx context.Context, run *fixture.Run, fired fixture.PollClosedFired[fixture.Item]) {
	w.note(told{"PollClosed", run, fired})
}

func (w *watcher) ObservePollOpen(ctx context.Context, run *fixture.Run, fired fixture.PollOpenFired[fixture.Item]) {
	w.note(told{"PollOpen", run, fired})
}

func (w *watcher) ObservePollBackClosed(ctx context.Context, run *fixture.Run, fired fixture.PollBackClosedFired[fixture.Item]) {
	w.note(told{"PollBackClosed", run, fired})
}

func (w *watcher) ObservePollBackOpen(ctx context.Context, run *fixture.Run, fired fixture.PollBackOpenFired[fixture.Item]) {
	w.note(told{"PollBackOpen", run, fired})
}

func (w *watcher) ObservePollGatherClosed(ctx context.Context, run *fixture.Run, fired fixture.PollGatherClosedFired[fixture.Item]) {
	w.note(told{"PollGatherClosed", run, fired})
}

func (w *watcher) ObservePollGatherOpen(ctx context.Context, run *fixture.Run, fired fixture.PollGatherOpenFired[fixture.Item]) {
	w.note(told{"PollGatherOpen", run, fired})
}

func (w *watcher) ObservePollGatherBackClosed(ctx context.Context, run *fixture.Run, fired fixture.PollGatherBackClosedFired[fixture.Item]) {
	w.note(told{"PollGatherBackClosed", run, fired})
}

func (w *watcher) ObservePollGatherBackOpen(ctx context.Context, run *fixture.Run, fired fixture.PollGatherBackOpenFired[fixture.Item]) {
	w.note(told{"PollGatherBackOpen", run, fired})
}

func (w *watcher) ObserveGather(ctx context.Context, run *fixture.Run, fired fixture.GatherFired[fixture.Item]) {
	w.note(told{"Gather", run, fired})
}

func (w *watcher) ObserveGatherClosed(ctx context.Context, run *fixture.Run, fired fixture.GatherClosedFired[fixture.Item]) {
	w.note(told{"GatherClosed", run, fired})
}

func (w *watcher) ObserveGatherOpen(ctx context.Context, run *fixture.Run, fired fixture.GatherOpenFired[fixture.Item]) {
	w.note(told{"GatherOpen", run, fired})
}

func (w *watcher) ObserveGatherBack(ctx context.Context, run *fixture.Run, fired fixture.GatherBackFired[fixture.Item]) {
	w.note(told{"GatherBack", run, fired})
}

func (w *watcher) ObserveGatherBackClosed(ctx context.Context, run *fixture.Run, fired fixture.GatherBackClosedFired[fixture.Item]) {
	w.note(told{"GatherBackClosed", run, fired})
}

func (w *watcher) ObserveGatherBackOpen(ctx context.Context, run *fixture.Run, fired fixture.GatherBackOpenFired[fixture.Item]) {
	w.note(told{"GatherBackOpen", run, fired})
}

func (w *watcher) ObserveVerify(ctx context.Context, run *fixture.Run, fired fixture.VerifyFired[fixture.Item]) {
	w.note(told{"Verify", run, fired})
}

func (w *watcher) ObserveWrap(ctx context.Context, run *fixture.Run, fired fixture.WrapFired[fixture.Item]) {
	w.note(told{"Wrap", run, fired})
}

func (w *watcher) ObserveWrapBack(ctx context.Context, run *fixture.Run, fired fixture.WrapBackFired[fixture.Item]) {
	w.note(told{"WrapBack", run, fired})
}

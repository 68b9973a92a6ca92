package model

import (
	"context"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/tests/fixture"
)

// The methods of a watcher, of all points and point by point. Each hands on to see.

func (w watcher) Observe(_ context.Context, _ *fixture.Run, f hookkit.AnyFired) { w.see(f.Point, f) }

func (w watcher) ObserveWatch(_ context.Context, _ *fixture.Run, f fixture.WatchFired[fixture.Item]) {
	w.see("Watch", f)
}
func (w watcher) ObserveWatchBack(_ context.Context, _ *fixture.Run, f fixture.WatchBackFired[fixture.Item]) {
	w.see("WatchBack", f)
}
func (w watcher) ObserveRewriteAmendLeaveClosed(_ context.Context, _ *fixture.Run, f fixture.RewriteAmendLeaveClosedFired[fixture.Item]) {
	w.see("RewriteAmendLeaveClosed", f)
}
func (w watcher) ObserveRewriteAmendLeaveOpen(_ context.Context, _ *fixture.Run, f fixture.RewriteAmendLeaveOpenFired[fixture.Item]) {
	w.see("RewriteAmendLeaveOpen", f)
}
func (w watcher) ObserveRewriteAmendLeaveBackClosed(_ context.Context, _ *fixture.Run, f fixture.RewriteAmendLeaveBackClosedFired[fixture.Item]) {
	w.see("RewriteAmendLeaveBackClosed", f)
}
func (w watcher) ObserveRewriteAmendLeaveBackOpen(_ context.Context, _ *fixture.Run, f fixture.RewriteAmendLeaveBackOpenFired[fixture.Item]) {
	w.see("RewriteAmendLeaveBackOpen", f)
}
func (w watcher) ObserveRewriteAmendLeaveGatherClosed(_ context.Context, _ *fixture.Run, f fixture.RewriteAmendLeaveGatherClosedFired[fixture.Item]) {
	w.see("RewriteAmendLeaveGatherClosed", f)
}
func (w watcher) ObserveRewriteAmendLeaveGatherOpen(_ context.Context, _ *fixture.Run, f fixture.RewriteAmendLeaveGatherOpenFired[fixture.Item]) {
	w.see("RewriteAmendLeaveGatherOpen", f)
}
func (w watcher) ObserveRewriteAmendLeaveGatherBackClosed(_ context.Context, _ *fixture.Run, f fixture.RewriteAmendLeaveGatherBackClosedFired[fixture.Item]) {
	w.see("RewriteAmendLeaveGatherBackClosed", f)
}
func (w watcher) ObserveRewriteAmendLeaveGatherBackOpen(_ context.Context, _ *fixture.Run, f fixture.RewriteAmendLeaveGatherBackOpenFired[fixture.Item]) {
	w.see("RewriteAmendLeaveGatherBackOpen", f)
}
func (w watcher) ObserveRewriteAmendClosed(_ context.Context, _ *fixture.Run, f fixture.RewriteAmendClosedFired[fixture.Item]) {
	w.see("RewriteAmendClosed", f)
}
func (w watcher) ObserveRewriteAmendOpen(_ context.Context, _ *fixture.Run, f fixture.RewriteAmendOpenFired[fixture.Item]) {
	w.see("RewriteAmendOpen", f)
}
func (w watcher) ObserveRewriteAmendBackClosed(_ context.Context, _ *fixture.Run, f fixture.RewriteAmendBackClosedFired[fixture.Item]) {
	w.see("RewriteAmendBackClosed", f)
}
func (w watcher) ObserveRewriteAmendBackOpen(_ context.Context, _ *fixture.Run, f fixture.RewriteAmendBackOpenFired[fixture.Item]) {
	w.see("RewriteAmendBackOpen", f)
}
func (w watcher) ObserveRewriteAmendGatherClosed(_ context.Context, _ *fixture.Run, f fixture.RewriteAmendGatherClosedFired[fixture.Item]) {
	w.see("RewriteAmendGatherClosed", f)
}
func (w watcher) ObserveRewriteAmendGatherOpen(_ context.Context, _ *fixture.Run, f fixture.RewriteAmendGatherOpenFired[fixture.Item]) {
	w.see("RewriteAmendGatherOpen", f)
}
func (w watcher) ObserveRewriteAmendGatherBackClosed(_ context.Context, _ *fixture.Run, f fixture.RewriteAmendGatherBackClosedFired[fixture.Item]) {
	w.see("RewriteAmendGatherBackClosed", f)
}
func (w watcher) ObserveRewriteAmendGatherBackOpen(_ context.Context, _ *fixture.Run, f fixture.RewriteAmendGatherBackOpenFired[fixture.Item]) {
	w.see("RewriteAmendGatherBackOpen", f)
}
func (w watcher) ObserveRewriteLeaveClosed(_ context.Context, _ *fixture.Run, f fixture.RewriteLeaveClosedFired[fixture.Item]) {
	w.see("RewriteLeaveClosed", f)
}
func (w watcher) ObserveRewriteLeaveOpen(_ context.Context, _ *fixture.Run, f fixture.RewriteLeaveOpenFired[fixture.Item]) {
	w.see("RewriteLeaveOpen", f)
}
func (w watcher) ObserveRewriteLeaveBackClosed(_ context.Context, _ *fixture.Run, f fixture.RewriteLeaveBackClosedFired[fixture.Item]) {
	w.see("RewriteLeaveBackClosed", f)
}
func (w watcher) ObserveRewriteLeaveBackOpen(_ context.Context, _ *fixture.Run, f fixture.RewriteLeaveBackOpenFired[fixture.Item]) {
	w.see("RewriteLeaveBackOpen", f)
}
func (w watcher) ObserveRewriteLeaveGatherClosed(_ context.Context, _ *fixture.Run, f fixture.RewriteLeaveGatherClosedFired[fixture.Item]) {
	w.see("RewriteLeaveGatherClosed", f)
}
func (w watcher) ObserveRewriteLeaveGatherOpen(_ context.Context, _ *fixture.Run, f fixture.RewriteLeaveGatherOpenFired[fixture.Item]) {
	w.see("RewriteLeaveGatherOpen", f)
}
func (w watcher) ObserveRewriteLeaveGatherBackClosed(_ context.Context, _ *fixture.Run, f fixture.RewriteLeaveGatherBackClosedFired[fixture.Item]) {
	w.see("RewriteLeaveGatherBackClosed", f)
}
func (w watcher) ObserveRewriteLeaveGatherBackOpen(_ context.Context, _ *fixture.Run, f fixture.RewriteLeaveGatherBackOpenFired[fixture.Item]) {
	w.see("RewriteLeaveGatherBackOpen", f)
}
func (w watcher) ObserveRewriteClosed(_ context.Context, _ *fixture.Run, f fixture.RewriteClosedFired[fixture.Item]) {
	w.see("RewriteClosed", f)
}
func (w watcher) ObserveRewriteOpen(_ context.Context, _ *fixture.Run, f fixture.RewriteOpenFired[fixture.Item]) {
	w.see("RewriteOpen", f)
}
func (w watcher) ObserveRewriteBackClosed(_ context.Context, _ *fixture.Run, f fixture.RewriteBackClosedFired[fixture.Item]) {
	w.see("RewriteBackClosed", f)
}
func (w watcher) ObserveRewriteBackOpen(_ context.Context, _ *fixture.Run, f fixture.RewriteBackOpenFired[fixture.Item]) {
	w.see("RewriteBackOpen", f)
}
func (w watcher) ObserveRewriteGatherClosed(_ context.Context, _ *fixture.Run, f fixture.RewriteGatherClosedFired[fixture.Item]) {
	w.see("RewriteGatherClosed", f)
}
func (w watcher) ObserveRewriteGatherOpen(_ context.Context, _ *fixture.Run, f fixture.RewriteGatherOpenFired[fixture.Item]) {
	w.see("RewriteGatherOpen", f)
}
func (w watcher) ObserveRewriteGatherBackClosed(_ context.Context, _ *fixture.Run, f fixture.RewriteGatherBackClosedFired[fixture.Item]) {
	w.see("RewriteGatherBackClosed", f)
}
func (w watcher) ObserveRewriteGatherBackOpen(_ context.Context, _ *fixture.Run, f fixture.RewriteGatherBackOpenFired[fixture.Item]) {
	w.see("RewriteGatherBackOpen", f)
}
func (w watcher) ObserveAmendLeaveClosed(_ context.Context, _ *fixture.Run, f fixture.AmendLeaveClosedFired[fixture.Item]) {
	w.see("AmendLeaveClosed", f)
}
func (w watcher) ObserveAmendLeaveOpen(_ context.Context, _ *fixture.Run, f fixture.AmendLeaveOpenFired[fixture.Item]) {
	w.see("AmendLeaveOpen", f)
}
func (w watcher) ObserveAmendLeaveBackClosed(_ context.Context, _ *fixture.Run, f fixture.AmendLeaveBackClosedFired[fixture.Item]) {
	w.see("AmendLeaveBackClosed", f)
}
func (w watcher) ObserveAmendLeaveBackOpen(_ context.Context, _ *fixture.Run, f fixture.AmendLeaveBackOpenFired[fixture.Item]) {
	w.see("AmendLeaveBackOpen", f)
}
func (w watcher) ObserveAmendLeaveGatherClosed(_ context.Context, _ *fixture.Run, f fixture.AmendLeaveGatherClosedFired[fixture.Item]) {
	w.see("AmendLeaveGatherClosed", f)
}
func (w watcher) ObserveAmendLeaveGatherOpen(_ context.Context, _ *fixture.Run, f fixture.AmendLeaveGatherOpenFired[fixture.Item]) {
	w.see("AmendLeaveGatherOpen", f)
}
func (w watcher) ObserveAmendLeaveGatherBackClosed(_ context.Context, _ *fixture.Run, f fixture.AmendLeaveGatherBackClosedFired[fixture.Item]) {
	w.see("AmendLeaveGatherBackClosed", f)
}
func (w watcher) ObserveAmendLeaveGatherBackOpen(_ context.Context, _ *fixture.Run, f fixture.AmendLeaveGatherBackOpenFired[fixture.Item]) {
	w.see("AmendLeaveGatherBackOpen", f)
}
func (w watcher) ObserveAmendClosed(_ context.Context, _ *fixture.Run, f fixture.AmendClosedFired[fixture.Item]) {
	w.see("AmendClosed", f)
}
func (w watcher) ObserveAmendOpen(_ context.Context, _ *fixture.Run, f fixture.AmendOpenFired[fixture.Item]) {
	w.see("AmendOpen", f)
}
func (w watcher) ObserveAmendBackClosed(_ context.Context, _ *fixture.Run, f fixture.AmendBackClosedFired[fixture.Item]) {
	w.see("AmendBackClosed", f)
}
func (w watcher) ObserveAmendBackOpen(_ context.Context, _ *fixture.Run, f fixture.AmendBackOpenFired[fixture.Item]) {
	w.see("AmendBackOpen", f)
}
func (w watcher) ObserveAmendGatherClosed(_ context.Context, _ *fixture.Run, f fixture.AmendGatherClosedFired[fixture.Item]) {
	w.see("AmendGatherClosed", f)
}
func (w watcher) ObserveAmendGatherOpen(_ context.Context, _ *fixture.Run, f fixture.AmendGatherOpenFired[fixture.Item]) {
	w.see("AmendGatherOpen", f)
}
func (w watcher) ObserveAmendGatherBackClosed(_ context.Context, _ *fixture.Run, f fixture.AmendGatherBackClosedFired[fixture.Item]) {
	w.see("AmendGatherBackClosed", f)
}
func (w watcher) ObserveAmendGatherBackOpen(_ context.Context, _ *fixture.Run, f fixture.AmendGatherBackOpenFired[fixture.Item]) {
	w.see("AmendGatherBackOpen", f)
}
func (w watcher) ObserveLeaveClosed(_ context.Context, _ *fixture.Run, f fixture.LeaveClosedFired[fixture.Item]) {
	w.see("LeaveClosed", f)
}
func (w watcher) ObserveLeaveOpen(_ context.Context, _ *fixture.Run, f fixture.LeaveOpenFired[fixture.Item]) {
	w.see("LeaveOpen", f)
}
func (w watcher) ObserveLeaveBackClosed(_ context.Context, _ *fixture.Run, f fixture.LeaveBackClosedFired[fixture.Item]) {
	w.see("LeaveBackClosed", f)
}
func (w watcher) ObserveLeaveBackOpen(_ context.Context, _ *fixture.Run, f fixture.LeaveBackOpenFired[fixture.Item]) {
	w.see("LeaveBackOpen", f)
}
func (w watcher) ObserveLeaveGatherClosed(_ context.Context, _ *fixture.Run, f fixture.LeaveGatherClosedFired[fixture.Item]) {
	w.see("LeaveGatherClosed", f)
}
func (w watcher) ObserveLeaveGatherOpen(_ context.Context, _ *fixture.Run, f fixture.LeaveGatherOpenFired[fixture.Item]) {
	w.see("LeaveGatherOpen", f)
}
func (w watcher) ObserveLeaveGatherBackClosed(_ context.Context, _ *fixture.Run, f fixture.LeaveGatherBackClosedFired[fixture.Item]) {
	w.see("LeaveGatherBackClosed", f)
}
func (w watcher) ObserveLeaveGatherBackOpen(_ context.Context, _ *fixture.Run, f fixture.LeaveGatherBackOpenFired[fixture.Item]) {
	w.see("LeaveGatherBackOpen", f)
}
func (w watcher) ObservePollClosed(_ context.Context, _ *fixture.Run, f fixture.PollClosedFired[fixture.Item]) {
	w.see("PollClosed", f)
}
func (w watcher) ObservePollOpen(_ context.Context, _ *fixture.Run, f fixture.PollOpenFired[fixture.Item]) {
	w.see("PollOpen", f)
}
func (w watcher) ObservePollBackClosed(_ context.Context, _ *fixture.Run, f fixture.PollBackClosedFired[fixture.Item]) {
	w.see("PollBackClosed", f)
}
func (w watcher) ObservePollBackOpen(_ context.Context, _ *fixture.Run, f fixture.PollBackOpenFired[fixture.Item]) {
	w.see("PollBackOpen", f)
}
func (w watcher) ObservePollGatherClosed(_ context.Context, _ *fixture.Run, f fixture.PollGatherClosedFired[fixture.Item]) {
	w.see("PollGatherClosed", f)
}
func (w watcher) ObservePollGatherOpen(_ context.Context, _ *fixture.Run, f fixture.PollGatherOpenFired[fixture.Item]) {
	w.see("PollGatherOpen", f)
}
func (w watcher) ObservePollGatherBackClosed(_ context.Context, _ *fixture.Run, f fixture.PollGatherBackClosedFired[fixture.Item]) {
	w.see("PollGatherBackClosed", f)
}
func (w watcher) ObservePollGatherBackOpen(_ context.Context, _ *fixture.Run, f fixture.PollGatherBackOpenFired[fixture.Item]) {
	w.see("PollGatherBackOpen", f)
}
func (w watcher) ObserveGather(_ context.Context, _ *fixture.Run, f fixture.GatherFired[fixture.Item]) {
	w.see("Gather", f)
}
func (w watcher) ObserveGatherClosed(_ context.Context, _ *fixture.Run, f fixture.GatherClosedFired[fixture.Item]) {
	w.see("GatherClosed", f)
}
func (w watcher) ObserveGatherOpen(_ context.Context, _ *fixture.Run, f fixture.GatherOpenFired[fixture.Item]) {
	w.see("GatherOpen", f)
}
func (w watcher) ObserveGatherBack(_ context.Context, _ *fixture.Run, f fixture.GatherBackFired[fixture.Item]) {
	w.see("GatherBack", f)
}
func (w watcher) ObserveGatherBackClosed(_ context.Context, _ *fixture.Run, f fixture.GatherBackClosedFired[fixture.Item]) {
	w.see("GatherBackClosed", f)
}
func (w watcher) ObserveGatherBackOpen(_ context.Context, _ *fixture.Run, f fixture.GatherBackOpenFired[fixture.Item]) {
	w.see("GatherBackOpen", f)
}
func (w watcher) ObserveVerify(_ context.Context, _ *fixture.Run, f fixture.VerifyFired[fixture.Item]) {
	w.see("Verify", f)
}
func (w watcher) ObserveWrap(_ context.Context, _ *fixture.Run, f fixture.WrapFired[fixture.Item]) {
	w.see("Wrap", f)
}
func (w watcher) ObserveWrapBack(_ context.Context, _ *fixture.Run, f fixture.WrapBackFired[fixture.Item]) {
	w.see("WrapBack", f)
}

package soak

import (
	"github.com/hookgen/hookgen/tests/fixture"
)

// A firepoint is a point of the fixture as the soak uses it.
type firepoint struct {
	name string
	add  func(h *fixture.Hooks, p *part)
	fire func(h *fixture.Hooks, f *fire)
}

// firepoints are the points whose payload is an Item: one for every law. The others are in [morePoints].
var firepoints = []firepoint{
	{"Watch", func(h *fixture.Hooks, p *part) {
		h.Watch.Add(fixture.WatchFunc(look(p, "Watch")), p.options()...)
	}, func(h *fixture.Hooks, f *fire) {
		h.Watch.Fire(f, f.run, f.item)
	}},
	{"WatchBack", func(h *fixture.Hooks, p *part) {
		h.WatchBack.Add(fixture.WatchBackFunc(look(p, "WatchBack")), p.options()...)
	}, func(h *fixture.Hooks, f *fire) {
		h.WatchBack.Fire(f, f.run, f.item)
	}},
	{"RewriteAmendLeaveClosed", func(h *fixture.Hooks, p *part) {
		h.RewriteAmendLeaveClosed.Add(fixture.RewriteAmendLeaveClosedFunc(decide(p, "RewriteAmendLeaveClosed", fixture.ReplaceRewriteAmendLeaveClosed, fixture.EditRewriteAmendLeaveClosed)), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		exit, err := h.RewriteAmendLeaveClosed.Fire(f, f.run, &f.item)
		f.came(exit, nil, err)
	}},
	{"RewriteAmendLeaveOpen", func(h *fixture.Hooks, p *part) {
		h.RewriteAmendLeaveOpen.Add(fixture.RewriteAmendLeaveOpenFunc(decide(p, "RewriteAmendLeaveOpen", fixture.ReplaceRewriteAmendLeaveOpen, fixture.EditRewriteAmendLeaveOpen)), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		exit, err := h.RewriteAmendLeaveOpen.Fire(f, f.run, &f.item)
		f.came(exit, nil, err)
	}},
	{"RewriteAmendLeaveBackClosed", func(h *fixture.Hooks, p *part) {
		h.RewriteAmendLeaveBackClosed.Add(fixture.RewriteAmendLeaveBackClosedFunc(decide(p, "RewriteAmendLeaveBackClosed", fixture.ReplaceRewriteAmendLeaveBackClosed, fixture.EditRewriteAmendLeaveBackClosed)), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		exit, err := h.RewriteAmendLeaveBackClosed.Fire(f, f.run, &f.item)
		f.came(exit, nil, err)
	}},
	{"RewriteAmendLeaveBackOpen", func(h *fixture.Hooks, p *part) {
		h.RewriteAmendLeaveBackOpen.Add(fixture.RewriteAmendLeaveBackOpenFunc(decide(p, "RewriteAmendLeaveBackOpen", fixture.ReplaceRewriteAmendLeaveBackOpen, fixture.EditRewriteAmendLeaveBackOpen)), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		exit, err := h.RewriteAmendLeaveBackOpen.Fire(f, f.run, &f.item)
		f.came(exit, nil, err)
	}},
	{"RewriteAmendLeaveGatherClosed", func(h *fixture.Hooks, p *part) {
		h.RewriteAmendLeaveGatherClosed.Add(fixture.RewriteAmendLeaveGatherClosedFunc(both(p, "RewriteAmendLeaveGatherClosed", fixture.ReplaceRewriteAmendLeaveGatherClosed, fixture.EditRewriteAmendLeaveGatherClosed)), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		exit, got, err := h.RewriteAmendLeaveGatherClosed.Fire(f, f.run, &f.item)
		f.came(exit, got, err)
	}},
	{"RewriteAmendLeaveGatherOpen", func(h *fixture.Hooks, p *part) {
		h.RewriteAmendLeaveGatherOpen.Add(fixture.RewriteAmendLeaveGatherOpenFunc(both(p, "RewriteAmendLeaveGatherOpen", fixture.ReplaceRewriteAmendLeaveGatherOpen, fixture.EditRewriteAmendLeaveGatherOpen)), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		exit, got, err := h.RewriteAmendLeaveGatherOpen.Fire(f, f.run, &f.item)
		f.came(exit, got, err)
	}},
	{"RewriteAmendLeaveGatherBackClosed", func(h *fixture.Hooks, p *part) {
		h.RewriteAmendLeaveGatherBackClosed.Add(fixture.RewriteAmendLeaveGatherBackClosedFunc(both(p, "RewriteAmendLeaveGatherBackClosed", fixture.ReplaceRewriteAmendLeaveGatherBackClosed, fixture.EditRewriteAmendLeaveGatherBackClosed)), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		exit, got, err := h.RewriteAmendLeaveGatherBackClosed.Fire(f, f.run, &f.item)
		f.came(exit, got, err)
	}},
	{"RewriteAmendLeaveGatherBackOpen", func(h *fixture.Hooks, p *part) {
		h.RewriteAmendLeaveGatherBackOpen.Add(fixture.RewriteAmendLeaveGatherBackOpenFunc(both(p, "RewriteAmendLeaveGatherBackOpen", fixture.ReplaceRewriteAmendLeaveGatherBackOpen, fixture.EditRewriteAmendLeaveGatherBackOpen)), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		exit, got, err := h.RewriteAmendLeaveGatherBackOpen.Fire(f, f.run, &f.item)
		f.came(exit, got, err)
	}},
	{"RewriteAmendClosed", func(h *fixture.Hooks, p *part) {
		h.RewriteAmendClosed.Add(fixture.RewriteAmendClosedFunc(decide(p, "RewriteAmendClosed", fixture.ReplaceRewriteAmendClosed, fixture.EditRewriteAmendClosed)), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		f.err = h.RewriteAmendClosed.Fire(f, f.run, &f.item)
	}},
	{"RewriteAmendOpen", func(h *fixture.Hooks, p *part) {
		h.RewriteAmendOpen.Add(fixture.RewriteAmendOpenFunc(decide(p, "RewriteAmendOpen", fixture.ReplaceRewriteAmendOpen, fixture.EditRewriteAmendOpen)), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		f.err = h.RewriteAmendOpen.Fire(f, f.run, &f.item)
	}},
	{"RewriteAmendBackClosed", func(h *fixture.Hooks, p *part) {
		h.RewriteAmendBackClosed.Add(fixture.RewriteAmendBackClosedFunc(decide(p, "RewriteAmendBackClosed", fixture.ReplaceRewriteAmendBackClosed, fixture.EditRewriteAmendBackClosed)), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		f.err = h.RewriteAmendBackClosed.Fire(f, f.run, &f.item)
	}},
	{"RewriteAmendBackOpen", func(h *fixture.Hooks, p *part) {
		h.RewriteAmendBackOpen.Add(fixture.RewriteAmendBackOpenFunc(decide(p, "RewriteAmendBackOpen", fixture.ReplaceRewriteAmendBackOpen, fixture.EditRewriteAmendBackOpen)), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		f.err = h.RewriteAmendBackOpen.Fire(f, f.run, &f.item)
	}},
	{"RewriteAmendGatherClosed", func(h *fixture.Hooks, p *part) {
		h.RewriteAmendGatherClosed.Add(fixture.RewriteAmendGatherClosedFunc(both(p, "RewriteAmendGatherClosed", fixture.ReplaceRewriteAmendGatherClosed, fixture.EditRewriteAmendGatherClosed)), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		f.collected, f.err = h.RewriteAmendGatherClosed.Fire(f, f.run, &f.item)
	}},
	{"RewriteAmendGatherOpen", func(h *fixture.Hooks, p *part) {
		h.RewriteAmendGatherOpen.Add(fixture.RewriteAmendGatherOpenFunc(both(p, "RewriteAmendGatherOpen", fixture.ReplaceRewriteAmendGatherOpen, fixture.EditRewriteAmendGatherOpen)), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		f.collected, f.err = h.RewriteAmendGatherOpen.Fire(f, f.run, &f.item)
	}},
	{"RewriteAmendGatherBackClosed", func(h *fixture.Hooks, p *part) {
		h.RewriteAmendGatherBackClosed.Add(fixture.RewriteAmendGatherBackClosedFunc(both(p, "RewriteAmendGatherBackClosed", fixture.ReplaceRewriteAmendGatherBackClosed, fixture.EditRewriteAmendGatherBackClosed)), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		f.collected, f.err = h.RewriteAmendGatherBackClosed.Fire(f, f.run, &f.item)
	}},
	{"RewriteAmendGatherBackOpen", func(h *fixture.Hooks, p *part) {
		h.RewriteAmendGatherBackOpen.Add(fixture.RewriteAmendGatherBackOpenFunc(both(p, "RewriteAmendGatherBackOpen", fixture.ReplaceRewriteAmendGatherBackOpen, fixture.EditRewriteAmendGatherBackOpen)), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		f.collected, f.err = h.RewriteAmendGatherBackOpen.Fire(f, f.run, &f.item)
	}},
	{"RewriteLeaveClosed", func(h *fixture.Hooks, p *part) {
		h.RewriteLeaveClosed.Add(fixture.RewriteLeaveClosedFunc(decide(p, "RewriteLeaveClosed", fixture.ReplaceRewriteLeaveClosed, nil)), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		exit, err := h.RewriteLeaveClosed.Fire(f, f.run, &f.item)
		f.came(exit, nil, err)
	}},
	{"RewriteLeaveOpen", func(h *fixture.Hooks, p *part) {
		h.RewriteLeaveOpen.Add(fixture.RewriteLeaveOpenFunc(decide(p, "RewriteLeaveOpen", fixture.ReplaceRewriteLeaveOpen, nil)), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		exit, err := h.RewriteLeaveOpen.Fire(f, f.run, &f.item)
		f.came(exit, nil, err)
	}},
	{"RewriteLeaveBackClosed", func(h *fixture.Hooks, p *part) {
		h.RewriteLeaveBackClosed.Add(fixture.RewriteLeaveBackClosedFunc(decide(p, "RewriteLeaveBackClosed", fixture.ReplaceRewriteLeaveBackClosed, nil)), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		exit, err := h.RewriteLeaveBackClosed.Fire(f, f.run, &f.item)
		f.came(exit, nil, err)
	}},
	{"RewriteLeaveBackOpen", func(h *fixture.Hooks, p *part) {
		h.RewriteLeaveBackOpen.Add(fixture.RewriteLeaveBackOpenFunc(decide(p, "RewriteLeaveBackOpen", fixture.ReplaceRewriteLeaveBackOpen, nil)), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		exit, err := h.RewriteLeaveBackOpen.Fire(f, f.run, &f.item)
		f.came(exit, nil, err)
	}},
	{"RewriteLeaveGatherClosed", func(h *fixture.Hooks, p *part) {
		h.RewriteLeaveGatherClosed.Add(fixture.RewriteLeaveGatherClosedFunc(both(p, "RewriteLeaveGatherClosed", fixture.ReplaceRewriteLeaveGatherClosed, nil)), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		exit, got, err := h.RewriteLeaveGatherClosed.Fire(f, f.run, &f.item)
		f.came(exit, got, err)
	}},
	{"RewriteLeaveGatherOpen", func(h *fixture.Hooks, p *part) {
		h.RewriteLeaveGatherOpen.Add(fixture.RewriteLeaveGatherOpenFunc(both(p, "RewriteLeaveGatherOpen", fixture.ReplaceRewriteLeaveGatherOpen, nil)), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		exit, got, err := h.RewriteLeaveGatherOpen.Fire(f, f.run, &f.item)
		f.came(exit, got, err)
	}},
	{"RewriteLeaveGatherBackClosed", func(h *fixture.Hooks, p *part) {
		h.RewriteLeaveGatherBackClosed.Add(fixture.RewriteLeaveGatherBackClosedFunc(both(p, "RewriteLeaveGatherBackClosed", fixture.ReplaceRewriteLeaveGatherBackClosed, nil)), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		exit, got, err := h.RewriteLeaveGatherBackClosed.Fire(f, f.run, &f.item)
		f.came(exit, got, err)
	}},
	{"RewriteLeaveGatherBackOpen", func(h *fixture.Hooks, p *part) {
		h.RewriteLeaveGatherBackOpen.Add(fixture.RewriteLeaveGatherBackOpenFunc(both(p, "RewriteLeaveGatherBackOpen", fixture.ReplaceRewriteLeaveGatherBackOpen, nil)), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		exit, got, err := h.RewriteLeaveGatherBackOpen.Fire(f, f.run, &f.item)
		f.came(exit, got, err)
	}},
	{"RewriteClosed", func(h *fixture.Hooks, p *part) {
		h.RewriteClosed.Add(fixture.RewriteClosedFunc(decide(p, "RewriteClosed", fixture.ReplaceRewriteClosed, nil)), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		f.err = h.RewriteClosed.Fire(f, f.run, &f.item)
	}},
	{"RewriteOpen", func(h *fixture.Hooks, p *part) {
		h.RewriteOpen.Add(fixture.RewriteOpenFunc(decide(p, "RewriteOpen", fixture.ReplaceRewriteOpen, nil)), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		f.err = h.RewriteOpen.Fire(f, f.run, &f.item)
	}},
	{"RewriteBackClosed", func(h *fixture.Hooks, p *part) {
		h.RewriteBackClosed.Add(fixture.RewriteBackClosedFunc(decide(p, "RewriteBackClosed", fixture.ReplaceRewriteBackClosed, nil)), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		f.err = h.RewriteBackClosed.Fire(f, f.run, &f.item)
	}},
	{"RewriteBackOpen", func(h *fixture.Hooks, p *part) {
		h.RewriteBackOpen.Add(fixture.RewriteBackOpenFunc(decide(p, "RewriteBackOpen", fixture.ReplaceRewriteBackOpen, nil)), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		f.err = h.RewriteBackOpen.Fire(f, f.run, &f.item)
	}},
	{"RewriteGatherClosed", func(h *fixture.Hooks, p *part) {
		h.RewriteGatherClosed.Add(fixture.RewriteGatherClosedFunc(both(p, "RewriteGatherClosed", fixture.ReplaceRewriteGatherClosed, nil)), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		f.collected, f.err = h.RewriteGatherClosed.Fire(f, f.run, &f.item)
	}},
	{"RewriteGatherOpen", func(h *fixture.Hooks, p *part) {
		h.RewriteGatherOpen.Add(fixture.RewriteGatherOpenFunc(both(p, "RewriteGatherOpen", fixture.ReplaceRewriteGatherOpen, nil)), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		f.collected, f.err = h.RewriteGatherOpen.Fire(f, f.run, &f.item)
	}},
	{"RewriteGatherBackClosed", func(h *fixture.Hooks, p *part) {
		h.RewriteGatherBackClosed.Add(fixture.RewriteGatherBackClosedFunc(both(p, "RewriteGatherBackClosed", fixture.ReplaceRewriteGatherBackClosed, nil)), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		f.collected, f.err = h.RewriteGatherBackClosed.Fire(f, f.run, &f.item)
	}},
	{"RewriteGatherBackOpen", func(h *fixture.Hooks, p *part) {
		h.RewriteGatherBackOpen.Add(fixture.RewriteGatherBackOpenFunc(both(p, "RewriteGatherBackOpen", fixture.ReplaceRewriteGatherBackOpen, nil)), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		f.collected, f.err = h.RewriteGatherBackOpen.Fire(f, f.run, &f.item)
	}},
	{"AmendLeaveClosed", func(h *fixture.Hooks, p *part) {
		h.AmendLeaveClosed.Add(fixture.AmendLeaveClosedFunc(decide(p, "AmendLeaveClosed", nil, fixture.EditAmendLeaveClosed)), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		exit, err := h.AmendLeaveClosed.Fire(f, f.run, &f.item)
		f.came(exit, nil, err)
	}},
	{"AmendLeaveOpen", func(h *fixture.Hooks, p *part) {
		h.AmendLeaveOpen.Add(fixture.AmendLeaveOpenFunc(decide(p, "AmendLeaveOpen", nil, fixture.EditAmendLeaveOpen)), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		exit, err := h.AmendLeaveOpen.Fire(f, f.run, &f.item)
		f.came(exit, nil, err)
	}},
	{"AmendLeaveBackClosed", func(h *fixture.Hooks, p *part) {
		h.AmendLeaveBackClosed.Add(fixture.AmendLeaveBackClosedFunc(decide(p, "AmendLeaveBackClosed", nil, fixture.EditAmendLeaveBackClosed)), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		exit, err := h.AmendLeaveBackClosed.Fire(f, f.run, &f.item)
		f.came(exit, nil, err)
	}},
	{"AmendLeaveBackOpen", func(h *fixture.Hooks, p *part) {
		h.AmendLeaveBackOpen.Add(fixture.AmendLeaveBackOpenFunc(decide(p, "AmendLeaveBackOpen", nil, fixture.EditAmendLeaveBackOpen)), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		exit, err := h.AmendLeaveBackOpen.Fire(f, f.run, &f.item)
		f.came(exit, nil, err)
	}},
	{"AmendLeaveGatherClosed", func(h *fixture.Hooks, p *part) {
		h.AmendLeaveGatherClosed.Add(fixture.AmendLeaveGatherClosedFunc(both(p, "AmendLeaveGatherClosed", nil, fixture.EditAmendLeaveGatherClosed)), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		exit, got, err := h.AmendLeaveGatherClosed.Fire(f, f.run, &f.item)
		f.came(exit, got, err)
	}},
	{"AmendLeaveGatherOpen", func(h *fixture.Hooks, p *part) {
		h.AmendLeaveGatherOpen.Add(fixture.AmendLeaveGatherOpenFunc(both(p, "AmendLeaveGatherOpen", nil, fixture.EditAmendLeaveGatherOpen)), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		exit, got, err := h.AmendLeaveGatherOpen.Fire(f, f.run, &f.item)
		f.came(exit, got, err)
	}},
	{"AmendLeaveGatherBackClosed", func(h *fixture.Hooks, p *part) {
		h.AmendLeaveGatherBackClosed.Add(fixture.AmendLeaveGatherBackClosedFunc(both(p, "AmendLeaveGatherBackClosed", nil, fixture.EditAmendLeaveGatherBackClosed)), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		exit, got, err := h.AmendLeaveGatherBackClosed.Fire(f, f.run, &f.item)
		f.came(exit, got, err)
	}},
	{"AmendLeaveGatherBackOpen", func(h *fixture.Hooks, p *part) {
		h.AmendLeaveGatherBackOpen.Add(fixture.AmendLeaveGatherBackOpenFunc(both(p, "AmendLeaveGatherBackOpen", nil, fixture.EditAmendLeaveGatherBackOpen)), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		exit, got, err := h.AmendLeaveGatherBackOpen.Fire(f, f.run, &f.item)
		f.came(exit, got, err)
	}},
	{"AmendClosed", func(h *fixture.Hooks, p *part) {
		h.AmendClosed.Add(fixture.AmendClosedFunc(decide(p, "AmendClosed", nil, fixture.EditAmendClosed)), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		f.err = h.AmendClosed.Fire(f, f.run, &f.item)
	}},
	{"AmendOpen", func(h *fixture.Hooks, p *part) {
		h.AmendOpen.Add(fixture.AmendOpenFunc(decide(p, "AmendOpen", nil, fixture.EditAmendOpen)), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		f.err = h.AmendOpen.Fire(f, f.run, &f.item)
	}},
	{"AmendBackClosed", func(h *fixture.Hooks, p *part) {
		h.AmendBackClosed.Add(fixture.AmendBackClosedFunc(decide(p, "AmendBackClosed", nil, fixture.EditAmendBackClosed)), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		f.err = h.AmendBackClosed.Fire(f, f.run, &f.item)
	}},
	{"AmendBackOpen", func(h *fixture.Hooks, p *part) {
		h.AmendBackOpen.Add(fixture.AmendBackOpenFunc(decide(p, "AmendBackOpen", nil, fixture.EditAmendBackOpen)), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		f.err = h.AmendBackOpen.Fire(f, f.run, &f.item)
	}},
	{"AmendGatherClosed", func(h *fixture.Hooks, p *part) {
		h.AmendGatherClosed.Add(fixture.AmendGatherClosedFunc(both(p, "AmendGatherClosed", nil, fixture.EditAmendGatherClosed)), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		f.collected, f.err = h.AmendGatherClosed.Fire(f, f.run, &f.item)
	}},
	{"AmendGatherOpen", func(h *fixture.Hooks, p *part) {
		h.AmendGatherOpen.Add(fixture.AmendGatherOpenFunc(both(p, "AmendGatherOpen", nil, fixture.EditAmendGatherOpen)), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		f.collected, f.err = h.AmendGatherOpen.Fire(f, f.run, &f.item)
	}},
	{"AmendGatherBackClosed", func(h *fixture.Hooks, p *part) {
		h.AmendGatherBackClosed.Add(fixture.AmendGatherBackClosedFunc(both(p, "AmendGatherBackClosed", nil, fixture.EditAmendGatherBackClosed)), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		f.collected, f.err = h.AmendGatherBackClosed.Fire(f, f.run, &f.item)
	}},
	{"AmendGatherBackOpen", func(h *fixture.Hooks, p *part) {
		h.AmendGatherBackOpen.Add(fixture.AmendGatherBackOpenFunc(both(p, "AmendGatherBackOpen", nil, fixture.EditAmendGatherBackOpen)), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		f.collected, f.err = h.AmendGatherBackOpen.Fire(f, f.run, &f.item)
	}},
	{"LeaveClosed", func(h *fixture.Hooks, p *part) {
		h.LeaveClosed.Add(fixture.LeaveClosedFunc(decide[fixture.LeaveClosedOutcome](p, "LeaveClosed", nil, nil)), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		exit, err := h.LeaveClosed.Fire(f, f.run, f.item)
		f.came(exit, nil, err)
	}},
	{"LeaveOpen", func(h *fixture.Hooks, p *part) {
		h.LeaveOpen.Add(fixture.LeaveOpenFunc(decide[fixture.LeaveOpenOutcome](p, "LeaveOpen", nil, nil)), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		exit, err := h.LeaveOpen.Fire(f, f.run, f.item)
		f.came(exit, nil, err)
	}},
	{"LeaveBackClosed", func(h *fixture.Hooks, p *part) {
		h.LeaveBackClosed.Add(fixture.LeaveBackClosedFunc(decide[fixture.LeaveBackClosedOutcome](p, "LeaveBackClosed", nil, nil)), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		exit, err := h.LeaveBackClosed.Fire(f, f.run, f.item)
		f.came(exit, nil, err)
	}},
	{"LeaveBackOpen", func(h *fixture.Hooks, p *part) {
		h.LeaveBackOpen.Add(fixture.LeaveBackOpenFunc(decide[fixture.LeaveBackOpenOutcome](p, "LeaveBackOpen", nil, nil)), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		exit, err := h.LeaveBackOpen.Fire(f, f.run, f.item)
		f.came(exit, nil, err)
	}},
	{"LeaveGatherClosed", func(h *fixture.Hooks, p *part) {
		h.LeaveGatherClosed.Add(fixture.LeaveGatherClosedFunc(both[fixture.LeaveGatherClosedOutcome](p, "LeaveGatherClosed", nil, nil)), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		exit, got, err := h.LeaveGatherClosed.Fire(f, f.run, f.item)
		f.came(exit, got, err)
	}},
	{"LeaveGatherOpen", func(h *fixture.Hooks, p *part) {
		h.LeaveGatherOpen.Add(fixture.LeaveGatherOpenFunc(both[fixture.LeaveGatherOpenOutcome](p, "LeaveGatherOpen", nil, nil)), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		exit, got, err := h.LeaveGatherOpen.Fire(f, f.run, f.item)
		f.came(exit, got, err)
	}},
	{"LeaveGatherBackClosed", func(h *fixture.Hooks, p *part) {
		h.LeaveGatherBackClosed.Add(fixture.LeaveGatherBackClosedFunc(both[fixture.LeaveGatherBackClosedOutcome](p, "LeaveGatherBackClosed", nil, nil)), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		exit, got, err := h.LeaveGatherBackClosed.Fire(f, f.run, f.item)
		f.came(exit, got, err)
	}},
	{"LeaveGatherBackOpen", func(h *fixture.Hooks, p *part) {
		h.LeaveGatherBackOpen.Add(fixture.LeaveGatherBackOpenFunc(both[fixture.LeaveGatherBackOpenOutcome](p, "LeaveGatherBackOpen", nil, nil)), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		exit, got, err := h.LeaveGatherBackOpen.Fire(f, f.run, f.item)
		f.came(exit, got, err)
	}},
	{"PollClosed", func(h *fixture.Hooks, p *part) {
		h.PollClosed.Add(fixture.PollClosedFunc(decide[fixture.PollClosedOutcome](p, "PollClosed", nil, nil)), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		exit, err := h.PollClosed.Fire(f, f.run, f.item)
		f.came(exit, nil, err)
	}},
	{"PollOpen", func(h *fixture.Hooks, p *part) {
		h.PollOpen.Add(fixture.PollOpenFunc(decide[fixture.PollOpenOutcome](p, "PollOpen", nil, nil)), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		exit, err := h.PollOpen.Fire(f, f.run, f.item)
		f.came(exit, nil, err)
	}},
	{"PollBackClosed", func(h *fixture.Hooks, p *part) {
		h.PollBackClosed.Add(fixture.PollBackClosedFunc(decide[fixture.PollBackClosedOutcome](p, "PollBackClosed", nil, nil)), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		exit, err := h.PollBackClosed.Fire(f, f.run, f.item)
		f.came(exit, nil, err)
	}},
	{"PollBackOpen", func(h *fixture.Hooks, p *part) {
		h.PollBackOpen.Add(fixture.PollBackOpenFunc(decide[fixture.PollBackOpenOutcome](p, "PollBackOpen", nil, nil)), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		exit, err := h.PollBackOpen.Fire(f, f.run, f.item)
		f.came(exit, nil, err)
	}},
	{"PollGatherClosed", func(h *fixture.Hooks, p *part) {
		h.PollGatherClosed.Add(fixture.PollGatherClosedFunc(both[fixture.PollGatherClosedOutcome](p, "PollGatherClosed", nil, nil)), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		exit, got, err := h.PollGatherClosed.Fire(f, f.run, f.item)
		f.came(exit, got, err)
	}},
	{"PollGatherOpen", func(h *fixture.Hooks, p *part) {
		h.PollGatherOpen.Add(fixture.PollGatherOpenFunc(both[fixture.PollGatherOpenOutcome](p, "PollGatherOpen", nil, nil)), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		exit, got, err := h.PollGatherOpen.Fire(f, f.run, f.item)
		f.came(exit, got, err)
	}},
	{"PollGatherBackClosed", func(h *fixture.Hooks, p *part) {
		h.PollGatherBackClosed.Add(fixture.PollGatherBackClosedFunc(both[fixture.PollGatherBackClosedOutcome](p, "PollGatherBackClosed", nil, nil)), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		exit, got, err := h.PollGatherBackClosed.Fire(f, f.run, f.item)
		f.came(exit, got, err)
	}},
	{"PollGatherBackOpen", func(h *fixture.Hooks, p *part) {
		h.PollGatherBackOpen.Add(fixture.PollGatherBackOpenFunc(both[fixture.PollGatherBackOpenOutcome](p, "PollGatherBackOpen", nil, nil)), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		exit, got, err := h.PollGatherBackOpen.Fire(f, f.run, f.item)
		f.came(exit, got, err)
	}},
	{"Gather", func(h *fixture.Hooks, p *part) {
		h.Gather.Add(fixture.GatherFunc(give(p, "Gather")), p.options()...)
	}, func(h *fixture.Hooks, f *fire) {
		f.collected = h.Gather.Fire(f, f.run, f.item)
	}},
	{"GatherClosed", func(h *fixture.Hooks, p *part) {
		h.GatherClosed.Add(fixture.GatherClosedFunc(give(p, "GatherClosed")), p.options()...)
	}, func(h *fixture.Hooks, f *fire) {
		f.collected, f.err = h.GatherClosed.Fire(f, f.run, f.item)
	}},
	{"GatherOpen", func(h *fixture.Hooks, p *part) {
		h.GatherOpen.Add(fixture.GatherOpenFunc(give(p, "GatherOpen")), p.options()...)
	}, func(h *fixture.Hooks, f *fire) {
		f.collected = h.GatherOpen.Fire(f, f.run, f.item)
	}},
	{"GatherBack", func(h *fixture.Hooks, p *part) {
		h.GatherBack.Add(fixture.GatherBackFunc(give(p, "GatherBack")), p.options()...)
	}, func(h *fixture.Hooks, f *fire) {
		f.collected = h.GatherBack.Fire(f, f.run, f.item)
	}},
	{"GatherBackClosed", func(h *fixture.Hooks, p *part) {
		h.GatherBackClosed.Add(fixture.GatherBackClosedFunc(give(p, "GatherBackClosed")), p.options()...)
	}, func(h *fixture.Hooks, f *fire) {
		f.collected, f.err = h.GatherBackClosed.Fire(f, f.run, f.item)
	}},
	{"GatherBackOpen", func(h *fixture.Hooks, p *part) {
		h.GatherBackOpen.Add(fixture.GatherBackOpenFunc(give(p, "GatherBackOpen")), p.options()...)
	}, func(h *fixture.Hooks, f *fire) {
		f.collected = h.GatherBackOpen.Fire(f, f.run, f.item)
	}},
	{"Verify", func(h *fixture.Hooks, p *part) {
		h.Verify.Add(fixture.VerifyFunc(look(p, "Verify")), p.options()...)
	}, func(h *fixture.Hooks, f *fire) {
		f.came(nil, nil, h.Verify.Fire(f, f.run, f.item))
	}},
	{"Wrap", func(h *fixture.Hooks, p *part) {
		h.Wrap.Add(fixture.WrapFunc(wrap[fixture.WrapNext](p, "Wrap")), p.options()...)
	}, func(h *fixture.Hooks, f *fire) {
		f.result, f.err = h.Wrap.Fire(f, f.run, f.item, f.act)
	}},
	{"WrapBack", func(h *fixture.Hooks, p *part) {
		h.WrapBack.Add(fixture.WrapBackFunc(wrap[fixture.WrapBackNext](p, "WrapBack")), p.options()...)
	}, func(h *fixture.Hooks, f *fire) {
		f.result, f.err = h.WrapBack.Fire(f, f.run, f.item, f.act)
	}},
}

package model

import (
	"slices"

	"pgregory.net/rapid"
)

// programs draws programs, a quarter of them with threads.
var programs = rapid.Custom(func(t *rapid.T) program {
	d := &drawing{T: t, threads: d4.Draw(t, "threads") == 3}
	var p program
	// A few points, so that what is drawn meets.
	d.points = rapid.SliceOfN(anyPoint, 1, 2).Draw(t, "points")
	d.spends = d.threads && rapid.Bool().Draw(t, "spends")
	p.Steps = d.steps(steps, 24)
	if d.threads {
		p.Threads = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) []step {
			return d.with(t).steps(threadSteps, 6)
		}), 2, 3).Draw(t, "threads")
	}
	return p
})

// The kinds of steps, as often as they are drawn.
var (
	steps       = []string{"add", "add", "add", "add", "add", "fire", "fire", "fire", "use", "observe", "remove", "layer", "trace", "drain"}
	threadSteps = []string{"add", "fire", "fire", "fire", "use", "observe", "remove", "trace"}
)

// deeds are what hooks do, as often as it is drawn.
var deeds = []deed{goesOn, goesOn, goesOn, replaces, replaces, edits, edits, leaves, leavesToo, contributes, contributes, both,
	fails, panics, panicsNil, lies, hangs, obeys, exits, twice, answers, rescues, forgets}

// anyPoint draws a point: each law as often as the others, though most points are flows.
var anyPoint = rapid.Custom(func(t *rapid.T) string {
	kind := rapid.SampledFrom([]string{"observe", "flow", "vote", "collect", "check", "around"}).Draw(t, "kind")
	return rapid.SampledFrom(slices.DeleteFunc(slices.Clone(pointNames), func(name string) bool { return points[name].kind != kind })).Draw(t, "point")
})

var d4 = rapid.IntRange(0, 3)

// A drawing is a program in the making.
type drawing struct {
	*rapid.T
	points       []string
	threads      bool
	spends       bool // on threads: Once, and no anchors, which what is spent would void at any moment
	regs, layers int
}

// with draws from t what comes next: rapid shrinks what is drawn in groups.
func (d *drawing) with(t *rapid.T) *drawing {
	d.T = t
	return d
}

func (d *drawing) steps(kinds []string, most int) []step {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step { return d.with(t).step(kinds) }), 1, most).Draw(d.T, "steps")
}

func (d *drawing) step(kinds []string) step {
	switch kind := rapid.SampledFrom(kinds).Draw(d.T, "step"); kind {
	case "add":
		a := add{Layer: d.layer(), Hook: d.hook(), Before: d.anchors(), After: d.anchors()}
		a.Reg = d.reg()
		return a
	case "use":
		u := use{Layer: d.layer(), Outrank: d.rarely("outranks"), Before: d.anchors(), After: d.anchors()}
		for range rapid.IntRange(1, 3).Draw(d.T, "hooks") {
			u.Hooks = append(u.Hooks, d.hook())
		}
		if u.Outrank {
			u.Priority = d.priority()
		}
		u.Reg = d.reg()
		return u
	case "observe":
		o := observe{Layer: d.layer(), Point: d.point(), Priority: d.priority(), Async: d.rarely("async"), Before: d.anchors(), After: d.anchors()}
		if d.rarely("all") {
			o.Point = ""
		}
		if d.rarely("fails") {
			o.Does = rapid.SampledFrom([]deed{panics, exits}).Draw(d.T, "does")
		}
		o.Reg = d.reg()
		return o
	case "remove":
		return remove{d.some("reg", d.regs)}
	case "drain":
		return drain{d.some("reg", d.regs)}
	case "layer":
		l := layer{d.layer()}
		d.layers++
		return l
	case "trace":
		return trace{d.layer(), d.rarely("off")}
	default:
		f := fire{Layer: d.layer(), Point: d.point()}
		if d.rarely("act fails") {
			f.Act = rapid.SampledFrom([]deed{fails, panics, exits}).Draw(d.T, "act")
		}
		return f
	}
}

func (d *drawing) hook() hook {
	h := hook{
		Point: d.point(), Priority: d.priority(), Does: rapid.SampledFrom(deeds).Draw(d.T, "deed"), Timeout: d.rarely("timeout"),
		FailClosed: d.rarely("closed"), Once: (!d.threads || d.spends) && d.rarely("once"),
	}
	waits := h.Does == hangs || h.Does == obeys
	if waits && d.rarely("waits") {
		h.Timeout = true
	}
	// What a hook does inside ends at once: a hook that waits must not have two reasons to be given up.
	if !waits && d.rarely("inside") {
		for range rapid.IntRange(1, 2).Draw(d.T, "inside steps") {
			h.Inside = append(h.Inside, d.inside())
		}
	}
	return h
}

// inside draws what a hook does inside.
func (d *drawing) inside() step {
	switch rapid.SampledFrom([]string{"add", "fire", "fire", "remove"}).Draw(d.T, "inside") {
	case "add":
		return add{Layer: d.layer(), Hook: hook{Point: d.point(), Does: contributes}}
	case "remove":
		return remove{d.some("reg", d.regs+1)} // itself too
	default:
		return fire{Layer: d.layer(), Point: d.point()}
	}
}

func (d *drawing) reg() int {
	d.regs++
	return d.regs - 1
}

func (d *drawing) layer() int    { return d.some("layer", d.layers+1) }
func (d *drawing) point() string { return rapid.SampledFrom(d.points).Draw(d.T, "point") }
func (d *drawing) priority() int { return rapid.IntRange(-1, 1).Draw(d.T, "priority") }

func (d *drawing) rarely(what string) bool { return d4.Draw(d.T, what) == 3 }

func (d *drawing) some(what string, n int) int { return rapid.IntRange(0, max(n-1, 0)).Draw(d.T, what) }

// anchors draws registrations that were made before this step.
func (d *drawing) anchors() []int {
	if d.regs == 0 || d.spends || !d.rarely("anchored") {
		return nil
	}
	return rapid.SliceOfNDistinct(rapid.IntRange(0, d.regs-1), 1, 2, rapid.ID).Draw(d.T, "anchors")
}

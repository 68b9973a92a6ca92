package runtime_test

import (
	"fmt"
	"slices"

	"github.com/hookgen/hookgen/tests/points"
	"pgregory.net/rapid"
)

// A Shape restricts random programs.
type Shape struct {
	Points  []*points.Point // nil: all
	Steps   []Step          // zero values of the steps to draw from; repeated ones are more frequent; nil: AllSteps
	Actions []Action        // actions of hooks to draw from; repeated ones are more frequent; nil: AllActions
	Plain   bool            // hooks without Timeout, FailClosed and inner steps
	Hows    []points.How    // nil: all
	Acts    []Action        // actions of wrapped acts; nil: Continues
	Most    int             // maximum number of steps; 0: 24
	Thread  bool            // a quarter of the programs has threads
}

// AllSteps are the kinds of steps; repeated ones are drawn more often.
var AllSteps = []Step{
	Add{}, Add{}, Add{}, Add{}, Add{}, Fire{}, Fire{}, Fire{}, Use{}, Use{Replacing: []int{0}}, Observe{}, Remove{},
	Layer{}, Trace{}, Handle{}, Drain{}, Pin{},
}

// threadSteps are the kinds of steps for threads.
var threadSteps = []Step{Add{}, Fire{}, Fire{}, Fire{}, Use{}, Use{Replacing: []int{0}}, Observe{}, Remove{}, Trace{}}

// AllActions are the actions of hooks; repeated ones are drawn more often.
var AllActions = []Action{Continues, Continues, Continues, Replaces, Replaces, Redirects, Edits, Edits, Leaves,
	LeavesSecond, LeavesThird, Contributes, Contributes, Both,
	Fails, Panics, PanicsNil, Lies, Hangs, Obeys, EndsGoroutine, CallsTwice, KeepsFirst, Answers, AnswersAfter, Rescues,
	FailsAfter, PanicsAfter, Forgets}

// Everything draws programs with all features.
var Everything = Shape{Thread: true, Acts: []Action{Continues, Continues, Continues, Fails, Panics, EndsGoroutine}}

// Draw draws a program.
func (s Shape) Draw(t *rapid.T) Program {
	d := &drawing{T: t, Shape: s}
	if d.Steps == nil {
		d.Steps = AllSteps
	}
	if d.Actions == nil {
		d.Actions = AllActions
	}
	if d.Hows == nil {
		d.Hows = []points.How{points.Plain, points.WithBy, points.ByAnyFire}
	}
	if d.Most == 0 {
		d.Most = 24
	}
	d.threads = s.Thread && d4.Draw(t, "threads") == 3
	var p Program
	// Programs use few points, so that the steps affect each other.
	d.at = rapid.SliceOfN(rapid.Custom(d.anyPoint), 1, 2).Draw(t, "points")
	d.keyed = slices.ContainsFunc(d.at, hasKind)
	p.Steps = d.steps(d.Steps, d.Most)
	if d.threads {
		p.Threads = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) []Step {
			return d.with(t).steps(threadSteps, 6)
		}), 2, 3).Draw(t, "threads")
	}
	return p
}

// anyPoint draws a point. All kinds are equally likely, although most points are flows.
func (d *drawing) anyPoint(t *rapid.T) string {
	of := map[points.Kind][]*points.Point{}
	all := d.Points
	if all == nil {
		all = points.All
	}
	if keyed := slices.DeleteFunc(slices.Clone(all), func(p *points.Point) bool { return p.Key == "" }); len(keyed) > 0 &&
		d4.Draw(t, "keyed") == 3 {
		all = keyed
	}
	var kinds []points.Kind
	for _, p := range all {
		if of[p.Kind] == nil {
			kinds = append(kinds, p.Kind)
		}
		of[p.Kind] = append(of[p.Kind], p)
	}
	kind := rapid.SampledFrom(kinds).Draw(t, "kind")
	return rapid.SampledFrom(of[kind]).Draw(t, "point").Name
}

// deepestUse bounds the levels of Uses in each other's bundles.
const deepestUse = 4

var d4 = rapid.IntRange(0, 3)

// A drawing is a program that is being drawn.
type drawing struct {
	*rapid.T
	Shape
	at           []string // the points
	threads      bool
	keyed        bool // one of them has the key Kind
	regs, layers int
	pins         int
}

// with uses t for the next draws: rapid shrinks draws in groups.
func (d *drawing) with(t *rapid.T) *drawing {
	d.T = t
	return d
}

func (d *drawing) steps(kinds []Step, most int) []Step {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Step { return d.with(t).step(kinds) }), 1, most).Draw(d.T, "steps")
}

func (d *drawing) step(kinds []Step) Step {
	switch step := kinds[rapid.IntRange(0, len(kinds)-1).Draw(d.T, "step")].(type) {
	case Add:
		step = Add{Layer: d.layer(), Hook: d.hook(), Before: d.anchors(), After: d.anchors()}
		step.Reg = d.reg()
		return step
	case Use:
		old := []int(nil)
		if step.Replacing != nil && d.regs > 0 {
			old = []int{d.some("replaced", d.regs)}
		}
		u := d.use(d.layer(), 1)
		u.Replacing = old
		return u
	case Observe:
		step = Observe{
			Layer: d.layer(), Point: d.point(), Priority: d.priority(), Async: d.rarely("async"), Before: d.anchors(),
			After: d.anchors(),
		}
		if d.rarely("all") {
			step.Point = ""
		}
		step.Keys = d.keys(step.Point)
		if !d.Plain && d.rarely("fails") {
			step.Does = rapid.SampledFrom([]Action{Panics, EndsGoroutine}).Draw(d.T, "does")
		}
		step.Reg = d.reg()
		return step
	case Trace:
		return Trace{Layer: d.layer(), Reg: d.reg()}
	case Handle:
		return Handle{Layer: d.layer(), Off: d.rarely("off")}
	case Remove:
		return Remove{d.some("reg", d.regs)}
	case Drain:
		return Drain{d.some("reg", d.regs)}
	case Layer:
		step = Layer{d.layer()}
		d.layers++
		return step
	case Pin:
		d.pins++
		return Pin{d.layer()}
	case Fire:
		step = Fire{Layer: d.layer(), Point: d.point(), How: rapid.SampledFrom(d.Hows).Draw(d.T, "how")}
		if d.pins > 0 && d.rarely("pinned") {
			step.Pin = 1 + d.some("pin", d.pins)
		}
		if hasKind(step.Point) {
			step.Tool = rapid.SampledFrom([]string{"", "a", "b"}).Draw(d.T, "tool")
		}
		if d.Acts != nil && points.Named(step.Point).Kind == points.Around && rapid.Bool().Draw(d.T, "acts") {
			step.Act = rapid.SliceOfN(rapid.SampledFrom(d.Acts), 1, 3).Draw(d.T, "act")
		}
		return step
	default:
		panic(fmt.Sprintf("model: no step %T is drawn", step))
	}
}

// use draws a Use at a level of Uses in each other's bundles.
func (d *drawing) use(layer, level int) Use {
	u := Use{Layer: layer, Outrank: d.rarely("outranks"), Before: d.anchors(), After: d.anchors()}
	for range rapid.IntRange(1, 3).Draw(d.T, "hooks") {
		h := d.hook()
		h.Before, h.After = d.anchors(), d.anchors()
		u.Hooks = append(u.Hooks, h)
	}
	u.Keys = d.keys(u.Hooks[0].Point)
	if u.Outrank {
		u.Priority = d.priority()
	}
	if level < deepestUse && d.rarely("uses") {
		for range rapid.IntRange(1, 2).Draw(d.T, "inner uses") {
			u.Uses = append(u.Uses, d.use(0, level+1)) // later steps and later inner Uses may be anchored to it
		}
	}
	u.Reg = d.reg()
	return u
}

func (d *drawing) hook() Hook {
	h := Hook{Point: d.point(), Priority: d.priority(), Does: rapid.SampledFrom(d.Actions).Draw(d.T, "action")}
	h.Keys = d.keys(h.Point)
	if d.Plain {
		return h
	}
	h.Timeout, h.FailClosed = d.rarely("timeout"), d.rarely("closed")
	waits := h.Does == Hangs || h.Does == Obeys
	if waits && d.rarely("waits") {
		h.Timeout = true
	}
	// Inner steps must return at once: a hook that waits must not have two reasons to time out.
	if !waits && d.rarely("inside") {
		for range rapid.IntRange(1, 2).Draw(d.T, "inside steps") {
			h.Inside = append(h.Inside, d.inside())
		}
	}
	return h
}

// inside draws an inner step of a hook.
func (d *drawing) inside() Step {
	switch rapid.SampledFrom([]string{"add", "fire", "fire", "remove"}).Draw(d.T, "inside") {
	case "add":
		return Add{Layer: d.layer(), Hook: Hook{Point: d.point(), Does: Contributes}}
	case "remove":
		return Remove{d.some("reg", d.regs+1)} // may remove the hook itself
	default:
		return Fire{Layer: d.layer(), Point: d.point()}
	}
}

// hasKind reports whether a point has the key Kind.
func hasKind(point string) bool { return point != "" && points.Named(point).Key == "Kind" }

// keys draws the keys of a registration, also rarely where they are not legal.
func (d *drawing) keys(point string) []string {
	if !d.keyed || !d.rarely("keys") || !hasKind(point) && !d.rarely("illegal keys") {
		return nil
	}
	return rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b"}), 1, 2, rapid.ID).Draw(d.T, "values")
}

func (d *drawing) reg() int {
	d.regs++
	return d.regs - 1
}

func (d *drawing) layer() int    { return d.some("layer", d.layers+1) }
func (d *drawing) point() string { return rapid.SampledFrom(d.at).Draw(d.T, "point") }
func (d *drawing) priority() int { return rapid.IntRange(-1, 1).Draw(d.T, "priority") }

func (d *drawing) rarely(what string) bool { return d4.Draw(d.T, what) == 3 }

func (d *drawing) some(what string, n int) int { return rapid.IntRange(0, max(n-1, 0)).Draw(d.T, what) }

// anchors draws registrations that precede this step.
func (d *drawing) anchors() []int {
	if d.regs == 0 || !d.rarely("anchored") {
		return nil
	}
	return rapid.SliceOfNDistinct(rapid.IntRange(0, d.regs-1), 1, 2, rapid.ID).Draw(d.T, "anchors")
}

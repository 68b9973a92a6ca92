package eventlog

import (
	"time"

	"github.com/hookgen/hookgen/hookkit/hooklog"
)

// A run has the events and the counts of a run.
type run struct {
	id         string
	parentID   string
	start, end time.Time
	spec       int32 // of its first event
	parent     int32 // -1 for none
	depth      int32
	attached   uint32   // the number of the event after which the parent was known
	events     []uint32 // its own
	own, all   Counts   // all includes the runs below it

	outcome, tenant int32   // their numbers
	cost            float64 // not negative
	ended, named    uint32  // the numbers of the events with the result and the name, plus 1; 0 for none
	prompted, talks bool    // the run has a prompt, and a reply of a model
}

// run returns run i, which must exist.
func (x *Index) run(i int32) *run { return x.runs.at(int(i)) }

// Counts are numbers of fires.
type Counts struct {
	Fires    uint32 `json:"fires"`
	Exits    uint32 `json:"exits"`    // that ended with an exit
	Failures uint32 `json:"failures"` // in which a hook failed, or that returned an error
}

func (c *Counts) add(e entry) {
	c.Fires++
	if e.exits {
		c.Exits++
	}
	if e.fails {
		c.Failures++
	}
}

func (c *Counts) addAll(o Counts) {
	c.Fires, c.Exits, c.Failures = c.Fires+o.Fires, c.Exits+o.Exits, c.Failures+o.Failures
}

// tenantLabel is the label of a run that names its tenant.
const tenantLabel = "tenant"

// learn keeps what event n says about its run.
func (x *Index) learn(r *run, event hooklog.Event, n uint32, e entry) {
	x.outcomes.counts[r.outcome]--
	switch result := resultOf(event.Payload); {
	case result.Stop.Cause != "":
		r.ended, r.outcome, r.cost = n+1, x.outcomes.number(result.Stop.Cause), max(0, result.Usage.Cost)
	case r.ended > 0: // observers may fire after the end
	case e.fails:
		r.outcome = x.outcomes.number("failed")
	case e.exits:
		r.outcome = x.outcomes.number(event.Decision)
	}
	x.outcomes.counts[r.outcome]++
	if tenant := event.Run.Labels[tenantLabel]; tenant != "" && r.tenant == 0 {
		r.tenant = x.tenants.number(tenant)
		x.tenants.counts[r.tenant]++
	}
	if r.named == 0 && event.Point == x.Name.Point && x.Name.Of(event.Payload) != "" {
		r.named, x.named = n+1, true
	}
}

// speaks reports whether a fire belongs to the conversation of an agent's run. Each request to a model has the whole
// conversation, so only the first one counts, and those that hooks changed or answered.
func (r *run) speaks(event hooklog.Event, e entry) bool {
	decided := e.exits || e.alters
	switch event.Point {
	case "AfterLLM":
		r.talks = true
		return true
	case "OnRunStart", "AfterTool", "BeforeAsk", "OnPermissionGranted", "OnPermissionDenied", "OnRunError", "OnRunEnd":
		return true
	case "BeforeLLM":
		first := !r.prompted
		r.prompted = true
		return first || decided
	case "BeforeTool", "CheckDone":
		return decided
	}
	return false
}

// maxDepth bounds the nesting of runs. A run that is nested deeper is listed as one without a parent.
const maxDepth = 64

// runOf returns the number of the run of event n.
func (x *Index) runOf(event hooklog.Event, n uint32) int32 {
	if i, ok := x.byID[event.Run.ID]; ok {
		return i
	}
	i, id, parent := int32(x.runs.count), event.Run.ID, event.Run.Parent
	x.byID[id] = i
	x.runs.add(run{
		id: id, parentID: parent, spec: x.specs.number(event.Spec), start: event.Time, end: event.Time, parent: -1,
	})
	if parent != "" {
		if p, ok := x.byID[parent]; ok {
			x.attach(p, i, n)
		} else {
			x.waiting[parent] = append(x.waiting[parent], i)
		}
	}
	for _, child := range x.waiting[id] {
		x.attach(i, child, n)
	}
	delete(x.waiting, id)
	return i
}

// attach makes a run a child of another one, unless they would form a circle or a chain that is too long.
func (x *Index) attach(parent, child int32, n uint32) {
	if h := x.height(child, maxDepth); x.run(parent).depth+h >= maxDepth {
		return
	}
	for p := parent; p >= 0; p = x.run(p).parent {
		if p == child {
			return
		}
	}
	c := x.run(child)
	c.parent, c.attached = parent, n
	x.children[parent] = append(x.children[parent], child)
	x.setDepth(child, x.run(parent).depth+1)
	for p := parent; p >= 0; p = x.run(p).parent {
		x.run(p).all.addAll(c.all)
	}
}

// height returns how many generations a run and its children are, at most most.
func (x *Index) height(i int32, most int32) int32 {
	if most == 0 {
		return 0
	}
	highest := int32(0)
	for _, c := range x.children[i] {
		highest = max(highest, x.height(c, most-1))
	}
	return highest + 1
}

func (x *Index) setDepth(i, depth int32) {
	x.run(i).depth = depth
	for _, c := range x.children[i] {
		x.setDepth(c, depth+1)
	}
}

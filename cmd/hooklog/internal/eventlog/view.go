package eventlog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/hookgen/hookgen/cmd/hooklog/internal/numbers"
	"github.com/hookgen/hookgen/hookkit/hooklog"
)

// A Run is a run of the record.
type Run struct {
	Number   int       `json:"number"`
	ID       string    `json:"id"`     // "" for the events without a run
	Parent   string    `json:"parent"` // the ID of the run that started it
	Spec     string    `json:"spec"`   // of its first event
	Depth    int       `json:"depth"`  // 0 if its parent has no event
	Start    time.Time `json:"start"`
	End      time.Time `json:"end"` // when the hooks of its last fire ended
	Children int       `json:"children"`
	Own      Counts    `json:"own"`
	All      Counts    `json:"all"` // includes the runs below it

	// Outcome is the cause of the result of the run if a payload has one, or else the last exit of its fires, or "failed"
	// if one failed after that; "" for none. Fires that continue do not change it.
	Outcome string  `json:"outcome,omitempty"`
	Tenant  string  `json:"tenant,omitempty"` // the label
	Cost    float64 `json:"cost,omitempty"`   // of the result
	Talks   bool    `json:"talks,omitempty"`  // it is the run of an agent, with a conversation

	First, Last  int `json:"-"` // the numbers of events
	Ended, Named int `json:"-"` // those with the result and the name; -1 for none
}

func (x *Index) view(i int32) Run {
	r := x.run(i)
	return Run{
		Number: int(i), ID: r.id, Parent: r.parentID, Spec: x.specs.texts[r.spec], Depth: int(r.depth),
		Start: r.start, End: r.end, Children: len(x.children[i]), Own: r.own, All: r.all,
		Outcome: x.outcomes.texts[r.outcome], Tenant: x.tenants.texts[r.tenant], Cost: r.cost, Talks: r.talks,
		First: int(r.events[0]), Last: int(r.events[len(r.events)-1]), Ended: int(r.ended) - 1, Named: int(r.named) - 1,
	}
}

// top returns the topmost run above a run. The caller holds mu.
func (x *Index) top(i int32) *run {
	for x.run(i).parent >= 0 {
		i = x.run(i).parent
	}
	return x.run(i)
}

// Run returns a run and the runs above it, the topmost first.
func (x *Index) Run(number int) (r Run, above []Run, ok bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if number < 0 || number >= x.runs.count {
		return Run{}, nil, false
	}
	for p := x.runs.at(number).parent; p >= 0; p = x.run(p).parent {
		above = append(above, x.view(p))
	}
	slices.Reverse(above)
	return x.view(int32(number)), above, true
}

// HasName reports whether a run has a name, see [Index.Name].
func (x *Index) HasName() bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.named
}

// RunByID returns the number of a run.
func (x *Index) RunByID(id string) (number int, ok bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	i, ok := x.byID[id]
	return int(i), ok
}

// An Item is a part of the timeline of a run: a fire, or a run that it started.
type Item struct {
	At     int  // its place in the timeline, from 0; it never changes
	Event  int  // the number of the event of a fire
	Spoken bool // the fire belongs to the conversation of an agent's run
	Run    *Run // nil for a fire
}

// Kinds of fires, for [Index.Items] and [Query].
const (
	AllFires     = ""
	Decisions    = "decisions" // in which a hook decided or failed
	Failures     = "failures"
	Slow         = "slow"         // whose hooks took SlowHooks or longer
	Conversation = "conversation" // of an agent's run; only for Items
)

// SlowHooks is the time from which hooks of a fire count as slow.
const SlowHooks = 100 * time.Millisecond

func (e entry) is(kind string) bool {
	switch kind {
	case Decisions:
		return e.decided
	case Failures:
		return e.fails
	case Slow:
		return e.slow
	case Conversation:
		return e.spoken
	}
	return true
}

// A Window selects a part of a timeline: the first Most items from the place From, or with Last, the last Most items
// before the place Before; fewer if their events are long.
type Window struct {
	From   int
	Before int
	Last   bool
	Most   int
	Kind   string // items of other kinds are left out, and keep their places
}

// Items returns a part of the timeline of a run, in the order of the record, and whether there are more items in the
// direction of the window. Items are only ever added at the end of a timeline.
func (x *Index) Items(number int, w Window) (items []Item, more bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if number < 0 || number >= x.runs.count {
		return nil, false
	}
	r, children := x.runs.at(number), x.children[int32(number)]
	m := merged{x: x, r: r, children: children, kind: w.Kind}
	from := w.From
	if w.Last {
		from = w.Before
	}
	from = max(0, min(from, len(r.events)+len(children)))
	m.child = sort.Search(len(children), func(c int) bool { return x.placeOf(r, children, c) >= from })
	m.event = from - m.child
	for size := 0; ; {
		item, ok := m.step(w.Last)
		if !ok || len(items) == w.Most || size >= mostItemBytes {
			if w.Last {
				slices.Reverse(items)
			}
			return items, ok
		}
		items = append(items, item)
		if item.Run == nil {
			size += int(x.events.at(item.Event).length)
		}
	}
}

// mostItemBytes bounds the bytes of the events of some items, because each may have megabytes.
const mostItemBytes = 64 << 20

// placeOf returns the place of a child in the timeline of a run. It comes before the event with its number.
func (x *Index) placeOf(r *run, children []int32, child int) int {
	n := x.run(children[child]).attached
	return child + sort.Search(len(r.events), func(i int) bool { return r.events[i] >= n })
}

// PlaceInRun returns the place of an event in the timeline of its run.
func (x *Index) PlaceInRun(event int) int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if event < 0 || event >= x.events.count {
		return 0
	}
	number := x.events.at(event).run
	r, children := x.run(number), x.children[number]
	return sort.Search(len(r.events), func(i int) bool { return int(r.events[i]) >= event }) +
		sort.Search(len(children), func(c int) bool { return int(x.run(children[c]).attached) > event })
}

// merged walks over the events and the children of a run in the order of the record.
type merged struct {
	x            *Index
	r            *run
	children     []int32
	kind         string
	event, child int // the next ones; backwards, the ones after them
}

// step returns the next item of the kind, or backwards the one before.
func (m *merged) step(back bool) (Item, bool) {
	for {
		e, c, at := m.event, m.child, m.event+m.child
		if back {
			e, c, at = e-1, c-1, at-1
		}
		hasEvent, hasChild := e >= 0 && e < len(m.r.events), c >= 0 && c < len(m.children)
		if hasEvent && hasChild {
			childFirst := m.x.run(m.children[c]).attached <= m.r.events[e]
			hasEvent = childFirst == back
			hasChild = !hasEvent
		}
		switch {
		case hasEvent:
			m.event = e
			if !back {
				m.event++
			}
			n := m.r.events[e]
			if event := m.x.events.at(int(n)); event.is(m.kind) {
				return Item{At: at, Event: int(n), Spoken: event.spoken}, true
			}
		case hasChild:
			m.child = c
			if !back {
				m.child++
			}
			child := m.x.view(m.children[c])
			return Item{At: at, Run: &child}, true
		default:
			return Item{}, false
		}
	}
}

// A Place is a place in the record.
type Place struct {
	File string `json:"file"` // its name without the directory
	Line int    `json:"line"` // from 1
	Run  int    `json:"run"`  // the number of the run
}

// ErrChanged reports that the file no longer has an event that was read before.
var ErrChanged = fmt.Errorf("the file has changed since the event was read")

// Event reads an event.
func (x *Index) Event(n int) (hooklog.Event, Place, error) {
	line, place, point, err := x.line(n)
	if err != nil {
		return hooklog.Event{}, Place{}, err
	}
	var event hooklog.Event
	if err := json.Unmarshal(line, &event); err != nil || point != numbers.Others && event.Point != point {
		return hooklog.Event{}, Place{}, ErrChanged
	}
	return event, place, nil
}

// mostEarlier and mostEarlierBytes bound the earlier events that Whole reads.
const (
	mostEarlier      = 1000
	mostEarlierBytes = 64 << 20
)

// Whole reads an event with the lists that its line leaves out, see [hooklog.Omitted]. For that it reads the earlier
// events of the run at the point. If there are very many, the lists stay in Omitted.
func (x *Index) Whole(n int) (hooklog.Event, Place, error) {
	e, place, err := x.Event(n)
	if err != nil || len(e.Omitted) == 0 {
		return e, place, err
	}
	var before []uint32 // the latest first
	size := 0
	x.mu.RLock()
	for _, other := range slices.Backward(x.runs.at(place.Run).events) {
		if int(other) > n || x.events.at(int(other)).point != x.events.at(n).point {
			continue
		}
		size += int(x.events.at(int(other)).length)
		if len(before) == mostEarlier || size > mostEarlierBytes {
			break
		}
		before = append(before, other)
	}
	x.mu.RUnlock()
	var text bytes.Buffer
	for _, other := range slices.Backward(before) {
		line, _, _, err := x.line(int(other))
		if err != nil {
			return e, place, err
		}
		text.Write(append(line, '\n'))
	}
	for whole, err := range hooklog.Read(&text) {
		if err != nil {
			return e, place, ErrChanged
		}
		e = whole
	}
	return e.Whole(), place, nil
}

// line reads the line of an event.
func (x *Index) line(n int) (line []byte, place Place, point string, err error) {
	x.mu.RLock()
	if n < 0 || n >= x.events.count || len(x.files) == 0 {
		x.mu.RUnlock()
		return nil, place, "", fmt.Errorf("the record has no event %d", n)
	}
	e := x.events.at(n)
	f, point := x.files[e.file], x.points.texts[e.point]
	x.mu.RUnlock()
	line = make([]byte, e.length)
	if _, err := f.ReadAt(line, e.offset); errors.Is(err, errRemoved) {
		return nil, place, "", err
	} else if err != nil {
		return nil, place, "", fmt.Errorf("%w: %w", ErrChanged, err)
	}
	return line, Place{f.name, int(e.line), int(e.run)}, point, nil
}

// mostNames bounds the names of a kind that a page shows.
const mostNames = 300

// Names are the names in a record, the most frequent ones if there are many.
type Names struct {
	Points    []Name `json:"points"`
	Hooks     []Name `json:"hooks"` // that decided
	Decisions []Name `json:"decisions"`
	Outcomes  []Name `json:"outcomes"` // of runs
	Tenants   []Name `json:"tenants"`  // of runs
}

// Names returns the names.
func (x *Index) Names() Names {
	x.mu.RLock()
	n := Names{x.points.all(), x.hooks.all(), x.choices.all(), x.outcomes.all(), x.tenants.all()}
	x.mu.RUnlock() // before they are sorted, which takes long
	for _, list := range []*[]Name{&n.Points, &n.Hooks, &n.Decisions, &n.Outcomes, &n.Tenants} {
		*list = mostFrequent(*list)
	}
	return n
}

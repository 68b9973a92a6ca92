package hooklog

import (
	"container/list"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"iter"
	"slices"
)

// Diff compares two records fire by fire, for example of the same inputs before and after a change of the hooks:
//
//	for c, err := range hooklog.Diff(hooklog.Read(before), hooklog.Read(after)) {
//		if err == nil && c.Status != hooklog.Same {
//			fmt.Println(c.Was.Point, c.Is.Point, c.Status, c.Why)
//		}
//	}
//
// A run is compared with the run that has the same ID. If the other record does not have the ID, as when a program
// makes new IDs each time, it is compared with the first such run that began in the same way: at the same point, with
// the same payload. In two runs, a fire is compared with the first fire of the same point that has an equal payload. A
// fire without a counterpart is [Missing] or [Added]: for example, those after a call that is denied now. So runs and
// fires may be in another order in the second record.
//
// Two fires are the [Same] under the conditions of [Comparison]. The types are not known here: a field that is absent
// differs from one that is zero, and an error at a point with the law Check counts as a failure.
//
// Each event is in one comparison, which is yielded as soon as it is certain. So they are in no particular order. Diff
// remembers the fires that wait for their counterpart up to 64 MB, and the 65,536 runs of each record that were
// used last. If two fires are farther apart than that, the first is Missing and the second is Added.
//
// An error of was or is, such as a [*LineError], is yielded with the name of the record, and the comparison continues.
func Diff(was, is iter.Seq2[Event, error]) iter.Seq2[Comparison, error] {
	return func(yield func(Comparison, error) bool) {
		d := &differ{yield: yield, byKey: map[waitKey][]*waiting{}, starts: map[uint64]*[2]list.List{}}
		for s, events := range []iter.Seq2[Event, error]{was, is} {
			next, stop := iter.Pull2(events)
			defer stop()
			d.sides[s].next, d.sides[s].runs = next, map[uint64]*diffRun{}
		}
		for d.read() {
			for d.size > maxWaiting && !d.stopped {
				d.settleOldest()
			}
		}
		for d.waiting.Len() > 0 && !d.stopped {
			d.settleOldest()
		}
	}
}

// maxWaiting is the most memory in bytes for fires that wait for their counterpart.
const maxWaiting = 64 << 20

// maxDiffRuns is how many runs of a record are remembered.
const maxDiffRuns = 1 << 16

// A differ compares two records. Everything that belongs to one of them is indexed by 0 for the first and 1 for the
// second.
type differ struct {
	sides   [2]side
	waiting list.List                // of *waiting, in the order in which they were read
	size    int                      // of the waiting fires in bytes
	byKey   map[waitKey][]*waiting   // the waiting fires
	starts  map[uint64]*[2]list.List // of *diffRun, the unbound ones by the hash of their first fire, in order
	yield   func(Comparison, error) bool
	stopped bool // by yield
}

// A side is one of the two records.
type side struct {
	next  func() (Event, error, bool)
	ended bool
	read  int     // events
	lead  float64 // about how many events it is ahead of the ones that find their counterparts
	runs  map[uint64]*diffRun
	used  list.List // of *diffRun, the one that was used last in front
}

// A diffRun is a run of one record.
type diffRun struct {
	side    int
	id      uint64 // the hash of its ID
	began   int    // the number of its first event
	bound   bool   // other is final
	other   *diffRun
	waiting list.List // of *waiting, its fires
	start   uint64
	starts  *list.Element // in the list of starts, until it is bound
	used    *list.Element
}

// A waiting fire has no counterpart yet.
type waiting struct {
	event      Event
	key        waitKey
	number     int // of the event in its record
	size       int
	inAll, own *list.Element // in the lists of all waiting fires and of those of its run
}

// A waitKey finds the waiting fires of a run with equal points and payloads, by their hash.
type waitKey struct {
	run  *diffRun
	fire uint64
}

// read reads the next event, from the record with fewer events that wait for their counterparts. For example, if the
// second record has fewer fires, because its hooks ended runs early, fewer of its events are read. It returns false at
// the end of both.
func (d *differ) read() bool {
	s := 0
	if d.sides[0].ended || !d.sides[1].ended && d.sides[1].lead < d.sides[0].lead {
		s = 1
	}
	from := &d.sides[s]
	if d.stopped || from.ended {
		return false
	}
	e, err, ok := from.next()
	switch {
	case !ok:
		from.ended = true
	case err != nil:
		d.stopped = !d.yield(Comparison{}, fmt.Errorf("the %s record: %w", [...]string{"first", "second"}[s], err))
	default:
		from.read++
		from.lead++
		d.add(s, e.Whole())
	}
	return !d.stopped
}

// add lets an event wait, and compares it with one that waits for it.
func (d *differ) add(s int, e Event) {
	fire := fireKey(e)
	run := d.run(s, e, fire)
	w := &waiting{event: e, key: waitKey{run, fire}, number: d.sides[s].read, size: sizeOf(e)}
	w.inAll, w.own = d.waiting.PushBack(w), run.waiting.PushBack(w)
	d.size += w.size
	d.byKey[w.key] = append(d.byKey[w.key], w)
	if run.bound {
		d.match(w)
	}
}

// run returns the run of an event. A new one is bound to the run of the other record that has the same ID.
func (d *differ) run(s int, e Event, fire uint64) *diffRun {
	from := &d.sides[s]
	id := hashString(e.Run.ID)
	if run := from.runs[id]; run != nil {
		from.used.MoveToFront(run.used)
		return run
	}
	if from.used.Len() == maxDiffRuns {
		d.forget(from.used.Back().Value.(*diffRun))
	}
	run := &diffRun{side: s, id: id, began: from.read, start: fire}
	from.runs[id] = run
	run.used = from.used.PushFront(run)
	if d.starts[fire] == nil {
		d.starts[fire] = new([2]list.List)
	}
	run.starts = d.starts[fire][s].PushBack(run)
	if other := d.sides[1-s].runs[id]; other != nil && !other.bound {
		d.bind(run, other)
	}
	return run
}

// forget settles the fires of a run and of its counterpart, and forgets both.
func (d *differ) forget(run *diffRun) {
	if !run.bound {
		d.bindByOrder(run)
	}
	for _, r := range []*diffRun{run, run.other} {
		if r == nil {
			continue
		}
		for r.waiting.Len() > 0 {
			d.alone(r.waiting.Front().Value.(*waiting))
		}
		d.sides[r.side].used.Remove(r.used)
		delete(d.sides[r.side].runs, r.id)
	}
}

// bind lets the fires of a run be compared with those of another one, and those of other with those of run. If other is
// nil, the fires have no counterparts.
func (d *differ) bind(run, other *diffRun) {
	run.bound, run.other = true, other
	d.started(run)
	if other != nil {
		other.bound, other.other = true, run
		d.started(other)
	}
	for e := run.waiting.Front(); e != nil; {
		w := e.Value.(*waiting)
		e = e.Next() // before the match removes it
		d.match(w)
	}
}

// started removes a run from those that wait for one that began in the same way.
func (d *differ) started(run *diffRun) {
	runs := d.starts[run.start]
	runs[run.side].Remove(run.starts)
	if runs[0].Len()+runs[1].Len() == 0 {
		delete(d.starts, run.start)
	}
}

// bindByOrder binds a run to the first one of the other record that began in the same way, if there is one. A run that
// began much later is not its counterpart: the run with its own ID may still come.
func (d *differ) bindByOrder(run *diffRun) {
	var other *diffRun
	if first := d.starts[run.start][1-run.side].Front(); first != nil {
		other = first.Value.(*diffRun)
	}
	if ended := d.sides[0].ended && d.sides[1].ended; other != nil && !ended && 2*d.age(other) < d.age(run) {
		other = nil
	}
	d.bind(run, other)
}

// age returns how many events were read since a run began.
func (d *differ) age(run *diffRun) int { return d.sides[run.side].read - run.began }

// match compares a waiting fire of a bound run with the first one of the other run that has an equal payload.
func (d *differ) match(w *waiting) {
	run := w.key.run
	if run.other == nil {
		d.alone(w)
		return
	}
	same := d.byKey[waitKey{run.other, w.key.fire}]
	if len(same) == 0 {
		return
	}
	pair := [2]*waiting{w, same[0]}
	if run.side == 1 {
		pair = [2]*waiting{same[0], w}
	}
	for s, matched := range pair {
		// Single matches are far from the others, for example of two fires without a run. The average counts.
		const weight = 1.0 / 16
		from := &d.sides[s]
		from.lead += weight * (float64(from.read-matched.number) - from.lead)
		d.stopWaiting(matched)
	}
	d.send(judge(pair[0].event, pair[1].event, pair[1].event.Failures, eventTypes{}))
}

// stopWaiting removes a fire from the ones that wait.
func (d *differ) stopWaiting(w *waiting) {
	d.waiting.Remove(w.inAll)
	w.key.run.waiting.Remove(w.own)
	d.size -= w.size
	same := d.byKey[w.key]
	switch i := slices.Index(same, w); {
	case len(same) == 1:
		delete(d.byKey, w.key)
	case i == 0:
		d.byKey[w.key] = same[1:] // a deletion would move all others, which may be many
	default:
		d.byKey[w.key] = slices.Delete(same, i, i+1)
	}
}

// settleOldest decides about the fire that has waited for the longest time, or about its run.
func (d *differ) settleOldest() {
	w := d.waiting.Front().Value.(*waiting)
	if w.key.run.bound {
		d.alone(w)
	} else {
		d.bindByOrder(w.key.run)
	}
}

// alone yields a waiting fire that has no counterpart.
func (d *differ) alone(w *waiting) {
	d.stopWaiting(w)
	c := Comparison{Status: Missing, Was: w.event, Why: "the second record does not have the fire"}
	if w.key.run.side == 1 {
		c = Comparison{Status: Added, Is: w.event, Why: "the first record does not have the fire"}
	}
	d.send(c)
}

func (d *differ) send(c Comparison) { d.stopped = d.stopped || !d.yield(c, nil) }

// hashSeed makes hashes that the writer of a record cannot predict.
var hashSeed = maphash.MakeSeed()

func hashString(s string) uint64 { return maphash.String(hashSeed, s) }

// fireKey returns a hash of the point and the payload of an event. Payloads that differ in blanks, in escapes and in
// the order of keys have the same one: a program that moves a field of a payload still finds its old events.
func fireKey(e Event) uint64 {
	return maphash.Comparable(hashSeed, [3]string{e.Spec, e.Point, string(normal(nil, e.Payload))})
}

// sizeOf estimates the memory for an event that waits.
func sizeOf(e Event) int {
	const fixed = 1000 // the struct, and its places in lists and maps
	values := len(e.Payload) + len(e.Final) + len(e.Value) + len(e.Collected)
	names := len(e.Spec) + len(e.Point) + len(e.By) + len(e.Site) + len(e.Run.ID) + len(e.Run.Parent) + len(e.Run.Root)
	rest, _ := json.Marshal([]any{e.Ballots, e.Failures, e.Slow, e.Run.Labels}) // which were read from JSON
	return fixed + values + names + len(e.Reason) + len(e.Error) + len(rest)
}

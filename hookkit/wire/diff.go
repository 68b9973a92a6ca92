package wire

import (
	"container/list"
	"fmt"
	"iter"
	"slices"
)

// Diff compares two records fire by fire, for example of the same inputs before and after a change of the hooks:
//
//	for c, err := range wire.Diff(wire.ReadLog(before), wire.ReadLog(after)) {
//		if err == nil && c.Status != wire.Same {
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
		d := &differ{yield: yield, starts: map[startKey]*[2]list.List{}}
		for s, events := range []iter.Seq2[Event, error]{was, is} {
			next, stop := iter.Pull2(events)
			defer stop()
			d.sides[s].next, d.sides[s].runs, d.byKey[s] = next, map[uint64]*diffRun{}, map[waitKey][]*waiting{}
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

// maxCandidates is how many waiting fires are compared with a fire whose payload has the same hash. Two payloads with
// one hash can differ if they have a key twice, in another order. A record of such payloads would take hours.
const maxCandidates = 16

// A differ compares two records. Everything that belongs to one of them is indexed by 0 for the first and 1 for the
// second.
type differ struct {
	sides   [2]side
	waiting list.List                  // of *waiting, in the order in which they were read
	size    int                        // of the waiting fires in bytes
	byKey   [2]map[waitKey][]*waiting  // the waiting fires of runs that have a pair
	starts  map[startKey]*[2]list.List // of *diffRun, the ones without a pair, in the order in which they began
	byID    int                        // how many runs were bound to another one by their ID
	byOrder int                        // how many were bound because of their order
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
	pair    *diffPair
	waiting list.List // of *waiting, its fires
	start   startKey
	starts  *list.Element // in the list of starts, as long as it has no pair
	used    *list.Element
}

// A startKey is the beginning of a run. Two runs with equal keys began in the same way.
type startKey struct{ point, payload uint64 }

// A diffPair has two runs that are compared with each other, or one run that has no counterpart.
type diffPair struct{ runs [2]*diffRun }

// A waiting fire has no counterpart yet.
type waiting struct {
	event      Event
	key        uint64 // the hash of its point and payload
	number     int    // of the event in its record
	size       int
	run        *diffRun
	inAll, own *list.Element // in the lists of all waiting fires and of those of its run
}

// A waitKey finds the waiting fires of a pair that may be counterparts.
type waitKey struct {
	pair *diffPair
	key  uint64
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
		d.add(s, e)
	}
	return !d.stopped
}

// add compares an event with one that waits for it, or lets it wait.
func (d *differ) add(s int, e Event) {
	run := d.run(s, e)
	w := &waiting{event: e, key: fireKey(e), number: d.sides[s].read, size: sizeOf(e), run: run}
	if run.pair != nil {
		d.match(w)
		return
	}
	d.wait(w)
}

// run returns the run of an event. A new one becomes a pair with the run of the other record that has the same ID.
func (d *differ) run(s int, e Event) *diffRun {
	from := &d.sides[s]
	id := hashString(e.Run.ID)
	if run := from.runs[id]; run != nil {
		from.used.MoveToFront(run.used)
		return run
	}
	if from.used.Len() == maxDiffRuns {
		d.forget(from.used.Back().Value.(*diffRun))
	}
	run := &diffRun{side: s, id: id, began: from.read}
	run.start = startKey{mix(hashString(e.Spec), hashString(e.Point)), hashJSON(e.Payload)}
	from.runs[id] = run
	run.used = from.used.PushFront(run)
	if d.starts[run.start] == nil {
		d.starts[run.start] = new([2]list.List)
	}
	run.starts = d.starts[run.start][s].PushBack(run)
	const enough = 50
	if other := d.sides[1-s].runs[id]; other != nil && other.pair == nil {
		if e.Run.ID != "" {
			d.byID++
		}
		d.bind(other, run)
	} else if d.byID == 0 && d.byOrder >= enough {
		d.bindAll(run.start) // the IDs differ throughout, so nothing is gained by waiting
	}
	return run
}

// forget settles the fires of a run and of its counterpart, and forgets both.
func (d *differ) forget(run *diffRun) {
	if run.pair == nil {
		d.bindByOrder(run)
	}
	for s, r := range run.pair.runs {
		if r == nil {
			continue
		}
		for r.waiting.Len() > 0 {
			d.alone(r.waiting.Front().Value.(*waiting))
		}
		d.sides[s].used.Remove(r.used)
		delete(d.sides[s].runs, r.id)
	}
}

// bind makes runs of the two records a pair. One may be nil: then the fires of the other have no counterpart.
func (d *differ) bind(a, b *diffRun) {
	pair := &diffPair{}
	var all []*waiting
	for _, run := range []*diffRun{a, b} {
		if run == nil {
			continue
		}
		for run.waiting.Len() > 0 {
			w := run.waiting.Front().Value.(*waiting)
			d.stopWaiting(w)
			all = append(all, w)
		}
		pair.runs[run.side], run.pair = run, pair
		runs := d.starts[run.start]
		runs[run.side].Remove(run.starts)
		if runs[0].Len()+runs[1].Len() == 0 {
			delete(d.starts, run.start)
		}
	}
	for _, w := range all {
		d.match(w)
	}
}

// bindByOrder makes a run and the first one of the other record that began in the same way a pair, if there is one. A
// run that began much later is not its counterpart: the run with its own ID may still come.
func (d *differ) bindByOrder(run *diffRun) {
	var other *diffRun
	if first := d.starts[run.start][1-run.side].Front(); first != nil {
		other = first.Value.(*diffRun)
	}
	if ended := d.sides[0].ended && d.sides[1].ended; other != nil && !ended && 2*d.age(other) < d.age(run) {
		other = nil
	}
	if other != nil {
		d.byOrder++
	}
	d.bind(run, other)
}

// bindAll makes pairs of all runs that began in the same way.
func (d *differ) bindAll(start startKey) {
	for runs := d.starts[start]; runs[0].Len() > 0 && runs[1].Len() > 0; {
		d.bind(runs[0].Front().Value.(*diffRun), runs[1].Front().Value.(*diffRun))
	}
}

// age returns how many events were read since a run began.
func (d *differ) age(run *diffRun) int { return d.sides[run.side].read - run.began }

// match compares a fire with the first one of the other run that has an equal payload, or lets it wait.
func (d *differ) match(w *waiting) {
	s, pair := w.run.side, w.run.pair
	if pair.runs[1-s] == nil {
		d.send(aloneComparison(w))
		return
	}
	same := d.byKey[1-s][waitKey{pair, w.key}]
	for _, other := range same[:min(len(same), maxCandidates)] {
		if !samePayload(w.event, other.event) {
			continue
		}
		d.stopWaiting(other)
		for _, matched := range []*waiting{w, other} {
			// Single matches are far from the others, for example of two fires without a run. The average counts.
			const weight = 1.0 / 16
			from := &d.sides[matched.run.side]
			from.lead += weight * (float64(from.read-matched.number) - from.lead)
		}
		if s == 0 {
			w, other = other, w
		}
		d.send(compareEvents(other.event, w.event))
		return
	}
	d.wait(w)
}

// wait adds a fire to the ones that wait.
func (d *differ) wait(w *waiting) {
	w.inAll, w.own = d.waiting.PushBack(w), w.run.waiting.PushBack(w)
	d.size += w.size
	if pair := w.run.pair; pair != nil {
		same := d.byKey[w.run.side]
		same[waitKey{pair, w.key}] = append(same[waitKey{pair, w.key}], w)
	}
}

// stopWaiting removes a fire from the ones that wait.
func (d *differ) stopWaiting(w *waiting) {
	d.waiting.Remove(w.inAll)
	w.run.waiting.Remove(w.own)
	d.size -= w.size
	if w.run.pair == nil {
		return
	}
	key, all := waitKey{w.run.pair, w.key}, d.byKey[w.run.side]
	same := all[key]
	switch i := slices.Index(same, w); {
	case len(same) == 1:
		delete(all, key)
	case i == 0:
		all[key] = same[1:] // a deletion would move all others, which may be many
	default:
		all[key] = slices.Delete(same, i, i+1)
	}
}

// settleOldest decides about the fire that has waited for the longest time, or about its run.
func (d *differ) settleOldest() {
	w := d.waiting.Front().Value.(*waiting)
	if w.run.pair == nil {
		d.bindByOrder(w.run)
		return
	}
	d.alone(w)
}

// alone yields a waiting fire that has no counterpart.
func (d *differ) alone(w *waiting) {
	d.stopWaiting(w)
	d.send(aloneComparison(w))
}

func (d *differ) send(c Comparison) { d.stopped = d.stopped || !d.yield(c, nil) }

func aloneComparison(w *waiting) Comparison {
	if w.run.side == 0 {
		return Comparison{Status: Missing, Was: w.event, Why: "the second record does not have the fire"}
	}
	return Comparison{Status: Added, Is: w.event, Why: "the first record does not have the fire"}
}

// compareEvents compares two fires with equal payloads.
func compareEvents(was, is Event) Comparison {
	c := Comparison{Status: Same, Was: was, Is: is}
	if len(was.Failures) == 0 && was.Error == "" && len(is.Failures) > 0 {
		c.Status, c.Why = Failed, describeFailure(is.Failures[0])
	} else if c.Why = difference(eventTypes{}, was, is); c.Why != "" {
		c.Status = Changed
	}
	return c
}

// sizeOf estimates the memory for an event that waits.
func sizeOf(e Event) int {
	const fixed = 1000 // the struct, and its places in lists and maps
	size := fixed + len(e.Payload) + len(e.Final) + len(e.Value) + len(e.Collected) + len(e.Reason) + len(e.Error) +
		len(e.Spec) + len(e.Point) + len(e.By) + len(e.Site) + len(e.Run.ID) + len(e.Run.Parent) + len(e.Run.Root)
	for name, label := range e.Run.Labels {
		size += 100 + len(name) + len(label)
	}
	for _, b := range e.Ballots {
		size += 100 + len(b.By) + len(b.Site) + len(b.Decision) + len(b.Reason) + len(b.Value)
	}
	for _, f := range e.Failures {
		size += 50 + len(f.By) + len(f.Site) + len(f.Cause)
	}
	return size
}

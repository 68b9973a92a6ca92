package eventlog

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"
)

// The orders of runs, each beginning with the most.
const (
	Newest  = ""         // that began last in the record
	Longest = "duration" // by the time from its first fire to its last
	Dearest = "cost"
	Fullest = "fires"
)

// A Mark is the place of a run in an order: its key in the order, and its number.
type Mark struct {
	Key    float64 `json:"key"`
	Number int     `json:"number"`
}

// Start is the mark before the first run of each order.
var Start = Mark{math.Inf(1), math.MaxInt}

// compare orders marks, the larger first.
func (m Mark) compare(o Mark) int {
	return cmp.Or(cmp.Compare(o.Key, m.Key), cmp.Compare(o.Number, m.Number))
}

// FindRuns returns the runs without a parent that a query selects, in an order: at most most of those after a mark. A
// run is selected if the conditions about runs hold for it, and those about fires for a fire of it or of a run below
// it.
//
// After the time within, FindRuns returns the runs found so far. If next is not nil, the search can continue after it.
// One run is always looked at as a whole, unless the context ends.
func (x *Index) FindRuns(
	ctx context.Context, q Query, order string, after Mark, most int, within time.Duration,
) (runs []Run, next *Mark) {
	f := x.finder(q)
	if f == nil {
		return nil, nil
	}
	size := most + 1
	if f.looks() {
		size = max(size, 1<<14) // many of them may not be selected
	}
	begin, batch := after, f.candidates(order, after, size)
	end := time.Now().Add(within)
	for _, m := range batch {
		if len(runs) == most || after != begin && time.Now().After(end) || ctx.Err() != nil {
			return runs, &after
		}
		if !f.looks() || f.inRun(ctx, m.Number) {
			r, _, _ := x.Run(m.Number)
			runs = append(runs, r)
		}
		after = m
	}
	if len(batch) == size {
		return runs, &after
	}
	return runs, nil
}

// looks reports whether the query has a condition about fires.
func (f *finder) looks() bool {
	return len(f.text) > 0 || f.point >= 0 || f.hook >= 0 || f.choice >= 0 || f.q.Kind != AllFires
}

// candidates returns the first runs after a mark, at most size, for which the conditions about runs hold.
func (f *finder) candidates(order string, after Mark, size int) []Mark {
	f.x.mu.RLock()
	defer f.x.mu.RUnlock()
	if f.generation != f.x.status.Generation {
		return nil
	}
	from := f.x.runs.count
	if order == Newest {
		from = min(from, after.Number)
	}
	var best []Mark
	full := false // the first ones of best are sorted
	for i := from - 1; i >= 0; i-- {
		r := f.x.runs.at(i)
		m := Mark{r.key(order), i}
		if r.parent >= 0 || m.compare(after) <= 0 || full && m.compare(best[size-1]) > 0 || !f.fits(r) {
			continue
		}
		best = append(best, m)
		if order == Newest && len(best) == size {
			break
		}
		if len(best) == 2*size {
			slices.SortFunc(best, Mark.compare)
			best, full = best[:size], true
		}
	}
	slices.SortFunc(best, Mark.compare)
	return best[:min(len(best), size)]
}

// key returns the number that an order compares.
func (r *run) key(order string) float64 {
	switch order {
	case Longest:
		return float64(r.end.Sub(r.start))
	case Dearest:
		return r.cost
	case Fullest:
		return float64(r.all.Fires)
	case Failures:
		return float64(r.all.Failures)
	}
	return 0
}

// fits reports whether the conditions about runs hold. The caller holds mu.
func (f *finder) fits(r *run) bool {
	return (f.outcome < 0 || r.outcome == f.outcome) && (f.tenant < 0 || r.tenant == f.tenant) &&
		r.cost >= f.q.MinCost && r.end.Sub(r.start) >= f.q.MinDuration
}

// inRun reports whether the conditions about fires hold for a fire of a run, or of a run below it.
func (f *finder) inRun(ctx context.Context, number int) bool {
	f.x.mu.RLock()
	if f.generation != f.x.status.Generation {
		f.x.mu.RUnlock()
		return false
	}
	events, children := f.x.runs.at(number).events, f.x.children[int32(number)] // which only grow
	f.x.mu.RUnlock()
	for _, n := range events {
		if ctx.Err() != nil {
			return false
		}
		if e, ok := f.candidate(int(n)); ok && (len(f.text) == 0 || f.has(e)) {
			return true
		}
	}
	return slices.ContainsFunc(children, func(c int32) bool { return f.inRun(ctx, int(c)) })
}

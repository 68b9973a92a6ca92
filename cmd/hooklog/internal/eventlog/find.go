package eventlog

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hookgen/hookgen/hookkit/hooklog"
)

// A Query selects fires, or runs with such fires. Its zero value selects all.
type Query struct {
	Text     string // occurs in a name, a reason, an error or a payload, in any case
	Point    string
	Hook     string // that decided
	Decision string
	Kind     string // [AllFires], [Decisions], [Failures] or [Slow]

	// Conditions about the run without a parent to which the fire belongs.
	Outcome     string // see [Run]
	Tenant      string
	MinCost     float64
	MinDuration time.Duration
}

// Find returns the numbers of the fires that a query selects, the newest first: at most most of those below before. It
// looks at events until the context ends. A result of next > 0 says that the search can continue before next.
func (x *Index) Find(ctx context.Context, q Query, before, most int) (found []int, next int) {
	f := x.finder(q)
	if f == nil {
		return nil, 0
	}
	const many = 4096 // events between two looks at the context
	for n := min(before, f.events) - 1; n >= 0; n-- {
		if n%many == 0 && ctx.Err() != nil || len(found) == most {
			return found, n + 1
		}
		e, ok := f.candidate(n)
		if !ok {
			continue
		}
		if len(f.text) > 0 && ctx.Err() != nil {
			return found, n + 1
		}
		if len(f.text) == 0 || f.has(e) {
			found = append(found, n)
		}
	}
	return found, 0
}

// EventOf returns the number of the event of a run that has a sequence number and, unless begin is zero, began at that
// time: two programs that write one run may use a number twice. These do not change when a record is read again, and
// numbers of events do. It returns -1 if there is no such event, or when the context ends.
func (x *Index) EventOf(ctx context.Context, run string, seq int64, begin time.Time) int {
	x.mu.RLock()
	var events []uint32
	if i, ok := x.byID[run]; ok {
		events = x.run(i).events // which only grows
	}
	x.mu.RUnlock()
	digits := strconv.AppendInt(nil, seq, 10)
	for _, n := range events {
		if ctx.Err() != nil {
			return -1
		}
		line, _, _, err := x.line(int(n))
		var e hooklog.Event
		if err != nil || !bytes.Contains(line, digits) || json.Unmarshal(line, &e) != nil {
			continue
		}
		if e.Run.ID == run && e.Seq == seq && (begin.IsZero() || e.Time.Equal(begin)) {
			return int(n)
		}
	}
	return -1
}

// A finder finds the events of a query.
type finder struct {
	x                   *Index
	q                   Query
	text, quoted        []byte // in lower case; quoted as in JSON
	events              int
	generation          int64
	point, hook, choice int32 // -1 for any
	outcome, tenant     int32
	line                []byte
}

// finder returns nil if no event has one of the names.
func (x *Index) finder(q Query) *finder {
	x.mu.RLock()
	defer x.mu.RUnlock()
	f := &finder{x: x, q: q, events: x.events.count, generation: x.status.Generation}
	text := strings.ToLower(strings.TrimSpace(q.Text))
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err) // a string can be encoded
	}
	f.text, f.quoted = []byte(text), Readable(bytes.Trim(quoted, `"`))
	for _, part := range []struct {
		name   string
		names  *names
		number *int32
	}{{q.Point, &x.points, &f.point}, {q.Hook, &x.hooks, &f.hook}, {q.Decision, &x.choices, &f.choice},
		{q.Outcome, &x.outcomes, &f.outcome}, {q.Tenant, &x.tenants, &f.tenant}} {
		*part.number = -1
		if part.name != "" {
			n, ok := part.names.numbers[part.name]
			if !ok {
				return nil
			}
			*part.number = n
		}
	}
	return f
}

// A reference is the place of an event.
type reference struct {
	file   *file
	offset int64
	length uint32
}

// candidate returns an event that the query selects if it has the text.
func (f *finder) candidate(n int) (reference, bool) {
	f.x.mu.RLock()
	defer f.x.mu.RUnlock()
	if f.generation != f.x.status.Generation || len(f.x.files) == 0 {
		return reference{}, false
	}
	e := f.x.events.at(n)
	ok := (f.point < 0 || e.point == f.point) && (f.hook < 0 || e.by == f.hook) &&
		(f.choice < 0 || e.choice == f.choice) && e.is(f.q.Kind) && f.fits(f.x.top(e.run))
	return reference{f.x.files[e.file], e.offset, e.length}, ok
}

// has reports whether an event has the text. It looks at the whole line first, because that is quick.
func (f *finder) has(r reference) bool {
	f.line = slices.Grow(f.line[:0], int(r.length))[:r.length]
	var e hooklog.Event
	_, err := r.file.ReadAt(f.line, r.offset)
	if err != nil || !f.in(f.line) || json.Unmarshal(f.line, &e) != nil {
		return false
	}
	texts := []string{e.Point, e.Spec, e.Run.ID, e.Run.Parent, e.Decision, e.By, e.Site, e.Reason, e.Error}
	values := []json.RawMessage{e.Key, e.Payload, e.Final, e.Value, e.Collected}
	for name, label := range e.Run.Labels {
		texts = append(texts, name, label)
	}
	for _, b := range e.Ballots {
		texts, values = append(texts, b.By, b.Site, b.Decision, b.Reason), append(values, b.Value)
	}
	for _, g := range e.Failures {
		texts = append(texts, g.By, g.Site, g.Cause)
	}
	for _, h := range e.Slow {
		texts = append(texts, h.By, h.Site)
	}
	hasText := func(t string) bool { return strings.Contains(strings.ToLower(t), string(f.text)) }
	return slices.ContainsFunc(texts, hasText) ||
		slices.ContainsFunc(values, func(v json.RawMessage) bool { return f.in(v) })
}

// in reports whether a JSON text has the text, as the page shows it or within a string.
func (f *finder) in(value []byte) bool {
	value = bytes.ToLower(Readable(value))
	return bytes.Contains(value, f.text) || bytes.Contains(value, f.quoted)
}

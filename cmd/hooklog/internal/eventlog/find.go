package eventlog

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/hookgen/hookgen/hookkit/hooklog"
	"github.com/hookgen/hookgen/hookkit/wire"
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
		if len(f.text) == 0 {
			found = append(found, n)
			continue
		}
		if ctx.Err() != nil {
			return found, n + 1
		}
		if f.has(e) {
			found = append(found, n)
		}
	}
	return found, 0
}

// A finder finds the events of a query.
type finder struct {
	x                              *Index
	q                              Query
	text                           []byte // folded
	events, generation             int
	point, hook, choice, continues int32 // -1 for any
	outcome, tenant                int32
	line, folded                   []byte
}

// finder returns nil if no event has one of the names.
func (x *Index) finder(q Query) *finder {
	x.mu.RLock()
	defer x.mu.RUnlock()
	f := &finder{x: x, q: q, events: x.events.count, generation: x.status.Generation, continues: -1}
	f.text = fold(nil, []byte(strings.TrimSpace(q.Text)), false)
	if n, ok := x.choices.numbers[wire.Continue]; ok {
		f.continues = n
	}
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
	file   *os.File
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
		(f.choice < 0 || e.choice == f.choice) && e.is(f.q.Kind, f.continues) && f.fits(f.x.top(e.run))
	return reference{f.x.files[e.file].File, e.offset, e.length}, ok
}

// has reports whether an event has the text. It looks at the whole line first, because that is quick.
func (f *finder) has(r reference) bool {
	if cap(f.line) < int(r.length) {
		f.line = make([]byte, r.length)
	}
	f.line = f.line[:r.length]
	if _, err := r.file.ReadAt(f.line, r.offset); err != nil {
		return false
	}
	f.folded = fold(f.folded[:0], f.line, true)
	if !bytes.Contains(f.folded, f.text) {
		return false
	}
	var e hooklog.Event
	if json.Unmarshal(f.line, &e) != nil {
		return false
	}
	for _, text := range []string{e.Point, e.Spec, e.Run.ID, e.Run.Parent, e.Decision, e.By, e.Site, e.Reason, e.Error} {
		if f.in([]byte(text), false) {
			return true
		}
	}
	for name, label := range e.Run.Labels {
		if f.in([]byte(name), false) || f.in([]byte(label), false) {
			return true
		}
	}
	for _, b := range e.Ballots {
		if f.in([]byte(b.By+"\n"+b.Site+"\n"+b.Decision+"\n"+b.Reason), false) || f.in(b.Value, true) {
			return true
		}
	}
	for _, g := range e.Failures {
		if f.in([]byte(g.By+"\n"+g.Site+"\n"+g.Cause), false) {
			return true
		}
	}
	return f.in(e.Payload, true) || f.in(e.Final, true) || f.in(e.Value, true) || f.in(e.Collected, true)
}

func (f *finder) in(text []byte, isJSON bool) bool {
	f.folded = fold(f.folded[:0], text, isJSON)
	return bytes.Contains(f.folded, f.text)
}

// fold appends a text in lower case. In JSON it decodes the escapes in strings, so that a reader finds the
// text that the page shows.
func fold(to, text []byte, isJSON bool) []byte {
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c == '\\' && isJSON && i+1 < len(text):
			r, size := unescape(text[i:])
			to = utf8.AppendRune(to, unicode.ToLower(r))
			i += size
		case c < utf8.RuneSelf:
			if 'A' <= c && c <= 'Z' {
				c += 'a' - 'A'
			}
			to = append(to, c)
			i++
		default:
			r, size := utf8.DecodeRune(text[i:])
			to = utf8.AppendRune(to, unicode.ToLower(r))
			i += size
		}
	}
	return to
}

// unescape returns the character of the escape at the beginning of a text, and its length.
func unescape(text []byte) (r rune, size int) {
	switch text[1] {
	case 'n':
		return '\n', 2
	case 't':
		return '\t', 2
	case 'r':
		return '\r', 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'u':
	default:
		return rune(text[1]), 2
	}
	first, ok := hex4(text)
	if !ok {
		return 'u', 2
	}
	const one = len(`\u0000`)
	if utf16.IsSurrogate(first) {
		if second, ok := hex4(text[one:]); ok {
			if r := utf16.DecodeRune(first, second); r != utf8.RuneError {
				return r, 2 * one
			}
		}
	}
	return first, one
}

// hex4 reads the number of an escape such as \u00e9.
func hex4(text []byte) (rune, bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	return rune(n), err == nil
}

package points

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/tests/fixture"
)

// A codec converts between the types of tests and of a point.
type codec struct {
	to   func(any) any
	from func(any) any
}

func codecOf[A, B any](to func(A) B, from func(B) A) codec {
	return codec{func(v any) any { return to(v.(A)) }, func(v any) any { b, _ := v.(B); return from(b) }}
}

func same[A any](a A) A { return a }

// payloads are the codecs of an Item, by the payload's type in the spec.
var payloads = map[string]codec{
	"Item": codecOf(same[fixture.Item], same[fixture.Item]),
	"Parcel": codecOf(func(i fixture.Item) fixture.Parcel {
		return fixture.Parcel{Note: i.Note, Item: i, Tag: fixture.Tag{Kind: KindOf(i)}}
	}, func(p fixture.Parcel) fixture.Item {
		p.Item.Note = p.Note
		return p.Item
	}),
	"*Item": codecOf(func(i fixture.Item) *fixture.Item { return &i }, func(i *fixture.Item) fixture.Item {
		return *i
	}),
	"Envelope[Item]": codecOf(func(i fixture.Item) fixture.Envelope[fixture.Item] {
		return fixture.Envelope[fixture.Item]{Body: i}
	}, func(e fixture.Envelope[fixture.Item]) fixture.Item { return e.Body }),
	"time.Duration": codecOf(func(i fixture.Item) time.Duration { return time.Duration(items.put(i)) },
		func(d time.Duration) fixture.Item { return items.get(int64(d)) }),
	"any": codecOf(same[fixture.Item], same[fixture.Item]),
	"struct{}": codecOf(func(fixture.Item) struct{} { return struct{}{} }, func(struct{}) fixture.Item {
		return fixture.Item{}
	}),
	"[]Item": codecOf(func(i fixture.Item) []fixture.Item { return []fixture.Item{i} },
		func(is []fixture.Item) fixture.Item { return is[0] }),
	"error": codecOf(func(i fixture.Item) error { return itemError{i} }, func(err error) fixture.Item {
		var item itemError
		_ = errors.As(err, &item)
		return item.item
	}),
}

// itemError is an Item as an error payload.
type itemError struct{ item fixture.Item }

func (e itemError) Error() string { return string(e.item.Note) }

// KindOf returns the key of an Item as a Parcel. Hooks that replace the item append "+" to its Tool.
func KindOf(i fixture.Item) string { return strings.TrimRight(i.Tool, "+") }

// results are the codecs of a Result.
var results = map[string]codec{
	"Result": codecOf(same[fixture.Result], same[fixture.Result]),
	"time.Time": codecOf(func(r fixture.Result) time.Time {
		if r == (fixture.Result{}) {
			return time.Time{}
		}
		return time.Unix(0, yields.put(r))
	}, func(t time.Time) fixture.Result {
		if t.IsZero() {
			return fixture.Result{}
		}
		return yields.get(t.UnixNano())
	}),
}

// contributions are the codecs of a []string.
var contributions = map[string]codec{
	"string": codecOf(same[[]string], same[[]string]),
	"map[string]int": codecOf(func(values []string) []map[string]int {
		var maps []map[string]int
		for _, v := range values {
			maps = append(maps, map[string]int{v: 1})
		}
		return maps
	}, func(maps []map[string]int) []string {
		var values []string
		for _, m := range maps {
			for v := range m {
				values = append(values, v)
			}
		}
		return values
	}),
}

// readTypes looks up the codecs of the point. Add a codec above for every new type.
func (p *Point) readTypes(info hookkit.AnyPoint) {
	find := func(all map[string]codec, typ string) codec {
		c, ok := all[typ]
		if !ok {
			panic(fmt.Sprintf("points: %s: there is no conversion for the type %s", info.Name, typ))
		}
		return c
	}
	p.payload, p.Blank = find(payloads, info.Payload), info.Payload == "struct{}"
	for _, r := range strings.Split(info.Results, ", ") {
		if typ, ok := strings.CutPrefix(r, "Collect["); ok {
			p.values = find(contributions, strings.TrimSuffix(typ, "]"))
		}
		if typ, ok := strings.CutPrefix(r, "Around["); ok {
			p.result = find(results, strings.TrimSuffix(typ, "]"))
		}
	}
}

// A store keeps values by number, for types that can only hold a number.
type store[T any] struct {
	mu     sync.Mutex
	values map[int64]T
	next   int64
}

var (
	items  store[fixture.Item]
	yields store[fixture.Result]
)

// Forget drops the values of the payloads and results so far, so that a test of many programs needs little memory.
func Forget() {
	items.forget()
	yields.forget()
}

func (s *store[T]) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.values = nil
}

func (s *store[T]) put(v T) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.values == nil {
		s.values = make(map[int64]T)
	}
	s.next++
	s.values[s.next] = v
	return s.next
}

func (s *store[T]) get(n int64) T {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.values[n]
}

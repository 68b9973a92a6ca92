package hooklog

import (
	"bytes"
	linked "container/list"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"slices"

	"github.com/hookgen/hookgen/internal/jsonscan"
)

// An Omitted says that a list in an event begins with elements that an earlier event has, and that they are left out.
// For example, each request of an agent to its model has the whole conversation, and its event only the new messages.
// So a record is as long as the conversation, and not as its square.
//
// The elements are those at the beginning of the last such list: in an event of the same run, point and field, before
// this one in the record. [Event.Whole] puts them back.
type Omitted struct {
	In     string `json:"in"`     // payload or final
	List   string `json:"list"`   // the field with the list, for example messages
	Count  int    `json:"count"`  // of the elements
	Digest string `json:"digest"` // of the elements, to notice that the last list is missing in the record
}

const (
	minList    = 1 << 10  // bytes of a list that is remembered
	maxLists   = 64 << 20 // bytes of all lists that are remembered; those that were used long ago are forgotten
	perElement = 48       // bytes that an element needs besides its text
)

// lists remembers the last lists of events: a writer their hashes, and a reader their elements. A reader keeps those of
// two writers of one record, also of two that write the same run; with more, it may forget a list that a writer still
// refers to, and says so.
type lists struct {
	last  map[listKey]*lastList
	order linked.List // of the keys; the one that was used last is at the back
	bytes int
}

type listKey struct {
	run, point, in, name string
	older                bool // of a reader: the list before the last one, which may be that of another writer
}

type lastList struct {
	marks    []listMark
	sums     []uint64        // of a writer, of the elements before they were redacted
	elements [][]byte        // of a reader
	at       *linked.Element // in order
}

// A listMark is the digest of a list up to an element, and its bytes.
type listMark struct {
	digest uint64
	bytes  int
}

func (m listMark) String() string { return fmt.Sprintf("%016x", m.digest) }

// and returns the mark after one more element. The digest is FNV-1a.
func (m listMark) and(element []byte) listMark {
	const offset, prime = 14695981039346656037, 1099511628211
	if m.bytes == 0 {
		m.digest = offset
	}
	for _, c := range element {
		m.digest = (m.digest ^ uint64(c)) * prime
	}
	return listMark{(m.digest ^ ',') * prime, m.bytes + len(element)}
}

var listSeed = maphash.MakeSeed()

// cut leaves out the elements that the last lists have, and returns the hashes of all elements for keep. If the event
// is redacted afterwards, it leaves out nothing that ends with a text, for example a flag: without it, the redaction
// would not know that the next text is a password. Events without a run are whole, because those of several programs
// in one file cannot be told apart.
func (l *lists) cut(e *Event, redacted bool) (all map[listKey][]uint64) {
	if e.Run.ID == "" {
		return nil
	}
	e.Omitted = slices.Clip(e.Omitted)
	e.editLists(func(key listKey, a array) [][]byte {
		if e.omits(key) >= 0 { // the elements were unknown when the event was read
			return a.elements
		}
		var sums []uint64
		for _, element := range a.elements {
			sums = append(sums, maphash.Bytes(listSeed, element))
		}
		if all == nil {
			all = make(map[listKey][]uint64)
		}
		all[key] = sums
		was, n := l.last[key], 0
		for was != nil && n < min(len(sums), len(was.sums)) && sums[n] == was.sums[n] {
			n++
		}
		if n > 0 && redacted && a.elements[n-1][0] == '"' {
			n = 0
		}
		if n > 0 {
			e.Omitted = append(e.Omitted, Omitted{key.in, key.name, n, was.marks[n-1].String()})
		}
		return a.elements[n:]
	})
	return all
}

// keep remembers the lists of an event as it is in the record. A writer passes the hashes of their elements. It returns
// the lists of which a reader knows the elements that are left out.
func (l *lists) keep(e *Event, sums map[listKey][]uint64) (whole map[listKey][][]byte) {
	e.editLists(func(key listKey, a array) [][]byte {
		next, was := new(lastList), l.last[key]
		at := e.omits(key)
		if at < 0 && len(a.text) < minList {
			return a.elements
		}
		if older := key; sums == nil && (at < 0 || was == nil || !was.begins(e.Omitted[at])) {
			older.older = true
			last := was
			was = l.last[older]
			l.forget(key)
			if l.forget(older); last != nil {
				l.put(older, last)
			}
		}
		if at >= 0 {
			n := e.Omitted[at].Count
			if was == nil || !was.begins(e.Omitted[at]) {
				l.forget(key)
				return a.elements
			}
			next.marks = was.marks[:n:n]
			if sums == nil {
				next.elements = was.elements[:n:n]
			}
			if n == len(was.marks) { // nobody else appends to them
				next.marks, next.elements = was.marks, was.elements
			}
		}
		for _, element := range a.elements {
			var mark listMark
			if n := len(next.marks); n > 0 {
				mark = next.marks[n-1]
			}
			next.marks = append(next.marks, mark.and(element))
		}
		if sums == nil {
			next.elements = append(next.elements, copied(a.elements)...)
		} else if next.sums = sums[key]; len(next.sums) != len(next.marks) { // a redaction has left out elements
			l.forget(key)
			return a.elements
		}
		if sums == nil && at >= 0 {
			if whole == nil {
				whole = make(map[listKey][][]byte)
			}
			whole[key] = next.elements
		}
		l.put(key, next)
		return a.elements
	})
	return whole
}

// begins reports whether the list begins with the elements that an event leaves out.
func (k *lastList) begins(o Omitted) bool {
	return o.Count > 0 && o.Count <= len(k.marks) && k.marks[o.Count-1].String() == o.Digest
}

// copied returns elements in memory of their own: those of an event would keep its whole payload.
func copied(elements [][]byte) [][]byte {
	text, own := bytes.Join(elements, nil), make([][]byte, len(elements))
	for i, element := range elements {
		n := len(element)
		own[i], text = text[:n:n], text[n:]
	}
	return own
}

// omits returns the index in Omitted of a list, or -1.
func (e *Event) omits(key listKey) int {
	return slices.IndexFunc(e.Omitted, func(o Omitted) bool { return o.In == key.in && o.List == key.name })
}

func (l *lists) put(key listKey, next *lastList) {
	l.forget(key)
	if l.last == nil {
		l.last = make(map[listKey]*lastList)
	}
	l.last[key], next.at = next, l.order.PushBack(key)
	most := maxLists
	if next.elements != nil {
		most *= 2 // because a reader may have the lists of two programs
	}
	for l.bytes += next.size(); l.bytes > most && l.order.Len() > 0; {
		oldest, _ := l.order.Front().Value.(listKey)
		l.forget(oldest)
	}
}

func (l *lists) forget(key listKey) {
	if was := l.last[key]; was != nil {
		l.bytes -= was.size()
		l.order.Remove(was.at)
		delete(l.last, key)
	}
}

func (k *lastList) size() int {
	if len(k.marks) == 0 {
		return 0
	}
	return k.marks[len(k.marks)-1].bytes + perElement*len(k.marks)
}

// Whole returns the event with the elements of its lists that its line leaves out, if [Read] has found them in the
// record. The others stay in Omitted, for example those at the beginning of a record whose first part was removed. A
// payload can be as long as a whole conversation, so call Whole only where the lists matter.
func (e Event) Whole() Event {
	if len(e.whole) == 0 {
		return e
	}
	var unknown []Omitted
	for _, o := range e.Omitted {
		if e.whole[listKey{run: e.Run.ID, point: e.Point, in: o.In, name: o.List}] == nil {
			unknown = append(unknown, o)
		}
	}
	e.editLists(func(key listKey, a array) [][]byte {
		if all, ok := e.whole[key]; ok {
			return all
		}
		return a.elements
	})
	e.Omitted, e.whole = unknown, nil
	return e
}

// An array is a field of a payload with a list.
type array struct {
	name     string
	from     int // the offset in the payload
	text     []byte
	elements [][]byte
}

// editLists replaces the elements of the lists of a payload.
func (e *Event) editLists(edit func(key listKey, a array) [][]byte) {
	for i, value := range []*json.RawMessage{&e.Payload, &e.Final} {
		in := []string{"payload", "final"}[i]
		if len(*value) < minList && len(e.Omitted)+len(e.whole) == 0 || bytes.IndexByte(*value, '[') < 0 {
			continue // without a scan, because most payloads have no lists
		}
		var edited []byte
		from := 0
		for _, a := range arraysIn(*value) {
			elements := edit(listKey{run: e.Run.ID, point: e.Point, in: in, name: a.name}, a)
			if len(elements) == len(a.elements) {
				continue
			}
			edited = append(append(edited, (*value)[from:a.from]...), '[')
			for i, element := range elements {
				if i > 0 {
					edited = append(edited, ',')
				}
				edited = append(edited, element...)
			}
			edited, from = append(edited, ']'), a.from+len(a.text)
		}
		if from > 0 {
			*value = append(edited, (*value)[from:]...)
		}
	}
}

// arraysIn returns the fields of an object that are lists, each with another name.
func arraysIn(value json.RawMessage) (found []array) {
	s := jsonscan.Scanner{Data: value}
	ok := s.Members(func(key []byte) bool {
		if s.Peek() != '[' {
			_, ok := s.Value()
			return ok
		}
		a := array{name: string(key), from: s.At}
		ok := s.Items(func() bool {
			element, ok := s.Value()
			a.elements = append(a.elements, element)
			return ok
		})
		a.text = value[a.from:s.At]
		twice := slices.ContainsFunc(found, func(b array) bool { return b.name == a.name })
		found = append(found, a)
		return ok && !twice
	})
	if !ok {
		return nil
	}
	return found
}

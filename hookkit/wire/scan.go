package wire

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/hookgen/hookgen/internal/jsonscan"
)

// scanEvent reads the line of an event like encoding/json, in a quarter of the time. It reports false if a field of the
// event has anything that [Lines] does not write, for example a null. Then encoding/json decides. Other fields are
// skipped: for example, an audit log has the hash of each line in it.
func scanEvent(line []byte) (e Event, ok bool) {
	s := eventScanner{jsonscan.Scanner{Data: line}}
	ok = s.members(func(key []byte) bool {
		switch string(key) {
		case "protocol":
			n, ok := s.integer(strconv.IntSize)
			e.Protocol = int(n)
			return ok
		case "seq":
			return s.integerTo(&e.Seq)
		case "time":
			begin := s.At
			_, _, ok := s.Text()
			return ok && e.Time.UnmarshalJSON(line[begin:s.At]) == nil
		case "spec":
			return s.textTo(&e.Spec)
		case "point":
			return s.textTo(&e.Point)
		case "run":
			return s.run(&e.Run)
		case "payload":
			return s.valueTo(&e.Payload)
		case "final":
			return s.valueTo(&e.Final)
		case "decision":
			return s.textTo(&e.Decision)
		case "value":
			return s.valueTo(&e.Value)
		case "by":
			return s.textTo(&e.By)
		case "site":
			return s.textTo(&e.Site)
		case "reason":
			return s.textTo(&e.Reason)
		case "error":
			return s.textTo(&e.Error)
		case "ballots":
			return e.Ballots == nil && s.decodeTo(&e.Ballots) // encoding/json joins a field that is given twice
		case "collected":
			return s.valueTo(&e.Collected)
		case "failures":
			return e.Failures == nil && s.decodeTo(&e.Failures)
		case "elapsed":
			return s.integerTo((*int64)(&e.Elapsed))
		}
		return !foldsToField(key) && s.skip(0)
	})
	return e, ok && s.At == len(line)
}

// foldsToField reports whether encoding/json takes a key for a field of an event, because it ignores the case.
func foldsToField(key []byte) bool {
	return slices.ContainsFunc(eventFields, func(field []byte) bool { return bytes.EqualFold(field, key) })
}

// eventFields are the names of the fields of an event.
var eventFields = func() (names [][]byte) {
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Event]()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, []byte(name))
	}
	return names
}()

// An eventScanner reads the line of an event. Its methods report false at anything unusual.
type eventScanner struct{ jsonscan.Scanner }

func (s *eventScanner) run(r *RunInfo) bool {
	return s.members(func(key []byte) bool {
		switch string(key) {
		case "id":
			return s.textTo(&r.ID)
		case "parent":
			return s.textTo(&r.Parent)
		case "root":
			return s.textTo(&r.Root)
		case "labels":
			return r.Labels == nil && s.decodeTo(&r.Labels)
		}
		return false
	})
}

// members reads an object. It calls read for each value, with its key.
func (s *eventScanner) members(read func(key []byte) bool) bool {
	if !s.Next('{') {
		return false
	}
	for first := true; !s.Next('}'); first = false {
		if !first && !s.Next(',') {
			return false
		}
		key, plain, ok := s.Text()
		s.Blank()
		if !ok || !plain || !s.Next(':') || !read(key) {
			return false
		}
		s.Blank()
	}
	return true
}

// integer reads an integer of so many bits.
func (s *eventScanner) integer(bits int) (int64, bool) {
	raw, whole, ok := s.Number()
	if !ok || !whole {
		return 0, false
	}
	n, err := strconv.ParseInt(string(raw), 10, bits)
	return n, err == nil
}

func (s *eventScanner) integerTo(to *int64) (ok bool) {
	*to, ok = s.integer(64)
	return ok
}

func (s *eventScanner) textTo(to *string) bool {
	begin := s.At
	raw, plain, ok := s.Text()
	if !ok || !plain {
		return ok && json.Unmarshal(s.Data[begin:s.At], to) == nil
	}
	*to = string(raw)
	return true
}

// raw reads any value and returns its text, which is a part of the line.
func (s *eventScanner) raw() ([]byte, bool) {
	begin := s.At
	ok := s.skip(0)
	return bytes.TrimRight(s.Data[begin:s.At], " \t\r\n"), ok // Next reads the blanks after an object
}

func (s *eventScanner) valueTo(to *json.RawMessage) bool {
	raw, ok := s.raw()
	*to = bytes.Clone(raw)
	return ok
}

func (s *eventScanner) decodeTo(to any) bool {
	raw, ok := s.raw()
	return ok && json.Unmarshal(raw, to) == nil
}

// skip reads a value.
func (s *eventScanner) skip(depth int) bool {
	switch s.Peek() {
	case '{':
		return depth < maxDepth && s.members(func([]byte) bool { return s.skip(depth + 1) })
	case '[':
		return depth < maxDepth && s.skipArray(depth)
	case '"':
		_, _, ok := s.Text()
		return ok
	case 't':
		return s.Word("true")
	case 'f':
		return s.Word("false")
	case 'n':
		return s.Word("null")
	}
	_, _, ok := s.Number()
	return ok
}

func (s *eventScanner) skipArray(depth int) bool {
	s.Next('[')
	for first := true; !s.Next(']'); first = false {
		if !first && !s.Next(',') || !s.skip(depth+1) {
			return false
		}
		s.Blank()
	}
	return true
}

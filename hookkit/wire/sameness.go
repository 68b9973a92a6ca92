package wire

import (
	"encoding/json"
	"hash/maphash"

	"github.com/hookgen/hookgen/internal/jsonscan"
)

// hashSeed makes hashes that the writer of a record cannot predict.
var hashSeed = maphash.MakeSeed()

func hashString(s string) uint64 { return maphash.String(hashSeed, s) }

// mix joins two hashes, whose order counts.
func mix(a, b uint64) uint64 {
	const odd = 0x9e3779b97f4a7c15 // of the golden ratio
	a = (a ^ b>>29 ^ b) * odd
	return a ^ a>>32
}

// fireKey returns a hash of the point and the payload of an event.
func fireKey(e Event) uint64 {
	return mix(mix(hashString(e.Spec), hashString(e.Point)), hashJSON(e.Payload))
}

// samePayload reports whether two events are fires of one point with equal payloads.
func samePayload(a, b Event) bool {
	return a.Spec == b.Spec && a.Point == b.Point && sameJSON(nil, a.Payload, b.Payload)
}

// hashJSON returns a hash of a JSON value. Values that differ in blanks, in escapes and in the order of keys have the
// same one: a program that moves a field of a payload still finds its old events. A text that is not JSON, or nested
// deeply, is hashed as it is.
func hashJSON(text json.RawMessage) uint64 {
	s := jsonscan.Scanner{Data: text}
	s.Blank()
	if sum, ok := hashValue(&s, 0); ok {
		return sum
	}
	return maphash.Bytes(hashSeed, text)
}

// hashValue hashes the next value.
func hashValue(s *jsonscan.Scanner, depth int) (sum uint64, ok bool) {
	const deepest = 1000
	if depth > deepest {
		return 0, false
	}
	switch s.Peek() {
	case '{':
		sum, ok = hashObject(s, depth)
	case '[':
		sum, ok = hashArray(s, depth)
	case '"':
		sum, ok = hashText(s)
	case 't':
		sum, ok = hashString("true"), s.Word("true")
	case 'f':
		sum, ok = hashString("false"), s.Word("false")
	case 'n':
		sum, ok = hashString("null"), s.Word("null")
	default:
		var raw []byte
		raw, _, ok = s.Number()
		sum = maphash.Bytes(hashSeed, raw)
	}
	s.Blank()
	return sum, ok
}

// hashObject adds the hashes of the members, so that their order does not count.
func hashObject(s *jsonscan.Scanner, depth int) (sum uint64, ok bool) {
	sum = hashString("{")
	s.Next('{')
	for first := true; !s.Next('}'); first = false {
		if !first && !s.Next(',') {
			return 0, false
		}
		key, ok := hashText(s)
		s.Blank()
		if !ok || !s.Next(':') {
			return 0, false
		}
		value, ok := hashValue(s, depth+1)
		if !ok {
			return 0, false
		}
		sum += mix(key, value)
	}
	return sum, true
}

func hashArray(s *jsonscan.Scanner, depth int) (sum uint64, ok bool) {
	sum = hashString("[")
	s.Next('[')
	for first := true; !s.Next(']'); first = false {
		if !first && !s.Next(',') {
			return 0, false
		}
		value, ok := hashValue(s, depth+1)
		if !ok {
			return 0, false
		}
		sum = mix(sum, value)
	}
	return sum, true
}

// hashText hashes a string. One with escapes is decoded.
func hashText(s *jsonscan.Scanner) (sum uint64, ok bool) {
	begin := s.At
	raw, plain, ok := s.Text()
	if ok && !plain {
		var text string
		if json.Unmarshal(s.Data[begin:s.At], &text) != nil {
			return 0, false
		}
		raw = []byte(text)
	}
	return mix(maphash.Bytes(hashSeed, raw), '"'), ok
}

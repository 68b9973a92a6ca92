package hooklog

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
	var text []byte
	switch s.Peek() {
	case '{':
		sum = hashString("{")
		ok = s.Members(func(key []byte) bool {
			member := hashText(key)
			value, ok := hashValue(s, depth+1)
			sum += mix(member, value) // so that the order does not count
			return ok
		})
	case '[':
		sum = hashString("[")
		ok = s.Items(func() bool {
			value, ok := hashValue(s, depth+1)
			sum = mix(sum, value)
			return ok
		})
	case '"':
		text, ok = s.Decoded()
		sum = hashText(text)
	default:
		text, ok = s.Literal()
		sum = maphash.Bytes(hashSeed, text)
	}
	return sum, ok
}

// hashText hashes a string, which differs from a number with the same text.
func hashText(text []byte) uint64 { return mix(maphash.Bytes(hashSeed, text), '"') }

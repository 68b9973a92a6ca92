package fingerprint

import (
	"bytes"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/hookgen/hookgen/internal/jsonscan"
)

// maxScanned is the most levels of arguments that are scanned instead of decoded.
const maxScanned = 16

// scanCanonical appends the same text as appendCanonical for the decoded arguments, but takes a tenth of the time. It
// reports false if the arguments must be decoded, because they are invalid or deeply nested, or contain escapes or
// replacement characters.
func scanCanonical(b, args []byte) ([]byte, bool) {
	s := jsonscan.Scanner{Data: args}
	s.Blank()
	b, ok := scanValue(b, &s, 0)
	s.Blank()
	return b, ok && s.At == len(args)
}

func scanValue(b []byte, s *jsonscan.Scanner, level int) ([]byte, bool) {
	if level > maxScanned {
		return b, false
	}
	switch s.Peek() {
	case '{':
		return scanObject(b, s, level)
	case '[':
		s.Next('[')
		b = append(b, '[')
		for first := true; !s.Next(']'); first = false {
			if !first && !s.Next(',') {
				return b, false
			}
			var ok bool
			if b, ok = scanValue(b, s, level+1); !ok {
				return b, false
			}
			s.Blank()
		}
		return append(b, ']'), true
	case '"':
		raw, ok := scanText(s)
		return appendPart(append(b, '"'), raw), ok
	case 't':
		return append(b, "true;"...), s.Word("true")
	case 'f':
		return append(b, "false;"...), s.Word("false")
	case 'n':
		return append(b, "null;"...), s.Word("null")
	}
	raw, whole, ok := s.Number()
	if !ok {
		return b, false
	}
	return append(appendNumber(append(b, '#'), raw, whole), ';'), true
}

// appendNumber appends the canonical text of a number.
func appendNumber(b, raw []byte, whole bool) []byte {
	if short := bytes.TrimRight(raw, "0"); whole && len(short) > 0 && short[len(short)-1] != '-' {
		return strconv.AppendInt(append(append(b, short...), 'e'), int64(len(raw)-len(short)), 10)
	}
	return append(b, canonicalNumber(string(raw))...)
}

// scanText scans a text without escapes, which equals its decoded form.
func scanText(s *jsonscan.Scanner) (raw []byte, ok bool) {
	raw, plain, ok := s.Text()
	return raw, ok && (plain || utf8.Valid(raw) && bytes.IndexByte(raw, '\\') < 0 && !bytes.Contains(raw, replacement))
}

// A scannedMember is a member of an object: its key, and the range of its canonical text.
type scannedMember struct {
	key      []byte
	from, to int
}

// scanObject appends the members sorted by key. If a key occurs twice, the last member counts, as in encoding/json.
func scanObject(b []byte, s *jsonscan.Scanner, level int) ([]byte, bool) {
	s.Next('{')
	b = append(b, '{')
	begin := len(b)
	var memory [16]scannedMember
	members := memory[:0]
	for first := true; !s.Next('}'); first = false {
		if !first && !s.Next(',') {
			return b, false
		}
		key, ok := scanText(s)
		if s.Blank(); !ok || !s.Next(':') {
			return b, false
		}
		from := len(b)
		if b, ok = scanValue(appendPart(append(b, '"'), key), s, level+1); !ok {
			return b, false
		}
		s.Blank()
		members = append(members, scannedMember{key, from, len(b)})
	}
	byKey := func(x, y scannedMember) int { return bytes.Compare(x.key, y.key) }
	if isSorted(members, byKey) {
		return append(b, '}'), true
	}
	unsorted := slices.Clone(b[begin:])
	slices.SortStableFunc(members, byKey)
	b = b[:begin]
	for i, m := range members {
		if i+1 < len(members) && byKey(m, members[i+1]) == 0 {
			continue
		}
		b = append(b, unsorted[m.from-begin:m.to-begin]...)
	}
	return append(b, '}'), true
}

// isSorted reports whether the members are already sorted and their keys are distinct.
func isSorted(members []scannedMember, byKey func(x, y scannedMember) int) bool {
	for i := 1; i < len(members); i++ {
		if byKey(members[i-1], members[i]) >= 0 {
			return false
		}
	}
	return true
}

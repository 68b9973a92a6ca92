package fingerprint

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/internal/jsonscan"
)

// A Sum identifies a call, a result or a text by a hash, without storing it. The hash has a random key per process.
// Therefore a Sum must not be stored, and a model cannot produce collisions on purpose.
type Sum uint64

// fingerprintKey is the random key of this process.
var fingerprintKey = maphash.MakeSeed()

// MaxBytes is the most bytes of arguments that are compared by value; longer arguments are compared byte by byte.
const MaxBytes = 1 << 20

// Call returns equal sums for calls of one tool with equal arguments. For example, {"a":1,"b":2} and { "b":2.0, "a":1 }
// are equal: the order of keys, blanks, escapes and the notation of numbers do not matter. Missing arguments equal {}.
// Arguments that are not valid JSON are compared as text, and so are those of more than 1,000 levels and those with a
// replacement character: Go decodes "\udcff" and "\udcfe" as the same text, but in Python they are the names of two
// files.
func Call(call agent.ToolCallRequest) Sum {
	w := writers.Get().(*writer)
	w.call(call)
	sum := Of(w.out)
	if cap(w.out) <= 64<<10 {
		writers.Put(w)
	}
	return sum
}

// writers reuses the memory of canonical texts, which would otherwise be most of the memory that a call allocates.
var writers = sync.Pool{New: func() any { return new(writer) }}

// Canonical returns the canonical text of a call, which is identical for equal calls.
func Canonical(call agent.ToolCallRequest) []byte {
	var w writer
	w.call(call)
	return w.out
}

// Result returns equal sums for results with the same Output and Err.
func Result(r agent.ToolCallResult) Sum {
	sum := hashOf(r.Output)
	if r.Err != "" {
		sum = Sum(bits.RotateLeft64(uint64(sum), 1)) ^ hashOf(r.Err)
	}
	return sum
}

// Of returns the sum of a text.
func Of(text []byte) Sum { return hashOf(unsafe.String(unsafe.SliceData(text), len(text))) }

// hashOf hashes a text in one piece. [maphash.String] hashes 128 bytes at a time, which takes four times as long.
func hashOf(text string) Sum { return Sum(maphash.Comparable(fingerprintKey, text)) }

// appendPart appends a text with its length as prefix, so that the parts "ab", "c" differ from "a", "bc".
func appendPart[T string | []byte](b []byte, text T) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// replacement is the character that Go decodes invalid text to.
var replacement = []byte("\ufffd")

// A writer appends the canonical text of each value that it scans. It scans the arguments of a call because decoding
// them takes longer than all other work for the call.
type writer struct {
	scan    jsonscan.Scanner
	out     []byte
	members []member // those of the objects around the current value
	depth   int
}

// call writes the canonical text of a call.
func (w *writer) call(call agent.ToolCallRequest) {
	w.out = appendPart(w.out[:0], call.Name)
	w.args(call.Args)
}

// args writes the canonical text of arguments. It is the text itself if they are not valid JSON, are too long or
// deep, or have a replacement character.
func (w *writer) args(args []byte) {
	begin := len(w.out)
	w.scan = jsonscan.Scanner{Data: args}
	if w.scan.Blank(); w.scan.At == len(args) {
		w.scan = jsonscan.Scanner{Data: []byte("{}")}
	}
	w.members, w.depth = w.members[:0], 0
	w.out = append(w.out, "json "...)
	ok := len(args) <= MaxBytes && w.value()
	if w.scan.Blank(); !ok || w.scan.At < len(w.scan.Data) || bytes.Contains(w.out[begin:], replacement) {
		w.out = append(append(w.out[:begin], "text "...), args...)
	}
	w.scan.Data = nil
}

// maxDepth bounds the levels of arguments that are compared by value. Sorting an object copies all that it contains, so
// deeper ones would take minutes.
const maxDepth = 1000

// value writes the canonical text of the next value. It reports false for invalid JSON.
func (w *writer) value() bool {
	if w.depth++; w.depth > maxDepth {
		return false
	}
	defer func() { w.depth-- }()
	switch w.scan.Peek() {
	case '{':
		return w.object()
	case '[':
		w.out = append(w.out, '[')
		ok := w.scan.Items(w.value)
		w.out = append(w.out, ']')
		return ok
	case '"':
		text, ok := w.scan.Decoded()
		w.out = appendPart(append(w.out, '"'), text)
		return ok
	case 't', 'f', 'n':
		word, ok := w.scan.Literal()
		w.out = append(append(w.out, word...), ';')
		return ok
	}
	number, whole, ok := w.scan.Number()
	w.out = append(w.out, '#')
	if short := bytes.TrimRight(number, "0"); whole && len(short) > 0 && short[len(short)-1] != '-' {
		w.out = strconv.AppendInt(append(append(w.out, short...), 'e'), int64(len(number)-len(short)), 10)
	} else {
		w.out = append(w.out, canonicalNumber(string(number))...)
	}
	w.out = append(w.out, ';')
	return ok
}

// A member is a key of an object and the range of its canonical text.
type member struct {
	key      []byte
	from, to int
}

// object appends the members sorted by key. If a key occurs twice, the last member counts, as in encoding/json.
func (w *writer) object() bool {
	w.out = append(w.out, '{')
	begin := len(w.out)
	outer := len(w.members)
	ok := w.scan.Members(func(key []byte) bool {
		from := len(w.out)
		w.out = appendPart(append(w.out, '"'), key)
		ok := w.value()
		w.members = append(w.members, member{key, from - begin, len(w.out) - begin})
		return ok
	})
	members := w.members[outer:]
	sorted := true
	for i := 1; i < len(members); i++ {
		sorted = sorted && bytes.Compare(members[i-1].key, members[i].key) < 0
	}
	if !sorted {
		unsorted := slices.Clone(w.out[begin:])
		w.out = w.out[:begin]
		slices.SortStableFunc(members, func(x, y member) int { return bytes.Compare(x.key, y.key) })
		for i, m := range members {
			if i+1 == len(members) || !bytes.Equal(m.key, members[i+1].key) {
				w.out = append(w.out, unsorted[m.from:m.to]...)
			}
		}
	}
	clear(members)
	w.members, w.out = w.members[:outer], append(w.out, '}')
	return ok
}

// canonicalNumber returns the same text for equal JSON numbers, for example 15e-1 for 1.5, 1.50 and 15e-1. It works on
// the text, so huge exponents need no memory and no digit is lost.
func canonicalNumber(n string) string {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(n), "e")
	mantissa, negative := strings.CutPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	short := strings.TrimRight(digits, "0")
	if short == "" {
		return "0"
	}
	var exp int64 // an int of 32 bits would make the answer depend on the platform
	if exponent != "" {
		var err error
		if exp, err = strconv.ParseInt(exponent, 10, 64); err != nil || exp > 1<<40 || exp < -1<<40 {
			return n // an absurd exponent: compare the number as text
		}
	}
	exp += int64(len(digits) - len(short) - len(fraction))
	if negative {
		short = "-" + short
	}
	return short + "e" + strconv.FormatInt(exp, 10)
}

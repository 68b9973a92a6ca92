package fingerprint

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"hash/maphash"
	"maps"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"github.com/hookgen/hookgen/builtin/internal/jsonx"
	"github.com/hookgen/hookgen/generated/agent"
)

// A Sum identifies a call, a result or a text by its length and a hash, without storing it. The hash has a random key
// per process. Therefore a Sum must not be stored, and a model cannot produce collisions on purpose.
type Sum [16]byte

// fingerprintKey is the random key of this process.
var fingerprintKey = maphash.MakeSeed()

// MaxBytes is the most bytes of arguments that are compared by value; longer arguments are compared byte by byte.
const MaxBytes = 1 << 20

// Call returns equal sums for calls of one tool with equal arguments. For example, {"a":1,"b":2} and { "b":2.0, "a":1 }
// are equal: the order of keys, blanks, escapes and the notation of numbers do not matter. Missing arguments equal {}.
// Arguments that are not valid JSON are compared as text, and so are those with a replacement character: Go decodes
// "\udcff" and "\udcfe" as the same text, but in Python they are the names of two files.
func Call(call agent.ToolCallRequest) Sum { return Of(Canonical(call)) }

// Canonical returns the canonical text of a call, which is identical for equal calls.
func Canonical(call agent.ToolCallRequest) []byte {
	return appendCanonicalArgs(appendPart(nil, call.Name), call.Args)
}

// Result returns equal sums for results with the same Output and Err.
func Result(r agent.ToolCallResult) Sum {
	hash := hashOf(r.Output)
	if r.Err != "" {
		hash = bits.RotateLeft64(hash, 1) ^ hashOf(r.Err)
	}
	return newSum(len(r.Output), hash)
}

// Of returns the sum of a text.
func Of(text []byte) Sum {
	return newSum(len(text), hashOf(unsafe.String(unsafe.SliceData(text), len(text))))
}

// hashOf hashes a text in one piece. [maphash.String] hashes 128 bytes at a time, which takes four times as long.
func hashOf(text string) uint64 { return maphash.Comparable(fingerprintKey, text) }

func newSum(length int, hash uint64) (f Sum) {
	binary.LittleEndian.PutUint64(f[:8], uint64(length))
	binary.LittleEndian.PutUint64(f[8:], hash)
	return f
}

// appendPart appends a text with its length as prefix, so that the parts "ab", "c" differ from "a", "bc".
func appendPart[T string | []byte](b []byte, text T) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// appendCanonicalArgs appends the canonical text of arguments, which is identical for equal arguments.
func appendCanonicalArgs(b, args []byte) []byte {
	if len(args) <= MaxBytes {
		if out, ok := appendCanonicalJSON(b, args); ok {
			return out
		}
	}
	return append(append(b, "text "...), args...)
}

// replacement is the character that Go decodes invalid text to.
var replacement = []byte("\ufffd")

// appendCanonicalJSON appends the canonical text of arguments. It reports false if they are not valid JSON or have a
// replacement character.
func appendCanonicalJSON(b, args []byte) (out []byte, ok bool) {
	if len(bytes.TrimSpace(args)) == 0 {
		args = []byte("{}")
	}
	value, err := jsonx.Decode(args)
	if err != nil {
		return nil, false
	}
	out = appendCanonical(append(b, "json "...), value)
	return out, !bytes.Contains(out[len(b):], replacement)
}

func appendCanonical(b []byte, value any) []byte {
	switch v := value.(type) {
	case map[string]any:
		b = append(b, '{')
		for _, k := range slices.Sorted(maps.Keys(v)) {
			b = appendCanonical(b, k)
			b = appendCanonical(b, v[k])
		}
		return append(b, '}')
	case []any:
		b = append(b, '[')
		for _, e := range v {
			b = appendCanonical(b, e)
		}
		return append(b, ']')
	case string:
		return appendPart(append(b, '"'), v)
	case json.Number:
		return append(append(append(b, '#'), canonicalNumber(string(v))...), ';')
	case bool:
		return append(strconv.AppendBool(b, v), ';')
	}
	return append(b, "null;"...)
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

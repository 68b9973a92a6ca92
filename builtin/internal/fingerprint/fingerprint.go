package fingerprint

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"hash/maphash"
	"maps"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/hookgen/hookgen/builtin/internal/jsonx"
	"github.com/hookgen/hookgen/generated/agent"
)

// A Sum tells calls, results and texts apart without keeping them: it has their length and a hash. The key
// of the hash is drawn by this process, so it means nothing outside of it, and nobody can write two texts with the
// same one.
type Sum [16]byte

var fingerprintKey = maphash.MakeSeed()

// MaxBytes bounds the arguments that are compared by value; longer ones are compared byte by byte.
const MaxBytes = 1 << 20

// Call is the same for calls of one tool with the same arguments, however these are written: keys in
// any order at every level, blanks, escapes, numbers by value. No arguments are the same as {}. Arguments that
// are no JSON count as their own text.
func Call(call agent.ToolCallRequest) (f Sum) {
	withCanonicalCall(call, func(text []byte) { f = Of(text) })
	return f
}

// Digest is a fingerprint for decisions that last: it does not rely on the key being secret.
func Digest(call agent.ToolCallRequest) (digest string) {
	withCanonicalCall(call, func(text []byte) {
		sum := sha256.Sum256(text)
		digest = string(sum[:])
	})
	return digest
}

// canonicalTexts keeps memory for canonical texts, which nobody keeps.
var canonicalTexts = sync.Pool{New: func() any { return new([]byte) }}

// withCanonicalCall calls f with one text for all ways to write the same call. The text is valid during f.
func withCanonicalCall(call agent.ToolCallRequest, f func(text []byte)) {
	memory := canonicalTexts.Get().(*[]byte)
	*memory = appendCanonicalArgs(appendPart((*memory)[:0], call.Name), call.Args)
	f(*memory)
	if cap(*memory) <= 64<<10 {
		canonicalTexts.Put(memory)
	}
}

// Result is the same for results that say the same.
func Result(r agent.ToolCallResult) Sum {
	hash := maphash.String(fingerprintKey, r.Output)
	if r.Err != "" {
		hash = bits.RotateLeft64(hash, 1) ^ maphash.String(fingerprintKey, r.Err)
	}
	return newFingerprint(len(r.Output), hash)
}

// Of is the same for the same text.
func Of(text []byte) Sum {
	return newFingerprint(len(text), maphash.Bytes(fingerprintKey, text))
}

func newFingerprint(length int, hash uint64) (f Sum) {
	binary.LittleEndian.PutUint64(f[:8], uint64(length))
	binary.LittleEndian.PutUint64(f[8:], hash)
	return f
}

// appendPart appends a text and its length, so that moving a border between two parts makes a difference.
func appendPart(b []byte, text string) []byte {
	return append(append(strconv.AppendInt(b, int64(len(text)), 10), ':'), text...)
}

// appendCanonicalArgs appends one text for all ways to write the same arguments.
func appendCanonicalArgs(b, args []byte) []byte {
	if len(args) > MaxBytes {
		return append(append(b, "text "...), args...)
	}
	if len(bytes.TrimSpace(args)) == 0 {
		args = []byte("{}")
	}
	if out, ok := scanCanonical(append(b, "json "...), args); ok {
		return out
	}
	value, err := jsonx.Decode(args)
	if err != nil {
		return append(append(b, "text "...), args...)
	}
	return appendCanonical(append(b, "json "...), value)
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
		b = strconv.AppendInt(append(b, '"'), int64(len(v)), 10)
		return append(append(b, ':'), v...)
	case json.Number:
		return append(append(append(b, '#'), canonicalNumber(string(v))...), ';')
	case bool:
		return append(strconv.AppendBool(b, v), ';')
	}
	return append(b, "null;"...)
}

// canonicalNumber returns one text for all ways to write a JSON number: its digits without zeros at either end,
// and an exponent. It computes with the text alone, so a huge exponent costs nothing and no digit is lost.
func canonicalNumber(n string) string {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(n), "e")
	mantissa, negative := strings.CutPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	short := strings.TrimRight(digits, "0")
	if short == "" {
		return "0"
	}
	exp := 0
	if exponent != "" {
		var err error
		if exp, err = strconv.Atoi(exponent); err != nil || exp > 1<<40 || exp < -1<<40 {
			return n // beyond any number that is meant; its text tells it apart
		}
	}
	exp += len(digits) - len(short) - len(fraction)
	if negative {
		short = "-" + short
	}
	return short + "e" + strconv.Itoa(exp)
}

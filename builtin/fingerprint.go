package builtin

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/hookgen/hookgen/generated/agent"
)

// A fingerprint tells calls, results and texts apart without keeping them.
type fingerprint [sha256.Size]byte

// maxCanonical bounds the arguments that are compared by value; longer ones are compared byte by byte.
const maxCanonical = 1 << 20

// callFingerprint is the same for calls of one tool with the same arguments, however these are written: keys in
// any order at every level, blanks, escapes, numbers by value. No arguments are the same as {}. Arguments that
// are no JSON count as their own text.
func callFingerprint(call agent.ToolCallRequest) fingerprint {
	return fingerprintOf([]byte(call.Name), canonicalArgs(call.Args))
}

// resultFingerprint is the same for results that say the same.
func resultFingerprint(r agent.ToolCallResult) fingerprint {
	return fingerprintOf([]byte(r.Output), []byte(r.Err))
}

// fingerprintOf hashes the parts, so that moving a border between two parts makes a difference.
func fingerprintOf(parts ...[]byte) fingerprint {
	h := sha256.New()
	for _, p := range parts {
		h.Write(strconv.AppendInt(nil, int64(len(p)), 10))
		h.Write([]byte{':'})
		h.Write(p)
	}
	return fingerprint(h.Sum(nil))
}

// canonicalArgs returns one text for all ways to write the same arguments.
func canonicalArgs(args []byte) []byte {
	if len(args) > maxCanonical {
		return append([]byte("text "), args...)
	}
	if len(bytes.TrimSpace(args)) == 0 {
		args = []byte("{}")
	}
	value, err := decodeJSON(args)
	if err != nil {
		return append([]byte("text "), args...)
	}
	return appendCanonical([]byte("json "), value)
}

// decodeJSON decodes exactly one value, numbers as json.Number.
func decodeJSON(data []byte) (any, error) {
	if !json.Valid(data) { // a Decoder would leave what follows the value
		var none any
		return nil, json.Unmarshal(data, &none)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var value any
	err := d.Decode(&value)
	return value, err
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

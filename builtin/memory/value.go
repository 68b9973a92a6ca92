package memory

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/hookgen/hookgen/builtin/internal/shorten"
)

// unixSeconds is a time that is stored in JSON as seconds since 1970.
type unixSeconds time.Time

// MarshalJSON writes the seconds with up to six decimals, or 0 for the zero time.
func (s unixSeconds) MarshalJSON() ([]byte, error) {
	t := time.Time(s)
	if t.IsZero() {
		return []byte("0"), nil
	}
	return strconv.AppendFloat(nil, float64(t.UnixMicro())/1e6, 'f', -1, 64), nil
}

// UnmarshalJSON reads a number of seconds; 0 and null mean the zero time.
func (s *unixSeconds) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	n, err := strconv.ParseFloat(string(data), 64)
	if err != nil || math.Abs(n) > 253402300799 { // the end of the year 9999
		return fmt.Errorf("%s is not a time in seconds since 1970", shorten.To(string(data), 40))
	}
	*s = unixSeconds{}
	if micro := int64(math.Round(n * 1e6)); micro != 0 {
		*s = unixSeconds(time.UnixMicro(micro))
	}
	return nil
}

func secondsOrNull(t time.Time) *unixSeconds {
	if t.IsZero() {
		return nil
	}
	s := unixSeconds(t)
	return &s
}

// anyText is a text for which a file may hold any JSON value.
type anyText string

// UnmarshalJSON reads a JSON string as its text, null as "", and any other value as its compact JSON.
func (t *anyText) UnmarshalJSON(data []byte) error {
	var s *string
	if err := json.Unmarshal(data, &s); err == nil {
		if s != nil {
			*t = anyText(*s)
		}
		return nil
	}
	var b bytes.Buffer
	if err := json.Compact(&b, data); err != nil {
		return err
	}
	*t = anyText(b.String())
	return nil
}

func anyTextOrNull(s string) *anyText {
	if s == "" {
		return nil
	}
	t := anyText(s)
	return &t
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

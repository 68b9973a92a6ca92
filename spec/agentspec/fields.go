package agentspec

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// UnknownField returns the path of the first JSON field in data that v has not kept, for example "messages[2].more",
// or "". v is the value that data was decoded into.
//
// For example, a worker of an older release reads a run that a newer one has stored. If it stored the run again, the
// fields that it does not know would be lost, so it leaves the run to others. json.Decoder.DisallowUnknownFields does
// not see the fields of types with an UnmarshalJSON of their own, such as ToolCallRequest.
//
// A null for which v has another value counts as a field that v has not kept. The error is about data or v that is not
// valid JSON.
func UnknownField(data []byte, v any) (path string, err error) {
	kept, err := json.Marshal(v)
	if err != nil || bytes.Equal(data, kept) {
		return "", err
	}
	given, err := decodeNumbers(data)
	if err != nil {
		return "", err
	}
	got, err := decodeNumbers(kept)
	if err != nil {
		return "", err
	}
	steps, _ := unknownField(given, got)
	slices.Reverse(steps)
	return strings.TrimPrefix(strings.Join(steps, ""), "."), nil
}

func decodeNumbers(data []byte) (value any, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber() // a float64 does not have each number
	err = d.Decode(&value)
	return value, err
}

// unknownField returns the steps of the path to the first field of given that got lacks, the last step first.
func unknownField(given, got any) (steps []string, found bool) {
	switch given := given.(type) {
	case map[string]any:
		kept, _ := got.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(given)) {
			value, ok := kept[name]
			if ok {
				steps, found = unknownField(given[name], value)
			}
			if !ok || found {
				return append(steps, "."+name), true
			}
		}
	case []any:
		kept, _ := got.([]any)
		for i, value := range given {
			if i < len(kept) {
				steps, found = unknownField(value, kept[i])
			}
			if i >= len(kept) || found {
				return append(steps, fmt.Sprintf("[%d]", i)), true
			}
		}
	case nil:
		return nil, got != nil
	}
	return nil, false
}

// Package releases makes stored JSON as other releases could have written it, for tests of package loop and of fleets.
package releases

import (
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
)

// Of returns JSON as other releases could have written it, each with a description of the difference. Once for
// each object it has one more field, and once for each value it has a value of another type. Objects under opaque names
// stay as they are, for example the arguments of a call. It panics if data is not valid JSON.
func Of(data []byte, opaque ...string) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		var whole any
		if err := json.Unmarshal(data, &whole); err != nil {
			panic("releases: " + err.Error())
		}
		emit := func(what string) bool {
			changed, err := json.Marshal(whole)
			if err != nil {
				panic("releases: " + err.Error())
			}
			return yield(what, changed)
		}
		var walk func(path string, value any, set func(any)) bool
		walk = func(path string, value any, set func(any)) bool {
			other := any("text")
			switch value.(type) {
			case nil:
				return true
			case string, []any:
				other = map[string]any{"changed": 1}
			}
			set(other)
			ok := emit("type of " + path)
			set(value)
			switch value := value.(type) {
			case map[string]any:
				for _, name := range slices.Sorted(maps.Keys(value)) {
					if ok && !slices.Contains(opaque, name) {
						ok = walk(path+"."+name, value[name], func(v any) { value[name] = v })
					}
				}
				value["added_later"] = 1
				ok = ok && emit("field of "+path)
				delete(value, "added_later")
			case []any:
				for i := range value {
					ok = ok && walk(fmt.Sprintf("%s[%d]", path, i), value[i], func(v any) { value[i] = v })
				}
			}
			return ok
		}
		walk("", whole, func(v any) { whole = v })
	}
}

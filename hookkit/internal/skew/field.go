package skew

import (
	"strings"
	"unicode"

	"github.com/hookgen/hookgen/hookkit/wire"
)

// A fieldIndex finds fields of the objects of a shape in time that does not depend on their number: a hostile service
// may describe a hundred thousand, and reply with as many keys.
type fieldIndex struct {
	shape  *wire.Shape
	folded map[string]map[string]string // names of fields by object and folded name; made on first use
}

// find returns the name of the field for a key, or the key if there is none. Like encoding/json, it prefers an exact
// match and accepts another case.
func (x *fieldIndex) find(object, key string) (name string, ok bool) {
	fields := x.shape.Objects[object]
	if _, ok := fields[key]; ok {
		return key, true
	}
	names := x.folded[object]
	if names == nil {
		names = make(map[string]string, len(fields))
		for f := range fields {
			if old, ok := names[folded(f)]; !ok || f < old {
				names[folded(f)] = f
			}
		}
		if x.folded == nil {
			x.folded = map[string]map[string]string{}
		}
		x.folded[object] = names
	}
	if name, ok = names[folded(key)]; !ok {
		name = key
	}
	return name, ok
}

// folded returns the same text for texts that strings.EqualFold calls equal.
func folded(s string) string {
	return strings.Map(func(r rune) rune {
		for next := unicode.SimpleFold(r); ; next = unicode.SimpleFold(r) {
			if next <= r {
				return next
			}
			r = next
		}
	}, s)
}

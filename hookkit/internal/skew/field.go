package skew

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/hookgen/hookgen/hookkit/wire"
)

// A fieldIndex finds fields of the objects of a shape in time that does not depend on their number: a hostile service
// may describe a hundred thousand, and reply with as many keys.
type fieldIndex struct {
	shape  *wire.Shape
	folded map[[2]string]string // names of fields by object and folded name; made on first use
}

// find returns the name of the field for a key, or the key if there is none. Like encoding/json, it prefers an exact
// match and accepts another case.
func (x *fieldIndex) find(object, key string) (name string, ok bool) {
	if _, ok := x.shape.Objects[object][key]; ok {
		return key, true
	}
	if x.folded == nil {
		x.folded = map[[2]string]string{}
		for object, fields := range x.shape.Objects {
			for _, name := range slices.Backward(sortedKeys(fields)) {
				x.folded[[2]string{object, folded(name)}] = name
			}
		}
	}
	name, ok = x.folded[[2]string{object, folded(key)}]
	return cmp.Or(name, key), ok
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

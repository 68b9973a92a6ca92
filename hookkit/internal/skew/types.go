package skew

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/hookgen/hookgen/hookkit/wire"
)

// A typ is a type of a shape.
type typ struct {
	text   string
	head   string          // equal heads are equal types but for their elements and fields
	form   form            // of values; a list without objects is a leaf
	elem   *typ            // of a pointer, an array and a map
	fields map[string]*typ // of an object; nil for another type
	folded map[string]string
}

// find returns the name of the field for a key, or the key if there is none. Like encoding/json, it prefers an exact
// match and accepts another case. Its time does not depend on the number of fields: a hostile service may describe a
// hundred thousand, and reply with as many keys.
func (t *typ) find(key string) (name string, ok bool) {
	if _, ok := t.fields[key]; ok {
		return key, true
	}
	name, ok = t.folded[folded(key)]
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

// A typeReader reads the types of a shape, each text once.
type typeReader struct {
	objects map[string]map[string]string // of the shape
	read    map[string]*typ
}

func typesOf(s *wire.Shape) typeReader { return typeReader{s.Objects, map[string]*typ{}} }

// typ reads a type. A hostile service could describe a million pointers: a type that is longer than any of a program is
// one word, and so are further ones after more than a program has.
func (r typeReader) typ(text string) *typ {
	const longest, most = 2000, 100_000
	if t := r.read[text]; t != nil {
		return t
	}
	t := &typ{text: text, head: text}
	if len(text) > longest || len(r.read) > most {
		return t
	}
	r.read[text] = t
	end := strings.IndexByte(text, ']')
	switch {
	case strings.HasPrefix(text, "{") && strings.HasSuffix(text, "}"):
		t.head, t.form, t.fields, t.folded = "{", object, map[string]*typ{}, map[string]string{}
		fields := r.objects[text[1:len(text)-1]]
		for _, name := range slices.Backward(sortedKeys(fields)) { // so that the first of two spellings is found
			t.fields[name], t.folded[folded(name)] = r.typ(fields[name]), name
		}
		return t
	case strings.HasPrefix(text, "*"):
		end = 0
	case end >= 0 && strings.HasPrefix(text, "map["):
		t.form = table
	case end >= 0 && strings.HasPrefix(text, "["):
		if strings.Contains(text, "{") {
			t.form = list
		}
	default:
		return t
	}
	t.head, t.elem = text[:end+1], r.typ(text[end+1:])
	return t
}

// Types are the types of a shape that a service may send back.
type Types struct{ payload, edit *typ }

// TypesOf reads the types of a shape. Those of a nil shape are nil.
func TypesOf(s *wire.Shape) *Types {
	if s == nil {
		return nil
	}
	r := typesOf(s)
	return &Types{r.typ(s.Payload), r.typ(s.Decisions[wire.Edit])}
}

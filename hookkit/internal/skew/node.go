package skew

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/hookgen/hookgen/hookkit/internal/strictjson"
	"github.com/hookgen/hookgen/internal/jsonscan"
)

// A node is a JSON value with the members and items that a shape describes.
type node struct {
	raw     []byte
	form    form
	members map[string]*node // by the name of the field, or by the key of a map
	fields  map[string]*typ  // of an object: those that the shape has
	items   []*node
	known   uint64 // the hash of the part that the shape describes; equal parts have equal hashes
	unknown *step  // the path of a field that the shape lacks and that is not zero; nil without one
}

// A form describes the members and items of a node.
type form int

const (
	leaf   form = iota // neither; raw is all
	object             // the fields of a struct
	table              // the entries of a map
	list               // the items of a slice or an array
)

// A reader makes nodes of JSON that is valid.
type reader struct {
	jsonscan.Scanner
	deep   bool // objects of any type have members
	failed bool // a value that has only a hash is nested too deep
}

const maxDepth = 1000

// read returns the node for a JSON text of a type. Objects of the text have the fields of the type and others.
func read(text []byte, t *typ, deep bool) (*node, error) {
	r := reader{Scanner: jsonscan.Scanner{Data: text}, deep: deep}
	r.Blank()
	n, err := r.value(t, nil, 0)
	if r.failed {
		err = errDeep
	}
	return n, err
}

var errDeep = errors.New("nested too deep")

// anyType is the type of a value that the shape does not describe.
var anyType = &typ{text: "any", head: "any"}

// value reads the next value.
func (r *reader) value(t *typ, path *step, depth int) (*node, error) {
	if depth > maxDepth {
		return nil, errDeep
	}
	for t.head == "*" && t.elem != nil {
		t = t.elem
	}
	begin := r.At
	n := &node{}
	var err error
	switch c := r.Peek(); {
	case c == '{' && t.form == object:
		err = r.object(n, t, path, depth)
	case c == '{' && t.form == table:
		err = r.table(n, t.elem, path, depth)
	case c == '{' && r.deep:
		err = r.table(n, anyType, path, depth)
	case c == '[' && t.form == list:
		err = r.list(n, t.elem, path, depth)
	default:
		n.known = r.hash(depth)
	}
	n.raw = bytes.TrimRight(r.Data[begin:r.At], " \t\r\n")
	return n, err
}

// object reads a struct. A name in another case is the field, as for encoding/json.
func (r *reader) object(n *node, t *typ, path *step, depth int) (err error) {
	n.form, n.members, n.fields, n.known = object, map[string]*node{}, t.fields, zeroHash
	r.Members(func(key []byte) bool {
		name, ok := t.find(string(key))
		of := t.fields[name]
		at := path.member(name)
		if n.members[name] != nil {
			err = fmt.Errorf("$.value%v: given twice", at)
			return false
		}
		if !ok {
			of = anyType
		}
		var m *node
		if m, err = r.value(of, at, depth+1); err != nil {
			return false
		}
		n.members[name] = m
		if ok {
			if m.known != zeroHash {
				n.known += mix(hashText(name), m.known) // in any order
			}
			n.unknown = cmp.Or(n.unknown, m.unknown)
		} else if !strictjson.Zero(m.raw) {
			n.unknown = cmp.Or(n.unknown, at)
		}
		return true
	})
	return err
}

// table reads a map.
func (r *reader) table(n *node, elem *typ, path *step, depth int) (err error) {
	n.form, n.members, n.known = table, map[string]*node{}, zeroHash
	r.Members(func(key []byte) bool {
		name := string(key)
		var m *node
		if n.members[name] != nil {
			err = fmt.Errorf("$.value%v: given twice", path.member(name))
		} else if m, err = r.value(elem, path.member(name), depth+1); err == nil {
			n.members[name] = m
			n.known += mix(hashText(name), m.known)
			n.unknown = cmp.Or(n.unknown, m.unknown)
		}
		return err == nil
	})
	return err
}

// list reads a slice or an array.
func (r *reader) list(n *node, elem *typ, path *step, depth int) (err error) {
	n.form, n.known = list, zeroHash
	r.Items(func() bool {
		var m *node
		if m, err = r.value(elem, path.item(len(n.items)), depth+1); err != nil {
			return false
		}
		n.items = append(n.items, m)
		n.known = mix(n.known, m.known)
		n.unknown = cmp.Or(n.unknown, m.unknown)
		return true
	})
	return err
}

// seed makes the hashes of this process, so that nobody outside can choose texts with equal hashes.
var seed = maphash.MakeSeed()

// zeroHash is the hash of null, false, 0, "", [] and {}. A service may omit such a field that was sent, or send it.
var zeroHash = hashText("zero")

func hashText(s string) uint64 { return maphash.String(seed, s) }

func mix(a, b uint64) uint64 {
	var pair [16]byte
	binary.LittleEndian.PutUint64(pair[:8], a)
	binary.LittleEndian.PutUint64(pair[8:], b)
	return maphash.Bytes(seed, pair[:])
}

// hash reads a value of any type and returns its hash. The order of keys, blanks, escapes and the notation of numbers
// do not count.
func (r *reader) hash(depth int) uint64 {
	h := zeroHash
	if r.failed = r.failed || depth > maxDepth; r.failed {
		return h
	}
	switch r.Peek() {
	case '{':
		r.Members(func(key []byte) bool { h += mix(hashText(string(key)), r.hash(depth+1)); return !r.failed })
		return h
	case '[':
		r.Items(func() bool { h = mix(h, r.hash(depth+1)); return !r.failed })
		return h
	case '"':
		if text, _ := r.Decoded(); len(text) > 0 {
			h = mix(1, maphash.Bytes(seed, text))
		}
		return h
	}
	raw, _ := r.Literal()
	if strictjson.Zero(raw) {
		return h
	}
	return mix(2, hashText(number(string(raw))))
}

// number returns the usual notation of a number.
func number(text string) string {
	if f, err := strconv.ParseFloat(text, 64); err == nil && strings.ContainsAny(text, ".eE") {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return text
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

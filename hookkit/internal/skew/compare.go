package skew

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/hookkit/wire"
)

// Differences lists what two ends understand differently at a point: each text names the part and both sides. A field
// or an exit that one end lacks is not a difference, except an exit that only the service has.
func Differences(here, there *wire.Shape) []string {
	c := comparison{here: here, there: fieldIndex{shape: there}, met: map[[2]string]bool{}}
	if a, b := markers(here), markers(there); a != b {
		c.add("the law is %q in this program and %.200q in the service", here.Law, there.Law)
	}
	last, order := -1, exits(there)
	for _, name := range exits(here) {
		at := slices.Index(order, name)
		if at >= 0 && at < last {
			c.add("the exits are ordered %q in this program and %.200q in the service", here.Law, there.Law)
			break
		}
		last = max(last, at)
	}
	for _, name := range order {
		if _, ok := here.Decisions[name]; !ok {
			c.add("the service may decide %.100s, which this program does not have", name)
		}
	}
	c.types("the payload", here.Payload, there.Payload)
	for _, name := range slices.Concat([]string{wire.Edit}, exits(here)) {
		if theirs, ok := there.Decisions[name]; ok && here.Decisions[name] != "" {
			c.types(name, here.Decisions[name], theirs)
		}
	}
	if here.Collected != "" && there.Collected != "" {
		c.types("a contribution", here.Collected, there.Collected)
	}
	return c.found
}

// exits returns the exits in the law, the first one first.
func exits(s *wire.Shape) []string {
	var all []string
	for _, item := range items(s.Law) {
		if _, ok := s.Decisions[item]; ok {
			all = append(all, item)
		}
	}
	return all
}

// markers returns the law without the exits, and without the types of Edit and Collect, which are compared by their
// fields.
func markers(s *wire.Shape) string {
	var all []string
	for _, item := range items(s.Law) {
		if _, isExit := s.Decisions[item]; !isExit {
			name, _, _ := strings.Cut(item, "[")
			all = append(all, name)
		}
	}
	return strings.Join(all, ", ")
}

// items splits the list in a law, in which types can have commas.
func items(law string) []string {
	var all []string
	depth, begin := 0, 0
	for i, c := range law {
		switch {
		case c == '[':
			depth++
		case c == ']':
			depth--
		case c == ',' && depth == 0:
			all = append(all, strings.TrimSpace(law[begin:i]))
			begin = i + 1
		}
	}
	if rest := strings.TrimSpace(law[begin:]); rest != "" {
		all = append(all, rest)
	}
	return all
}

// A comparison collects the differences of two shapes.
type comparison struct {
	here  *wire.Shape
	there fieldIndex
	met   map[[2]string]bool // pairs of objects that are compared, or being compared
	found []string
}

// most is how many differences are listed, and how many pairs of objects are compared. A hostile service could describe
// more.
const (
	mostFound = 10
	mostPairs = 10_000
)

func (c *comparison) add(format string, args ...any) {
	if len(c.found) < mostFound {
		c.found = append(c.found, fmt.Sprintf(format, args...))
	}
}

// types compares two types of the same place.
func (c *comparison) types(path, here, there string) {
	for here != there || strings.HasSuffix(here, "}") {
		a, b := parse(here), parse(there)
		if a.head != b.head {
			c.add("%s is a %s in this program and a %.100s in the service", path, here, there)
			return
		}
		if a.object != "" {
			c.objects(path, a.object, b.object)
			return
		}
		path, here, there = path+a.step(), a.elem, b.elem
	}
}

func (c *comparison) objects(path, here, there string) {
	pair := [2]string{here, there}
	if c.met[pair] || len(c.met) >= mostPairs {
		return
	}
	c.met[pair] = true
	ours := c.here.Objects[here]
	for _, name := range sortedKeys(ours) {
		other, ok := c.there.find(there, name)
		if other == name && ok {
			c.types(path+"."+name, ours[name], c.there.shape.Objects[there][name])
		} else if _, own := ours[other]; ok && !own {
			c.add("%s.%s is spelled %.100q in the service", path, name, other)
		}
	}
}

// A typeExpr is a type of a shape, one level deep.
type typeExpr struct {
	head   string // equal heads have equal forms
	elem   string // of a pointer, an array and a map
	object string // the name of an object
}

// parse reads the first level of a type. A type that is longer than any of a program is read as one word: a hostile
// service could describe a million pointers, which would be read again for each item of a list.
func parse(expr string) typeExpr {
	const longest = 2000
	switch {
	case len(expr) > longest:
	case strings.HasPrefix(expr, "{") && strings.HasSuffix(expr, "}"):
		return typeExpr{head: "{", object: expr[1 : len(expr)-1]}
	case strings.HasPrefix(expr, "*"):
		return typeExpr{head: "*", elem: expr[1:]}
	case strings.HasPrefix(expr, "["), strings.HasPrefix(expr, "map["):
		if end := strings.IndexByte(expr, ']'); end >= 0 {
			return typeExpr{head: expr[:end+1], elem: expr[end+1:]}
		}
	}
	return typeExpr{head: expr}
}

// step returns the part of a path that leads to the element.
func (t typeExpr) step() string {
	if t.head == "*" {
		return ""
	}
	return "[]"
}

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
	ours, theirs := typesOf(here), typesOf(there)
	c := comparison{met: map[[2]*typ]bool{}}
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
	c.types("the payload", ours.typ(here.Payload), theirs.typ(there.Payload))
	for _, name := range slices.Concat([]string{wire.Edit}, exits(here)) {
		if other, ok := there.Decisions[name]; ok && here.Decisions[name] != "" {
			c.types(name, ours.typ(here.Decisions[name]), theirs.typ(other))
		}
	}
	if here.Collected != "" && there.Collected != "" {
		c.types("a contribution", ours.typ(here.Collected), theirs.typ(there.Collected))
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
	met   map[[2]*typ]bool // pairs of objects that are compared, or being compared
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
func (c *comparison) types(path string, here, there *typ) {
	a, b := here, there
	for ; a.head == b.head && a.elem != nil && b.elem != nil; a, b = a.elem, b.elem {
		path += a.step()
	}
	switch {
	case a.head != b.head:
		c.add("%s is a %s in this program and a %.100s in the service", path, a.text, b.text)
	case a.fields != nil:
		c.objects(path, a, b)
	}
}

func (c *comparison) objects(path string, here, there *typ) {
	pair := [2]*typ{here, there}
	if c.met[pair] || len(c.met) >= mostPairs {
		return
	}
	c.met[pair] = true
	for _, name := range sortedKeys(here.fields) {
		other, ok := there.find(name)
		if other == name && ok {
			c.types(path+"."+name, here.fields[name], there.fields[name])
		} else if _, own := here.fields[other]; ok && !own {
			c.add("%s.%s is spelled %.100q in the service", path, name, other)
		}
	}
}

// step returns the part of a path that leads to the element.
func (t *typ) step() string {
	if t.head == "*" {
		return ""
	}
	return "[]"
}

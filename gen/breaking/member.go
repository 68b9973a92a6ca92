package breaking

import (
	"go/ast"
	"go/token"
	"maps"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/gen"
)

// A member is a field or a method that can be selected from a value: one of its type, or one of an embedded field.
type member struct {
	owner   string // the type that declares it
	method  bool
	pointer bool // a method that only pointers have
	typ     gen.Written
	pos     token.Position
	depth   int // the number of embedded fields between
}

// replaces reports whether calls of a method that is gone compile with this member.
func (m member) replaces(c *comparison, gone gen.SurfaceMethod) bool {
	return m.method && c.same(gone.Signature, m.typ) && (gone.Pointer || !m.pointer)
}

// members are the exported members of a type, by the rules of Go: the shallowest wins, and if two have one depth,
// neither can be selected.
type members struct {
	chosen    map[string]member
	ambiguous map[string]bool
	opaque    map[string]bool // embedded types of other modules, whose members are unknown
}

// membersOf returns the members of a type.
func membersOf(v Version, t *gen.SurfaceType) members {
	m := members{map[string]member{}, map[string]bool{}, map[string]bool{}}
	met := map[string]bool{}
	type part struct {
		*gen.SurfaceType
		indirect bool // a pointer to it is embedded, so values have the methods of pointers, too
	}
	for level, depth := []part{{t, false}}, 0; len(level) > 0; depth++ {
		var next []part
		at := map[string][]member{}
		seen := map[string]bool{}
		for _, outer := range level {
			t := resolved(v, outer.SurfaceType)
			if met[t.Name] {
				continue
			}
			seen[t.Name] = true
			for _, f := range t.Fields {
				at[f.Name] = append(at[f.Name], member{owner: t.Name, typ: f.Type, pos: f.Pos, depth: depth})
				if embedded := v.Types[typeName(f.Type)]; f.Embedded && embedded != nil {
					next = append(next, part{embedded, outer.indirect || strings.HasPrefix(f.Type.Name, "*")})
				} else if f.Embedded {
					m.opaque[f.Type.Meaning] = true
				}
			}
			for _, f := range t.Methods {
				at[f.Name] = append(at[f.Name], member{t.Name, true, f.Pointer && !outer.indirect, f.Signature, f.Pos,
					depth})
			}
			for _, e := range t.Embeds { // of an interface
				if embedded := v.Types[typeName(e)]; embedded != nil {
					next = append(next, part{embedded, false})
				} else {
					m.opaque[e.Meaning] = true
				}
			}
		}
		maps.Copy(met, seen)
		for name, all := range at {
			if _, hidden := m.chosen[name]; hidden || m.ambiguous[name] || !ast.IsExported(name) {
				continue
			}
			if len(all) > 1 {
				m.ambiguous[name] = true
			} else {
				m.chosen[name] = all[0]
			}
		}
		level = next
	}
	return m
}

// visible reports whether hooks can see a field of a struct. An embedded field can be seen through its members, even if
// its own name is not exported.
func visible(v Version, t *gen.SurfaceType, f gen.SurfaceField) bool {
	if f.Exported || !f.Embedded {
		return f.Exported
	}
	without := *t
	without.Fields = slices.DeleteFunc(slices.Clone(t.Fields), func(g gen.SurfaceField) bool { return g.Name == f.Name })
	with, rest := membersOf(v, t), membersOf(v, &without)
	return len(with.opaque) > len(rest.opaque) ||
		!maps.EqualFunc(with.chosen, rest.chosen, func(a, b member) bool { return a.owner == b.owner && a.depth == b.depth })
}

// implied are the methods that packages such as fmt and encoding/json look for. A type that has one is printed, encoded
// or handled in another way.
var implied = []string{
	"String", "GoString", "Format", "Error", "Is", "As", "Unwrap", "LogValue", "IsZero", "Scan", "Value",
	"MarshalJSON", "UnmarshalJSON", "MarshalText", "UnmarshalText", "AppendText", "MarshalBinary", "UnmarshalBinary",
	"AppendBinary", "MarshalXML", "UnmarshalXML", "MarshalYAML", "UnmarshalYAML", "GobEncode", "GobDecode",
}

// encodes reports whether encoding/json looks for a method.
func encodes(method string) bool {
	return slices.Contains([]string{"MarshalJSON", "UnmarshalJSON", "MarshalText", "UnmarshalText", "IsZero"}, method)
}

// gained returns the verdict on a type that has a method now, and an explanation.
func (c *comparison) gained(method string, points []string) (Verdict, string) {
	switch {
	case encodes(method) && c.onWire(points):
		return BreaksWire, ": values are encoded in another way, so programs and hooks in other processes disagree"
	case slices.Contains(implied, method):
		return ChangesBehaviour, ": values are printed, encoded or handled in another way"
	}
	return Safe, ""
}

// compareMembers compares the members of embedded fields. A new field or method can hide one of them, or make it
// ambiguous. Members that are gone are reported for the type that declared them.
func (c *comparison) compareMembers(old, now *gen.SurfaceType, points []string) {
	before, after := membersOf(c.old, old), membersOf(c.now, now)
	for _, name := range slices.Sorted(maps.Keys(before.chosen)) {
		was := before.chosen[name]
		owner := was.owner
		t := c.now.Types[owner]
		if was.depth == 0 || t == nil || !declares(t, name) && !c.demands(t, name) {
			continue
		}
		is, ok := after.chosen[name]
		if ok && c.movedWithin(owner, is.owner) {
			continue
		}
		report := func(verdict Verdict, effect string) {
			c.report("member-hidden", verdict, points, now.Pos, was.pos, "%s of %s no longer means %s of %s: %s", name,
				now.Name, name, owner, effect)
		}
		switch {
		case after.ambiguous[name]:
			report(BreaksHooks, "another embedded field has one, too, so hooks that use it do not compile")
		case ok && is.owner != owner && is.method == was.method && c.same(was.typ, is.typ) && (was.pointer || !is.pointer):
			report(ChangesBehaviour, "it is now that of "+is.owner+", with the same type")
		case ok && is.owner != owner:
			report(BreaksHooks, "it is now that of "+is.owner+", so hooks that use it may not compile")
		}
	}
	for _, name := range implied {
		_, had := before.chosen[name]
		is, has := after.chosen[name]
		if !has || had || !is.method || is.depth == 0 || c.isNewThere(is.owner, name) {
			continue
		}
		verdict, effect := c.gained(name, points)
		c.report("method-added", verdict, points, now.Pos, old.Pos, "%s has the method %s of the embedded %s%s", now.Name,
			name, is.owner, effect)
	}
	for _, name := range slices.Sorted(maps.Keys(after.opaque)) {
		if !before.opaque[name] && now.Struct {
			verdict, effect := c.gained("MarshalJSON", points) // the worst that an unknown method can do
			c.report("method-added", verdict, points, now.Pos, old.Pos, "%s has the methods of the embedded %s%s", now.Name,
				name, effect)
		}
	}
}

// demands reports whether an interface of the new version has a method, perhaps that of an embedded interface.
func (c *comparison) demands(t *gen.SurfaceType, method string) bool {
	if !t.Interface {
		return false
	}
	_, ok := c.methodsOf(c.now, t).methods[method]
	return ok
}

// movedWithin reports whether one of two interfaces embeds the other, in one of the versions. A method of one is then
// the same as that of the other.
func (c *comparison) movedWithin(one, other string) bool {
	embeds := func(v Version, outer, inner string) bool {
		t := v.Types[outer]
		return t != nil && t.Interface && c.methodsOf(v, t).embedded[inner]
	}
	return embeds(c.old, one, other) || embeds(c.old, other, one) || embeds(c.now, one, other) || embeds(c.now, other, one)
}

// isNewThere reports whether a type of both versions has a method only now, which is a finding about that type.
func (c *comparison) isNewThere(owner, method string) bool {
	t := c.old.Types[owner]
	return t != nil && !declares(t, method)
}

// declares reports whether a type has a field or a method of its own.
func declares(t *gen.SurfaceType, name string) bool {
	return slices.ContainsFunc(t.Fields, func(f gen.SurfaceField) bool { return f.Name == name }) ||
		slices.ContainsFunc(t.Methods, func(m gen.SurfaceMethod) bool { return m.Name == name })
}

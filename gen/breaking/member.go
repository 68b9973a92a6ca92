package breaking

import (
	"go/ast"
	"maps"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/gen"
)

// A member is a field or a method that can be selected from a value: one of its type, or one of an embedded field.
type member struct {
	gen.SurfaceDecl
	owner   string // the type that declares it
	method  bool
	pointer bool // a method that only pointers have
	typ     gen.Written
	depth   int // the number of embedded fields between
	field   int // the last of them
}

// replaces reports whether calls of a method that is gone compile with this member.
func (m member) replaces(c *comparison, gone gen.SurfaceMethod) bool {
	return m.method && c.same(gone.Signature, m.typ) && (gone.Pointer || !m.pointer)
}

// members are the members of a type, by the rules of Go: the shallowest wins, and if two embedded fields of one depth
// have one, neither can be selected. To hooks, a method of an interface that is embedded in another is like one that is
// written out. Hidden members count in interfaces only, where they keep other packages from implementing them.
type members struct {
	chosen    map[string]member
	ambiguous map[string]bool
	types     map[string]bool        // the type, and the embedded ones whose members are known
	opaque    map[string]gen.Written // by meaning: embedded types whose members are unknown, and unions
}

// A part is a type that is embedded in another one.
type part struct {
	*gen.SurfaceType
	field    int  // the embedded field that has it, counted among those of its depth
	indirect bool // a pointer to it is embedded, so values have the methods of pointers, too
}

// membersOf returns the members of a type in one of the versions.
func (c *comparison) membersOf(v Version, t *gen.SurfaceType) members {
	m := members{map[string]member{}, map[string]bool{}, map[string]bool{}, map[string]gen.Written{}}
	for level, depth := []part{{SurfaceType: resolved(v, t)}}, 0; len(level) > 0; depth++ {
		var next []part
		at := map[string][]member{}
		for i := 0; i < len(level); i++ {
			p := level[i]
			add := func(decl gen.SurfaceDecl, typ gen.Written, method, pointer bool) {
				if !slices.ContainsFunc(at[decl.Name], func(other member) bool { return other.field == p.field }) {
					at[decl.Name] = append(at[decl.Name], member{decl, p.Name, method, pointer, typ, depth, p.field})
				}
			}
			for _, f := range p.Fields {
				add(f.SurfaceDecl, f.Type, false, false)
				if inner := c.known(v, typeName(f.Type)); f.Embedded && inner != nil && !m.types[inner.Name] {
					next = append(next, part{inner, len(next), p.indirect || strings.HasPrefix(f.Type.Name, "*")})
				} else if f.Embedded && inner == nil {
					m.opaque[f.Type.Meaning] = f.Type
				}
			}
			for _, f := range p.Methods {
				add(f.SurfaceDecl, f.Signature, true, f.Pointer && !p.indirect)
			}
			for _, e := range p.Embeds { // of an interface, which has their methods at the same depth
				inner := c.known(v, e.Name)
				if inner == nil || !inner.Interface {
					m.opaque[e.Meaning] = e
				} else if !slices.ContainsFunc(level, func(o part) bool { return o.SurfaceType == inner && o.field == p.field }) {
					level = append(level, part{inner, p.field, false})
				}
			}
		}
		for _, p := range level {
			m.types[p.Name] = true
		}
		m.choose(at, t.Interface)
		level = next
	}
	return m
}

// choose adds the members of one depth, unless there are shallower ones of their names.
func (m members) choose(at map[string][]member, hidden bool) {
	for name, all := range at {
		_, shallower := m.chosen[name]
		switch {
		case shallower || m.ambiguous[name] || !hidden && !ast.IsExported(name):
		case len(all) > 1:
			m.ambiguous[name] = true
		default:
			m.chosen[name] = all[0]
		}
	}
}

// known returns the type of a name, or nil if its members are unknown. If only a part of the old package is known, a
// type that is missing there may exist elsewhere.
func (c *comparison) known(v Version, name string) *gen.SurfaceType {
	t := v.Types[name]
	if t == nil {
		return nil
	}
	if t = resolved(v, t); c.old.Part && c.old.Types[t.Name] == nil {
		return nil
	}
	return t
}

// visible reports whether hooks can see a field of a struct. An embedded field can be seen through its members, even if
// its own name is not exported.
func (c *comparison) visible(v Version, t *gen.SurfaceType, f gen.SurfaceField) bool {
	if f.Exported || !f.Embedded {
		return f.Exported
	}
	without := *t
	without.Fields = slices.DeleteFunc(slices.Clone(t.Fields), func(g gen.SurfaceField) bool { return g.Name == f.Name })
	with, rest := c.membersOf(v, t), c.membersOf(v, &without)
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
	before, after := c.membersOf(c.old, old), c.membersOf(c.now, now)
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
			c.report("member-hidden", verdict, points, now.Pos, was.Pos, "%s of %s no longer means %s of %s: %s", name,
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
		if _, had := before.opaque[name]; !had && now.Struct {
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
	_, ok := c.membersOf(c.now, t).chosen[method]
	return ok
}

// movedWithin reports whether one of two interfaces embeds the other, in one of the versions. A method of one is then
// the same as that of the other.
func (c *comparison) movedWithin(one, other string) bool {
	embeds := func(v Version, outer, inner string) bool {
		t := v.Types[outer]
		return t != nil && t.Interface && c.membersOf(v, t).types[inner]
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

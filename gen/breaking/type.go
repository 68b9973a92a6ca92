package breaking

import (
	"cmp"
	"go/token"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/gen"
)

// compareTypes compares every type that both versions have.
func (c *comparison) compareTypes() {
	users := c.users()
	c.compareConsts(users)
	for _, name := range slices.Sorted(maps.Keys(c.old.Types)) {
		old, now := c.old.Types[name], c.now.Types[c.newName(name)]
		points := users[c.newName(name)]
		if now == nil {
			if old.Exported && !c.explained[name] && !isForeign(name) {
				c.report("type-removed", BreaksHooks, points, c.now.Pos, old.Pos,
					"the type %s is gone: hooks that use it do not compile%s", name, deprecateFirst(old.Deprecated))
			}
			continue
		}
		if old.Name != now.Name {
			rule, what, remedy := "type-renamed", "type", "an alias with the old name keeps them working"
			if now.Exit {
				rule, what, remedy = "exit-renamed", "exit", "list both for one release, the old one as deprecated"
			}
			verdict, why := BreaksHooks, "hooks that use it do not compile; "+remedy
			if !old.Exported {
				verdict, why = Safe, "hooks could not name it"
			}
			c.report(rule, verdict, points, now.Pos, old.Pos, "the %s %s is now called %s: %s", what, name, now.Name, why)
		}
		c.compareType(old, now, points)
	}
}

// sentBack reports whether hooks in other processes send values of the type: in a decision or as a contribution. The
// program refuses fields there that it does not know, and misses those that the hook does not know.
func (c *comparison) sentBack(name string) bool {
	return slices.ContainsFunc(c.pairs, func(p pair) bool {
		if !c.onWire([]string{p.now.Name}) {
			return false
		}
		sent := slices.Concat(p.now.Exits, p.now.Edit.Types, p.now.Collect.Types)
		if p.now.Replace {
			sent = append(sent, p.now.Payload.Types...)
		}
		return reach(c.now, sent)[name]
	})
}

// reach returns the types that can be reached from some types, with these.
func reach(v Version, from []string) map[string]bool {
	reached := map[string]bool{}
	for len(from) > 0 {
		name := from[len(from)-1]
		from = from[:len(from)-1]
		if reached[name] {
			continue
		}
		reached[name] = true
		if t := v.Types[name]; t != nil {
			from = append(from, t.Types...)
		}
	}
	return reached
}

// users returns the points that reach each type, by its new name, in the order of the new version.
func (c *comparison) users() map[string][]string {
	reached := map[string]map[string]bool{}
	add := func(v Version, p *gen.SurfacePoint, as string, name func(string) string) {
		from := slices.Clone(p.Exits)
		for _, w := range []gen.Written{p.Payload, p.Edit, p.Collect, p.Around} {
			from = append(from, w.Types...)
		}
		for t := range reach(v, from) {
			if reached[name(t)] == nil {
				reached[name(t)] = map[string]bool{}
			}
			reached[name(t)][as] = true
		}
	}
	for _, p := range c.pairs {
		add(c.old, p.old, p.now.Name, c.newName)
		add(c.now, p.now, p.now.Name, func(name string) string { return name })
	}
	for _, p := range c.added {
		add(c.now, p, p.Name, func(name string) string { return name })
	}
	users := map[string][]string{}
	for _, p := range c.now.Points {
		for t := range reached {
			if reached[t][p.Name] {
				users[t] = append(users[t], p.Name)
			}
		}
	}
	return users
}

// maxAliases bounds how many aliases of aliases are followed. Only code that does not compile has a cycle of them.
const maxAliases = 10

// resolved returns the type that an alias of another type of the surface means, or t itself.
func resolved(v Version, t *gen.SurfaceType) *gen.SurfaceType {
	for range maxAliases {
		next := v.Types[t.Underlying.Name]
		if !t.Alias || next == nil {
			break
		}
		t = next
	}
	return t
}

// compareType compares one type in both versions.
func (c *comparison) compareType(old, now *gen.SurfaceType, points []string) {
	c.compareDocs(points, old.Name, now.Name, docsOf(c.old, old, c.now, now), docsOf(c.now, now, c.old, old))
	oldPos, pos := old.Pos, now.Pos
	target := resolved(c.now, now)
	switch _, known := c.old.Types[target.Name]; {
	case old.Alias == now.Alias && (!old.Alias || c.same(old.Underlying, now.Underlying)):
	case !old.Alias && target != now && !known:
		c.report("type-renamed", Safe, points, pos, oldPos, "%s is declared as an alias of %s now", now.Name,
			now.Underlying.Text)
	default:
		// For example, a hook that passes a Text as a string needs the alias, and one with a case for each needs two types.
		c.report("type-changed", BreaksHooks, points, pos, oldPos, "%s is declared as %s and was %s: "+
			"hooks that use it may not compile", now.Name, declaredAs(now), declaredAs(old))
		return
	}
	old, now = resolved(c.old, old), target
	if c.old.Types[now.Name] != nil && old.Name == now.Name && (oldPos != old.Pos || pos != now.Pos) {
		return // two aliases of one type, which is compared by itself
	}
	report := func(rule string, verdict Verdict, format string, args ...any) {
		c.report(rule, verdict, points, pos, oldPos, format, args...)
	}
	if old.Params != now.Params && c.loosened(old, now) {
		report("type-changed", Safe, "the type parameters of %s are %s and were %s: they accept more types", now.Name,
			parameters(now), parameters(old))
	}
	if old.Struct != now.Struct || old.Interface != now.Interface || old.Params != now.Params && !c.loosened(old, now) ||
		!c.same(old.Underlying, now.Underlying) {
		report("type-changed", BreaksHooks, "%s is declared as %s and was %s: hooks that use it may not compile", now.Name,
			declaredAs(now), declaredAs(old))
		return
	}
	if now.Interface {
		c.compareInterface(old, now, points)
		return
	}
	c.compareFields(old, now, points)
	c.compareMethods(old, now, points)
	c.compareMembers(old, now, points)
	if old.Incomparable == "" && now.Incomparable != "" && !c.old.Part {
		report("not-comparable", BreaksHooks, "%s holds %s, so its values can no longer be compared: "+
			"hooks that compare them or use them as keys of a map do not compile", now.Name, now.Incomparable)
	}
}

// docsOf returns the comment of a type, and of those fields that the other version has, too. It is one text, because a
// comment of a type often explains its fields.
func docsOf(v Version, t *gen.SurfaceType, otherVersion Version, other *gen.SurfaceType) docs {
	lines := []string{}
	others := resolved(otherVersion, other).Fields
	for _, f := range resolved(v, t).Fields {
		i := slices.IndexFunc(others, func(o gen.SurfaceField) bool { return o.Name == f.Name })
		if i >= 0 && others[i].Deprecated == f.Deprecated {
			lines = append(lines, f.Name+": "+f.Doc)
		}
	}
	slices.Sort(lines) // so that a field that moved changes nothing
	text := t.Doc + strings.Join(lines, "")
	return docs{text, t.Deprecated, t.Pos}
}

// declaredAs describes the declaration of a type.
func declaredAs(t *gen.SurfaceType) string {
	params := ""
	if t.Params != "" {
		params = " with the type parameters " + parameters(t)
	}
	switch {
	case t.Alias:
		return "an alias of " + t.Underlying.Text
	case t.Struct:
		return "a struct" + params
	case t.Interface && len(t.Embeds) > 0:
		var embeds []string
		for _, e := range t.Embeds {
			embeds = append(embeds, e.Text)
		}
		return "an interface that embeds " + strings.Join(embeds, " and ") + params
	case t.Interface:
		return "an interface" + params
	}
	return t.Underlying.Text + params
}

// parameters describes the constraints of the type parameters of a type.
func parameters(t *gen.SurfaceType) string {
	list := strings.TrimSuffix(strings.ReplaceAll(t.Params, ";", ", "), ", ")
	return "[" + strings.ReplaceAll(list, anyType, "any") + "]"
}

// anyType is the canonical form of the type any.
const anyType = "interface()"

// loosened reports whether the type parameters accept every type that they accepted before.
func (c *comparison) loosened(old, now *gen.SurfaceType) bool {
	return slices.EqualFunc(strings.Split(old.Params, ";"), strings.Split(now.Params, ";"), func(was, is string) bool {
		return c.rename(was) == is || is == anyType
	})
}

// fieldRenames maps fields that are gone to the new fields that replace them: those of the same type, most likely those
// with the same tag, comment or place.
func (c *comparison) fieldRenames(old, now *gen.SurfaceType) map[string]string {
	type candidate struct {
		from, to string
		score    int
	}
	has := func(t *gen.SurfaceType, name string) bool {
		return slices.ContainsFunc(t.Fields, func(f gen.SurfaceField) bool { return f.Name == name })
	}
	var all []candidate
	for i, f := range old.Fields {
		for j, g := range now.Fields {
			if has(now, f.Name) || has(old, g.Name) || f.Embedded || g.Embedded || f.Exported != g.Exported ||
				f.Deprecated && !g.Deprecated || !c.same(f.Type, g.Type) {
				continue
			}
			score := likeness(f.Name, g.Name)
			if f.Tag != "" && f.Tag == g.Tag || f.Doc != "" && f.Doc == g.Doc {
				score += sameDoc
			}
			if i == j || len(old.Fields)-i == len(now.Fields)-j {
				score += samePlace
			}
			all = append(all, candidate{f.Name, g.Name, score})
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(b.score, a.score) })
	renames, taken := map[string]string{}, map[string]bool{}
	for _, a := range all {
		if renames[a.from] == "" && !taken[a.to] {
			renames[a.from], taken[a.to] = a.to, true
		}
	}
	return renames
}

// compareFields compares the fields of a struct.
func (c *comparison) compareFields(old, now *gen.SurfaceType, points []string) {
	renames := c.fieldRenames(old, now)
	places := map[string]int{} // of the fields of the new version
	for i, f := range now.Fields {
		places[f.Name] = i
	}
	of := described(now)
	met := map[string]bool{}
	var order []int
	var kept []gen.SurfaceField
	for _, f := range old.Fields {
		name := f.Name
		if to := renames[name]; to != "" {
			name = to
		}
		place, ok := places[name]
		breaks, why := BreaksHooks, "hooks that use it do not compile"+deprecateFirst(f.Deprecated)
		if !visible(c.old, old, f) {
			breaks, why = Safe, "hooks could not see it"
		}
		if !ok {
			c.explain(f.Type)
			c.report("field-removed", breaks, points, now.Pos, f.Pos, "the field %s of %s is gone: %s", f.Name, of, why)
			continue
		}
		met[name] = true
		order, kept = append(order, place), append(kept, f)
		g := now.Fields[place]
		if name != f.Name {
			c.report("field-renamed", breaks, points, g.Pos, f.Pos, "the field %s of %s is now called %s: %s", f.Name, of,
				name, why)
		}
		c.compareField(now, f, g, breaks, points)
	}
	stay := longestIncreasing(order)
	for i, f := range kept {
		if !stay[i] {
			c.report("field-moved", Safe, points, now.Fields[order[i]].Pos, f.Pos,
				"the field %s of %s moved: only literals without field names notice", now.Fields[order[i]].Name, of)
		}
	}
	for _, f := range now.Fields {
		verdict, why := Safe, "hooks see it, and old hooks that build the value leave it empty"
		if !visible(c.now, now, f) {
			why = "hooks cannot see it"
		} else if jsonTag(f) != "-" && c.sentBack(now.Name) {
			verdict, why = BreaksWire, "a program and a hook in another process must both know it; "+
				"old hooks lose it, and old programs refuse it"
		}
		if !met[f.Name] {
			c.report("field-added", verdict, points, f.Pos, token.Position{}, "the field %s of %s is new: %s", f.Name, of, why)
		}
	}
}

// described returns the name of a type for messages about its fields.
func described(t *gen.SurfaceType) string {
	if t.Exit {
		return "the exit " + t.Name
	}
	return t.Name
}

// compareField compares one field of a type in both versions. breaks is the verdict if its users do not compile.
func (c *comparison) compareField(t *gen.SurfaceType, f, g gen.SurfaceField, breaks Verdict, points []string) {
	of := described(t)
	why := func(effect string) string {
		if breaks == Safe {
			return "hooks could not see it"
		}
		return effect
	}
	switch {
	case f.Embedded && !g.Embedded:
		c.report("field-retyped", breaks, points, g.Pos, f.Pos, "the field %s of %s is no longer embedded: %s", g.Name, of,
			why("hooks that use its fields directly do not compile"))
	case !f.Embedded && g.Embedded && c.same(f.Type, g.Type):
		verdict, effect := c.flattened(g, points)
		c.report("field-retyped", verdict, points, g.Pos, f.Pos, "the field %s of %s is embedded%s", g.Name, of, effect)
	case !c.same(f.Type, g.Type):
		c.explain(f.Type)
		was, is := texts(f.Type, g.Type)
		c.report("field-retyped", breaks, points, g.Type.Pos, f.Type.Pos, "the field %s of %s is %s and was %s: %s", g.Name,
			of, is, was, why("hooks that use it may not compile"))
	}
	if f.Tag != g.Tag {
		verdict, effect := c.retagged(t, f, g, points)
		if breaks == Safe {
			verdict, effect = Safe, "no encoding sees it"
		}
		c.report("field-retagged", verdict, points, g.Pos, f.Pos, "the field %s of %s has the tag %s and had %s: %s", g.Name,
			of, quoted(g.Tag), quoted(f.Tag), effect)
	}
	if f.Deprecated != g.Deprecated {
		c.compareDocs(points, f.Name, "the field "+g.Name+" of "+of, docs{f.Doc, f.Deprecated, f.Pos},
			docs{g.Doc, g.Deprecated, g.Pos})
	}
}

// flattened returns the verdict on a field that is embedded now, and an explanation. The fields of an embedded struct
// are encoded like those of the struct around it, unless a tag names it.
func (c *comparison) flattened(f gen.SurfaceField, points []string) (Verdict, string) {
	t := c.now.Types[typeName(f.Type)]
	switch {
	case jsonName(f) != "" || t != nil && !resolved(c.now, t).Struct:
		return Safe, ""
	case c.onWire(points):
		return BreaksWire, ": its fields have another place in JSON, so programs and hooks in other processes disagree"
	}
	return ChangesBehaviour, ": its fields have another place in JSON"
}

// texts returns two types for a message. Types that are written alike, but mean something else, are written out.
func texts(old, now gen.Written) (was, is string) {
	if old.Text == now.Text {
		return old.Meaning, now.Meaning
	}
	return old.Text, now.Text
}

// onWire reports whether other processes see one of the points, in both versions.
func (c *comparison) onWire(points []string) bool {
	return c.old.Wire && c.now.Wire && slices.ContainsFunc(c.pairs, func(p pair) bool {
		return slices.Contains(points, p.now.Name) && p.now.Kind != gen.Around && !p.old.Local && !p.now.Local
	})
}

// retagged returns the verdict on the tag of a field of t that hooks see, and an explanation.
func (c *comparison) retagged(t *gen.SurfaceType, f, g gen.SurfaceField, points []string) (Verdict, string) {
	before, after := encodedAs(f), encodedAs(g)
	// If two embedded structs have a field of one name, JSON has the one whose tag names it.
	if c.isEmbedded(t) && before == after && (jsonName(f) == "") != (jsonName(g) == "") {
		after = "" // as if the field had been left out
	}
	switch {
	case before != after && c.onWire(points):
		return BreaksWire, "programs and hooks in other processes disagree"
	case before == after && withoutJSON(f.Tag) == withoutJSON(g.Tag):
		return Safe, "it is encoded as before"
	}
	return ChangesBehaviour, "whoever encodes or decodes it must know"
}

// isEmbedded reports whether a struct embeds a type.
func (c *comparison) isEmbedded(t *gen.SurfaceType) bool {
	for _, other := range c.now.Types {
		if slices.ContainsFunc(other.Fields, func(f gen.SurfaceField) bool {
			return f.Embedded && typeName(f.Type) == t.Name
		}) {
			return true
		}
	}
	return false
}

// jsonTag returns the tag of a field for encoding/json.
func jsonTag(f gen.SurfaceField) string { return reflect.StructTag(f.Tag).Get("json") }

// encodedAs returns the name of a field in JSON and its options, or "" if JSON leaves the field out. A tag without a
// name means the name of the field. The tag "-," means the name "-".
func encodedAs(f gen.SurfaceField) string {
	tag := jsonTag(f)
	if tag == "-" {
		return ""
	}
	name, options, _ := strings.Cut(tag, ",")
	if name == "" && !f.Embedded {
		name = f.Name
	}
	return name + "," + options
}

// jsonName returns the name of a field in its tag for encoding/json, or "".
func jsonName(f gen.SurfaceField) string {
	name, _, _ := strings.Cut(jsonTag(f), ",")
	return name
}

// jsonPart matches the part of a tag that is for encoding/json.
var jsonPart = regexp.MustCompile(`(^| )json:"(\\.|[^"\\])*"`)

// withoutJSON returns a tag without its part for encoding/json.
func withoutJSON(tag string) string { return strings.TrimSpace(jsonPart.ReplaceAllString(tag, "")) }

// quoted returns a tag as written, or "none".
func quoted(tag string) string {
	if tag == "" {
		return "none"
	}
	return "`" + tag + "`"
}

// compareMethods compares the declared methods of a type.
func (c *comparison) compareMethods(old, now *gen.SurfaceType, points []string) {
	find := func(t *gen.SurfaceType, name string) *gen.SurfaceMethod {
		for i := range t.Methods {
			if t.Methods[i].Name == name {
				return &t.Methods[i]
			}
		}
		return nil
	}
	promoted := membersOf(c.now, now)
	for _, m := range old.Methods {
		n := find(now, m.Name)
		if n != nil {
			c.compareDocs(points, old.Name+"."+m.Name, now.Name+"."+n.Name, docs{m.Doc, m.Deprecated, m.Pos},
				docs{n.Doc, n.Deprecated, n.Pos})
		}
		switch {
		case n == nil && promoted.chosen[m.Name].replaces(c, m):
			c.report("method-removed", ChangesBehaviour, points, now.Pos, m.Pos,
				"the method %s of %s is gone: hooks that call it now call that of the embedded %s", m.Name, now.Name,
				promoted.chosen[m.Name].owner)
		case n == nil:
			c.report("method-removed", BreaksHooks, points, now.Pos, m.Pos,
				"the method %s of %s is gone: hooks that call it do not compile%s", m.Name, now.Name,
				deprecateFirst(m.Deprecated))
		case !c.same(m.Signature, n.Signature):
			c.report("method-changed", BreaksHooks, points, n.Pos, m.Pos,
				"the method %s of %s is %s and was %s: hooks that use it may not compile", m.Name, now.Name, n.Signature.Text,
				m.Signature.Text)
		case !m.Pointer && n.Pointer:
			c.report("method-changed", BreaksHooks, points, n.Pos, m.Pos,
				"the method %s of %s needs a pointer now: values of the type no longer have it", m.Name, now.Name)
		case m.Pointer && !n.Pointer:
			verdict, effect := c.gained(n.Name, points)
			c.report("method-changed", verdict, points, n.Pos, m.Pos, "values of %s have the method %s now, too%s", now.Name,
				n.Name, effect)
		}
	}
	for _, n := range now.Methods {
		if find(old, n.Name) == nil && !c.old.Part {
			verdict, effect := c.gained(n.Name, points)
			c.report("method-added", verdict, points, n.Pos, old.Pos, "the method %s of %s is new%s", n.Name, now.Name, effect)
		}
	}
}

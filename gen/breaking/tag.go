package breaking

import (
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/gen"
)

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

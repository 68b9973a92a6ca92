package loop

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// Checking arguments recurses, and a stack that overflows ends the program. So a value is checked against at most
// maxSchemas schemas one within the other before its parts are, and has at most maxNesting levels of them.
const (
	maxSchemas = 32
	maxNesting = 1000
)

// A schemaGraph says which schemas a value is checked against because it is checked against another one: parts of it
// that concern the same value, and what it refers to.
type schemaGraph struct {
	at     map[string]*jsonschema.Schema // by JSON Pointer from the root
	path   map[*jsonschema.Schema]string
	base   map[*jsonschema.Schema]*jsonschema.Schema // what its references start from
	depth  map[*jsonschema.Schema]int                // of schemas below it for the same value, -1 while it is being found
	anchor map[string][]*jsonschema.Schema
	ids    []*jsonschema.Schema
}

// bounded reports a schema that leads back to itself for the same value, or through too many others.
func bounded(root *jsonschema.Schema) error {
	g := &schemaGraph{
		at: make(map[string]*jsonschema.Schema), path: make(map[*jsonschema.Schema]string), base: make(map[*jsonschema.Schema]*jsonschema.Schema),
		depth: make(map[*jsonschema.Schema]int), anchor: make(map[string][]*jsonschema.Schema),
	}
	g.add(root, root, "")
	for s := range g.path {
		if _, err := g.below(s); err != nil {
			return err
		}
	}
	return nil
}

// add takes in a schema and all that it consists of.
func (g *schemaGraph) add(s, base *jsonschema.Schema, path string) {
	if s.ID != "" {
		base = s
		g.ids = append(g.ids, s)
		if name, ok := strings.CutPrefix(s.ID, "#"); ok {
			g.anchor[name] = append(g.anchor[name], s)
		}
	}
	for _, name := range []string{s.Anchor, s.DynamicAnchor} {
		if name != "" {
			g.anchor[name] = append(g.anchor[name], s)
		}
	}
	g.at[path], g.path[s], g.base[s] = s, path, base
	for name, part := range partsOf(s, true) {
		g.add(part, base, path+name)
	}
	for name, part := range partsOf(s, false) {
		g.add(part, base, path+name)
	}
}

// partsOf returns the schemas within a schema, by JSON Pointer: those for the same value, or those for its parts
// and for nothing.
func partsOf(s *jsonschema.Schema, same bool) map[string]*jsonschema.Schema {
	type (
		one  = map[string]*jsonschema.Schema
		list = map[string][]*jsonschema.Schema
		more = map[string]map[string]*jsonschema.Schema
	)
	ones := one{
		"items": s.Items, "additionalItems": s.AdditionalItems, "contains": s.Contains, "unevaluatedItems": s.UnevaluatedItems, "contentSchema": s.ContentSchema,
		"additionalProperties": s.AdditionalProperties, "propertyNames": s.PropertyNames, "unevaluatedProperties": s.UnevaluatedProperties,
	}
	lists := list{"prefixItems": s.PrefixItems, "items": s.ItemsArray}
	maps := more{"$defs": s.Defs, "definitions": s.Definitions, "properties": s.Properties, "patternProperties": s.PatternProperties}
	if same {
		ones = one{"not": s.Not, "if": s.If, "then": s.Then, "else": s.Else}
		lists = list{"allOf": s.AllOf, "anyOf": s.AnyOf, "oneOf": s.OneOf}
		maps = more{"dependentSchemas": s.DependentSchemas, "dependencies": s.DependencySchemas}
	}
	parts := make(map[string]*jsonschema.Schema)
	put := func(path string, part *jsonschema.Schema) {
		if part != nil {
			parts[path] = part
		}
	}
	for name, part := range ones {
		put("/"+name, part)
	}
	for name, all := range lists {
		for i, part := range all {
			put("/"+name+"/"+strconv.Itoa(i), part)
		}
	}
	for name, all := range maps {
		for key, part := range all {
			put("/"+name+"/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(key), part)
		}
	}
	return parts
}

// below returns through how many schemas a value goes from s on.
func (g *schemaGraph) below(s *jsonschema.Schema) (int, error) {
	if n, known := g.depth[s]; n < 0 {
		return 0, fmt.Errorf("at %q it refers to itself for the same value; let it refer to itself for a property or an item", "#"+g.path[s])
	} else if known {
		return n, nil
	}
	g.depth[s] = -1
	deepest := 0
	visit := func(next *jsonschema.Schema) error {
		n, err := g.below(next)
		deepest = max(deepest, n+1)
		return err
	}
	for _, part := range partsOf(s, true) {
		if err := visit(part); err != nil {
			return 0, err
		}
	}
	for _, ref := range []string{s.Ref, s.DynamicRef} {
		for _, target := range g.targets(s, ref) {
			if err := visit(target); err != nil {
				return 0, err
			}
		}
	}
	if deepest > maxSchemas {
		return 0, fmt.Errorf("at %q more than %d schemas are one within the other for the same value; use fewer", "#"+g.path[s], maxSchemas)
	}
	g.depth[s] = deepest
	return deepest, nil
}

// targets returns what a reference in s may mean. One that could mean several schemas means all of them.
func (g *schemaGraph) targets(s *jsonschema.Schema, ref string) (found []*jsonschema.Schema) {
	to, err := url.Parse(ref)
	if ref == "" || err != nil {
		return nil
	}
	fragment := to.Fragment
	to.Fragment, to.RawFragment = "", ""
	bases := []*jsonschema.Schema{g.base[s], g.at[""]}
	if to.String() != "" {
		bases = append(g.ids, g.at[""])
	}
	for _, base := range bases {
		if target := g.at[g.path[base]+fragment]; target != nil && (fragment == "" || fragment[0] == '/') {
			found = append(found, target)
		}
	}
	return append(found, g.anchor[fragment]...)
}

// nested reports whether JSON has more than so many levels of objects and lists.
func nested(data []byte, most int) bool {
	level, text := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case text && c == '\\':
			i++
		case c == '"':
			text = !text
		case text:
		case c == '{' || c == '[':
			if level++; level > most {
				return true
			}
		case c == '}' || c == ']':
			level--
		}
	}
	return false
}

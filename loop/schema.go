package loop

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// Validation recurses over the schema, and a stack overflow would crash the program. For one value, validation may
// nest at most maxSchemas schemas and visit at most maxChecks. A value may have at most maxNesting levels.
const (
	maxSchemas = 32
	maxChecks  = 1 << 15
	maxNesting = 1000
)

// A schemaGraph has an edge from a schema to every schema that the validator applies to the same value. Edges lead
// to parts such as allOf, and to the targets of references.
type schemaGraph struct {
	at     map[string]*jsonschema.Schema // by JSON Pointer from the root
	path   map[*jsonschema.Schema]string
	base   map[*jsonschema.Schema]*jsonschema.Schema // the nearest enclosing schema with an identity, or the root
	uri    map[*jsonschema.Schema]*url.URL           // of each base
	byURI  map[string]*jsonschema.Schema
	anchor map[string][]*jsonschema.Schema
	cost   map[*jsonschema.Schema]cost
}

// A cost bounds the work of validating one value against a schema.
type cost struct {
	depth  int // nesting of schemas; -1 while it is being computed
	checks int
}

// bounded returns an error if a schema refers to itself for the same value, or exceeds the limits.
func bounded(root *jsonschema.Schema) error {
	g := &schemaGraph{
		at: make(map[string]*jsonschema.Schema), path: make(map[*jsonschema.Schema]string),
		base: make(map[*jsonschema.Schema]*jsonschema.Schema),
		uri:  map[*jsonschema.Schema]*url.URL{root: {}}, byURI: map[string]*jsonschema.Schema{"": root},
		anchor: make(map[string][]*jsonschema.Schema), cost: make(map[*jsonschema.Schema]cost),
	}
	g.add(root, root, "")
	for s := range g.path {
		if _, err := g.from(s); err != nil {
			return err
		}
	}
	return nil
}

// add adds a schema and its parts to the graph.
func (g *schemaGraph) add(s, base *jsonschema.Schema, path string) {
	if name, ok := strings.CutPrefix(s.ID, "#"); ok { // an anchor, in draft 7
		g.anchor[name] = append(g.anchor[name], s)
	} else if id, err := url.Parse(s.ID); s.ID != "" && err == nil {
		uri := g.uri[base].ResolveReference(id)
		base, g.uri[s], g.byURI[uri.String()] = s, uri, s
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

// partsOf returns the direct parts of a schema by JSON Pointer. If same is set, it returns the parts that apply to
// the same value; otherwise the others, for example properties and definitions.
func partsOf(s *jsonschema.Schema, same bool) map[string]*jsonschema.Schema {
	type (
		one  = map[string]*jsonschema.Schema
		list = map[string][]*jsonschema.Schema
		more = map[string]map[string]*jsonschema.Schema
	)
	ones := one{
		"items": s.Items, "additionalItems": s.AdditionalItems, "contains": s.Contains,
		"unevaluatedItems": s.UnevaluatedItems, "contentSchema": s.ContentSchema,
		"additionalProperties": s.AdditionalProperties, "propertyNames": s.PropertyNames,
		"unevaluatedProperties": s.UnevaluatedProperties,
	}
	lists := list{"prefixItems": s.PrefixItems, "items": s.ItemsArray}
	maps := more{
		"$defs": s.Defs, "definitions": s.Definitions, "properties": s.Properties, "patternProperties": s.PatternProperties,
	}
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

// from returns the cost of validating one value against s.
func (g *schemaGraph) from(s *jsonschema.Schema) (cost, error) {
	if c, known := g.cost[s]; known && c.depth < 0 {
		return c, fmt.Errorf("at %q it refers to itself for the same value; let it refer to itself for a property or an item",
			"#"+g.path[s])
	} else if known {
		return c, nil
	}
	g.cost[s] = cost{depth: -1}
	next := slices.Collect(maps.Values(partsOf(s, true)))
	next = append(next, g.targets(s, s.Ref)...)
	next = append(next, g.targets(s, s.DynamicRef)...)
	all := cost{checks: 1}
	for _, part := range next {
		c, err := g.from(part)
		if err != nil {
			return c, err
		}
		all.depth, all.checks = max(all.depth, c.depth+1), all.checks+c.checks
		if all.depth > maxSchemas || all.checks > maxChecks {
			return all,
				fmt.Errorf("at %q it is more than %d nested schemas, or %d in all, for the same value; use fewer",
					"#"+g.path[s], maxSchemas, maxChecks)
		}
	}
	g.cost[s] = all
	return all, nil
}

// targets returns the schemas that a reference in s can resolve to: one schema, or all with a dynamic anchor.
func (g *schemaGraph) targets(s *jsonschema.Schema, ref string) (found []*jsonschema.Schema) {
	to, err := url.Parse(ref)
	if ref == "" || err != nil {
		return nil
	}
	to = g.uri[g.base[s]].ResolveReference(to)
	fragment := to.Fragment
	to.Fragment, to.RawFragment = "", ""
	base := g.byURI[to.String()]
	if base == nil {
		return nil
	}
	if fragment == "" || fragment[0] == '/' {
		if target := g.at[g.path[base]+fragment]; target != nil {
			found = append(found, target)
		}
		return found
	}
	for _, target := range g.anchor[fragment] {
		if g.base[target] == base || target.DynamicAnchor == fragment && s.DynamicRef == ref {
			found = append(found, target)
		}
	}
	return found
}

// nested reports whether JSON has more than most levels of objects and lists.
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

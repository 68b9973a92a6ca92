package remote_test

import (
	"fmt"
	"strings"

	"github.com/hookgen/hookgen/gen/model"
	"pgregory.net/rapid"
)

// A specText is a random spec that is marked for the wire, and that hookgen accepts.
type specText struct {
	t     *rapid.T
	types []string // for payloads, fields and contributions
	bases []string // exported structs without methods, which others embed
	exits []string
	body  strings.Builder

	without []string // the points that have no messages
}

// beginning is the beginning of each spec, with types that encoding/json treats in ways of its own.
const beginning = `

import (
	"encoding/hex"
	"encoding/json"
	"math/big"
	"net/netip"
	"time"

	"github.com/hookgen/hookgen/spec"
)

var (
	_ json.RawMessage
	_ big.Int
	_ netip.Addr
	_ time.Time
)

// Label is a text.
type Label string

type Level int8

type Labels []Label

// A Hex is written as text by its methods.
type Hex [2]byte

func (h Hex) MarshalText() ([]byte, error) { return []byte(hex.EncodeToString(h[:])), nil }

func (h *Hex) UnmarshalText(text []byte) error {
	_, err := hex.Decode(h[:], text)
	return err
}

// A Pair is generic.
type Pair[A, B any] struct {
	First  A ` + "`json:\"first\"`" + `
	Second B ` + "`json:\"second,omitempty\"`" + `
}

// A Node is recursive.
type Node struct {
	Label
	Kids []Node
	Next *Node ` + "`json:\"next,omitempty\"`" + `
}

// A hidden struct is not exported, and its fields are.
type hidden struct {
	Inside string
	Name   Label ` + "`json:\"name\"`" + `
}

`

// drawSpec draws a spec for a package.
func drawSpec(t *rapid.T, pkg string) *specText {
	g := &specText{t: t}
	g.printf("package %s%s", pkg, beginning)
	g.types = []string{"Label", "Level", "Labels", "Hex", "Node", "int", "string", "bool", "float64", "float32", "uint64",
		"any", "[]byte", "struct{}", "time.Time", "time.Duration", "json.RawMessage", "netip.Addr", "*big.Int"}
	for i := range g.n("structs", 1, 4) {
		name := fmt.Sprint("Base", i)
		g.declare(name, g.bases)
		g.types, g.bases = append(g.types, name), append(g.bases, name)
	}
	for i := range g.n("payloads", 1, 3) {
		name := fmt.Sprint("Item", i)
		g.declare(name, append([]string{"hidden", "*Base0", "Label", "Pair[int, string]"}, g.bases...))
		g.types = append(g.types, name)
	}
	for i := range g.n("exits", 1, 4) {
		name := fmt.Sprint("Exit", i)
		g.declare(name, g.bases)
		g.exits = append(g.exits, name)
	}
	g.printf("type Body %s\n\n// A Draft has a field that hooks edit.\ntype Draft struct {\n\tText Body %s\n",
		pick(g, "body", []string{"string", "[]string", "struct{ Title string; Lines []Label }", "map[string]int", "*Label"}),
		pick(g, "tag", []string{"", "`json:\"body\"`"}))
	g.printf("\tRest %s\n}\n\n", g.typ(1))
	g.points()
	return g
}

func (g *specText) printf(format string, args ...any) { fmt.Fprintf(&g.body, format, args...) }

func (g *specText) n(label string, low, high int) int {
	return rapid.IntRange(low, high).Draw(g.t, label)
}

func (g *specText) odds(label string, of int) bool { return g.n(label, 1, of) == 1 }

func pick[T any](g *specText, label string, from []T) T {
	return rapid.SampledFrom(from).Draw(g.t, label)
}

// typ draws a type.
func (g *specText) typ(depth int) string {
	if depth <= 0 {
		return pick(g, "type", g.types)
	}
	inner := g.typ(depth - 1)
	switch g.n("shape", 0, 9) {
	case 0:
		return "*" + inner
	case 1:
		return "[]" + inner
	case 2:
		return "[2]" + inner
	case 3:
		return fmt.Sprintf("map[%s]%s", pick(g, "key", []string{"string", "Label", "int", "uint8", "Level", "Hex"}), inner)
	case 4:
		return fmt.Sprintf("Pair[%s, %s]", inner, g.typ(depth-1))
	case 5:
		return fmt.Sprintf("struct { A %s `json:\"a\"`; B, C %s }", inner, g.typ(depth-1))
	default:
		return inner
	}
}

// declare declares a struct. It may embed the given types.
func (g *specText) declare(name string, embeddable []string) {
	g.printf("// %s is a struct.\ntype %s struct {\n", name, name)
	embedded := map[string]bool{}
	for range g.n("embedded", 0, min(2, len(embeddable))) {
		typ := pick(g, "embedded type", embeddable)
		if name := strings.TrimPrefix(typ, "*"); !embedded[name] {
			embedded[name] = true
			g.printf("\t%s\n", typ)
		}
	}
	for i := range g.n("fields", 0, 4) {
		field := pick(g, "field", []string{"Reason", "Name", "Größe", "ID", "name_"})
		if field == "name_" {
			field = "Name_"
		}
		typ := g.typ(g.n("depth", 0, 2))
		if field == "Reason" {
			typ = "string"
		}
		if i > 0 {
			field += fmt.Sprint(i)
		}
		g.printf("\t%s %s %s\n", field, typ, g.tag())
	}
	g.printf("}\n\n")
}

// tag draws the tag of a field. Some give it the name that another field has.
func (g *specText) tag() string {
	return pick(g, "tag", []string{"", "", "", "`json:\"name\"`", "`json:\"inside,omitempty\"`", "`json:\",omitempty\"`",
		"`json:\"größe,omitzero\"`", "`json:\"-,\"`", "`json:\"a.b\"`", "`json:\"a\\\\b\"`", "`json:\"-\"`",
		"`json:\"ID\"`", "`xml:\"x\"`"})
}

// points declares the fire points, with laws of every kind.
func (g *specText) points() {
	g.printf("//hookgen:points\n//hookgen:wire\ntype Points interface {\n")
	if g.odds("environment", 2) {
		g.printf("\tspec.Env[*Env]\n")
	}
	for i := range g.n("points", 3, 6) {
		payload := "Draft"
		edits := g.odds("edits", 4)
		if !edits {
			payload = g.typ(g.n("depth", 0, 3))
		}
		name, law := fmt.Sprint("On", i), g.law(edits)
		local := g.odds("local", 12)
		if local {
			g.printf("\t//hookgen:local\n")
		}
		if local || strings.HasPrefix(law, "spec.Around") {
			g.without = append(g.without, name)
		}
		g.printf("\t%s(%s) %s\n", name, payload, law)
	}
	g.printf("}\n\n// Env is the environment.\ntype Env struct{ Name string }\n")
}

// law draws a result list. edits says that the payload is a Draft.
func (g *specText) law(edits bool) string {
	policy := pick(g, "policy", []string{"spec.FailClosed", "spec.FailOpen"})
	var list []string
	for _, m := range model.Flags() {
		if g.odds(m.Name, 5) {
			list = append(list, m.Usage())
		}
	}
	kind := g.n("law", 0, 11)
	switch {
	case kind == 0 && !edits:
		return strings.Join(list, "")
	case kind == 1 && !edits:
		return pick(g, "check", []string{"spec.Check", "spec.CheckAll"})
	case kind == 2 && !edits:
		return "spec.Around[" + g.typ(1) + "]"
	case kind == 3 && !edits:
		return "(" + strings.Join(append(list, g.collect(), policy), ", ") + ")"
	case kind < 6 && !edits:
		list = append(append(list, "spec.Vote"), g.someExits(1)...)
	default:
		if g.odds("replace", 2) || !edits {
			list = append(list, "spec.Replace")
		}
		if edits {
			list = append(list, "spec.Edit[Body]")
		}
		list = append(list, g.someExits(0)...)
	}
	if g.odds("collects", 3) {
		list = append(list, g.collect())
	}
	return "(" + strings.Join(append(list, policy), ", ") + ")"
}

func (g *specText) collect() string { return "spec.Collect[" + g.typ(g.n("depth", 0, 2)) + "]" }

func (g *specText) someExits(least int) []string {
	some := rapid.SliceOfNDistinct(rapid.SampledFrom(g.exits), least, len(g.exits), rapid.ID[string])
	return some.Draw(g.t, "exits here")
}

package graph

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/hookgen/hookgen/gen/summary"
)

// dotColors are the colors of a law: that of the background and that of the border.
var dotColors = map[string][2]string{
	"observe": {"#eaeef2", "#8c959f"}, "flow": {"#ddf4ff", "#0969da"}, "vote": {"#fbefff", "#8250df"},
	"collect": {"#dafbe1", "#1a7f37"}, "check": {"#fff1e5", "#bc4c00"}, "around": {"#d9f5f1", "#0f766e"},
}

func dot(s *summary.Spec) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "// %s\ndigraph points {\n\tlabel=%s; labelloc=t; rankdir=TB;\n", Header, dotText(title(s)))
	b.WriteString("\tnode [shape=box, style=\"rounded,filled\", fontname=\"Helvetica\", fontsize=11];\n" +
		"\tedge [fontname=\"Helvetica\", fontsize=10];\n")
	var declare func(items []*item, indent string)
	declare = func(items []*item, indent string) {
		for _, i := range items {
			switch {
			case i.group != "":
				fmt.Fprintf(&b, "%ssubgraph cluster_%s {\n%s\tlabel=%s; style=rounded;\n", indent, i.id, indent,
					dotText(i.group))
				declare(i.items, indent+"\t")
				fmt.Fprintf(&b, "%s}\n", indent)
			case i.parent != nil:
				fmt.Fprintf(&b, "%s%s [label=%s, style=\"rounded,dashed\"];\n", indent, i.id,
					dotText(i.parent.Name+".Points", i.parent.Path))
			default:
				colors := dotColors[i.point.Law]
				fmt.Fprintf(&b, "%s%s [label=%s, fillcolor=\"%s\", color=\"%s\"];\n", indent, i.id,
					dotText(signature(i.point), law(i.point)), colors[0], colors[1])
				for n, x := range i.point.Exits {
					fmt.Fprintf(&b, "%s%sx%d [label=%s, shape=oval, style=filled, fillcolor=\"#fff8c5\", color=\"#9a6700\"];\n",
						indent, i.id, n+1, dotText(x))
					label := ""
					if r := rank(i.point, n); r != "" {
						label = ", label=" + dotText(r)
					}
					fmt.Fprintf(&b, "%s%s -> %sx%d [style=dashed%s];\n", indent, i.id, i.id, n+1, label)
				}
			}
		}
	}
	items, chain := tree(s)
	declare(items, "\t")
	if len(chain) > 1 {
		fmt.Fprintf(&b, "\t%s [weight=10];\n", join(chain, " -> "))
	}
	b.WriteString("}\n")
	return []byte(b.String())
}

// dotText returns lines as a quoted string.
func dotText(lines ...string) string {
	escaped := make([]string, len(lines))
	for i, line := range lines {
		line = strings.Map(func(r rune) rune {
			if !unicode.IsPrint(r) {
				return unicode.ReplacementChar
			}
			return r
		}, line)
		escaped[i] = strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(line)
	}
	return `"` + strings.Join(escaped, `\n`) + `"`
}

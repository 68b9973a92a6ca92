package graph

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/hookgen/hookgen/gen/summary"
)

// Mermaid has its own themes for light and dark pages. A class therefore sets the color of the text together with that
// of its background.
const mermaidClasses = `    classDef observe fill:#eaeef2,stroke:#8c959f,color:#1f2328
    classDef flow fill:#ddf4ff,stroke:#0969da,color:#1f2328
    classDef vote fill:#fbefff,stroke:#8250df,color:#1f2328
    classDef collect fill:#dafbe1,stroke:#1a7f37,color:#1f2328
    classDef check fill:#fff1e5,stroke:#bc4c00,color:#1f2328
    classDef around fill:#d9f5f1,stroke:#0f766e,color:#1f2328
    classDef parent fill:#ffffff,stroke:#57606a,color:#1f2328,stroke-dasharray:4
    classDef exit fill:#fff8c5,stroke:#9a6700,color:#1f2328
`

func mermaid(s *summary.Spec) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "%%%% %s\nflowchart TD\n    accTitle: %s\n", Header, title(s))
	var declare func(items []*item, indent string)
	declare = func(items []*item, indent string) {
		for _, i := range items {
			switch {
			case i.group != "":
				fmt.Fprintf(&b, "%ssubgraph %s[\"%s\"]\n", indent, i.id, mermaidText(i.group))
				declare(i.items, indent+"    ")
				fmt.Fprintf(&b, "%send\n", indent)
			case i.parent != nil:
				fmt.Fprintf(&b, "%s%s[[\"%s.Points<br/>%s\"]]:::parent\n", indent, i.id, mermaidText(i.parent.Name),
					mermaidText(i.parent.Path))
			default:
				fmt.Fprintf(&b, "%s%s[\"%s<br/>%s\"]:::%s\n", indent, i.id, mermaidText(signature(i.point)),
					mermaidText(law(i.point)), i.point.Law)
				for n, x := range i.point.Exits {
					arrow := "-.->"
					if r := rank(i.point, n); r != "" {
						arrow = "-. " + r + " .->"
					}
					fmt.Fprintf(&b, "%s%s %s %sx%d([\"%s\"]):::exit\n", indent, i.id, arrow, i.id, n+1, mermaidText(x))
				}
			}
		}
	}
	items, chain := tree(s)
	declare(items, "    ")
	if len(chain) > 1 {
		fmt.Fprintf(&b, "    %s\n", join(chain, " --> "))
	}
	b.WriteString(mermaidClasses)
	return []byte(b.String())
}

// mermaidText writes text for use between quotes. Mermaid gives a meaning to many characters, so that all but
// letters, digits and a few others become entities.
func mermaidText(text string) string {
	var b strings.Builder
	for _, r := range text {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(" .,:_-/()[]", r) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "#%d;", r)
		}
	}
	return b.String()
}

package page

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/hookgen/hookgen/gen"
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

// mermaid returns the points of a spec in the order of the spec, with their laws, exits, groups and parents, as a
// flowchart of Mermaid.
func mermaid(s *summary.Spec) string {
	var b strings.Builder
	fmt.Fprintf(&b, "flowchart TD\n    accTitle: %s\n", title(s))
	groups := 0
	var chain []string // the ids of points and parents
	var declare func(items []*item, indent string)
	declare = func(items []*item, indent string) {
		for _, i := range items {
			if i.group != "" {
				groups++
				fmt.Fprintf(&b, "%ssubgraph g%d[\"%s\"]\n", indent, groups, mermaidText(i.group))
				declare(i.items, indent+"    ")
				fmt.Fprintf(&b, "%send\n", indent)
				continue
			}
			id := fmt.Sprint("p", len(chain)+1)
			chain = append(chain, id)
			if i.parent != nil {
				fmt.Fprintf(&b, "%s%s[[\"%s.Points<br/>%s\"]]:::parent\n", indent, id, mermaidText(i.parent.Name),
					mermaidText(i.parent.Path))
				continue
			}
			class := i.point.Kind
			if class == gen.CheckAll { // which looks like Check
				class = gen.Check
			}
			fmt.Fprintf(&b, "%s%s[\"%s<br/>%s\"]:::%s\n", indent, id, mermaidText(i.point.Name+"("+i.point.Payload.Text+")"),
				mermaidText(lawAndPolicy(i.point)), class)
			for n, x := range i.point.Exits {
				arrow := "-.->"
				if i.point.Kind == gen.Vote { // the strength of the exit
					arrow = fmt.Sprintf("-. %d .->", n+1)
				}
				fmt.Fprintf(&b, "%s%s %s %sx%d([\"%s\"]):::exit\n", indent, id, arrow, id, n+1, mermaidText(x))
			}
		}
	}
	declare(tree(s), "    ")
	if len(chain) > 1 {
		fmt.Fprintf(&b, "    %s\n", strings.Join(chain, " --> "))
	}
	b.WriteString(mermaidClasses)
	return b.String()
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

// An item is a point, a parent, or a group of items.
type item struct {
	point  *summary.Point
	parent *summary.Parent
	group  string
	items  []*item
}

// tree returns the outermost items of a spec in source order.
func tree(s *summary.Spec) []*item {
	root := &item{}
	// add adds an item to the groups that hold it. The members of a group are neighbours, so that a group which is
	// still open is the last item.
	add := func(groups []string, i *item) {
		at := root
		for _, name := range groups {
			if n := len(at.items); n == 0 || at.items[n-1].group != name {
				at.items = append(at.items, &item{group: name})
			}
			at = at.items[len(at.items)-1]
		}
		at.items = append(at.items, i)
	}
	parents := slices.Clone(s.Extends)
	for n := 0; n <= len(s.Points); n++ {
		for len(parents) > 0 && parents[0].Before == n {
			add(parents[0].In, &item{parent: parents[0]})
			parents = parents[1:]
		}
		if n < len(s.Points) {
			add(s.Points[n].Groups, &item{point: s.Points[n]})
		}
	}
	return root.items
}

// title returns the title of the graph, for example "agentspec: 31 points, in the order of the spec".
func title(s *summary.Spec) string {
	if len(s.Points) == 1 {
		return s.Package + ": 1 point"
	}
	return fmt.Sprintf("%s: %d points, in the order of the spec", s.Package, len(s.Points))
}

// lawAndPolicy returns the law of a point with its policy.
func lawAndPolicy(p *summary.Point) string {
	text := p.Brief()
	if policy := p.PolicyBrief(); policy != "" {
		text += ", " + policy
	}
	if p.Deprecated != "" {
		text += ", deprecated"
	}
	return text
}

package graph

import (
	"encoding/xml"
	"fmt"
	"strings"

	"github.com/hookgen/hookgen/gen/summary"
)

// svgStyle has the colors for light pages, and those for dark pages in the media query. Class names begin with hg-, so
// that a page which includes the picture keeps its own styles. The bar at the left of a card has the color of its law.
const svgStyle = `
.hg-page{fill:#ffffff}
.hg-card{fill:#f6f8fa;stroke:#d0d7de}
.hg-outside{stroke-dasharray:5 4}
.hg-frame{fill:none;stroke:#afb8c1;stroke-dasharray:2 3}
.hg-exit{fill:#fff8e0;stroke:#c9a227}
.hg-arrow{fill:none;stroke:#6e7781;stroke-width:1.5}
.hg-leave{stroke-dasharray:4 3}
.hg-dot{fill:#6e7781}
.hg-text{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;font-size:12px;fill:#1f2328}
.hg-head{font-size:20px;font-weight:600}
.hg-name{font-size:15px;font-weight:600}
.hg-minor{fill:#57606a}
.hg-deprecated{text-decoration:line-through}
.hg-observe{fill:#8c959f}
.hg-flow{fill:#0969da}
.hg-vote{fill:#8250df}
.hg-collect{fill:#1a7f37}
.hg-check{fill:#bc4c00}
.hg-around{fill:#0f766e}
@media (prefers-color-scheme:dark){
.hg-page{fill:#0d1117}
.hg-card{fill:#161b22;stroke:#3d444d}
.hg-frame{stroke:#57606a}
.hg-exit{fill:#2e2712;stroke:#9e7a1c}
.hg-arrow{stroke:#9198a1}
.hg-dot{fill:#9198a1}
.hg-text{fill:#e6edf3}
.hg-minor{fill:#9198a1}
.hg-flow{fill:#4493f8}
.hg-vote{fill:#ab7df8}
.hg-collect{fill:#3fb950}
.hg-check{fill:#f0883e}
.hg-around{fill:#2dd4bf}
}
`

func svg(s *summary.Spec) []byte {
	p := layOut(s)
	w := &svgWriter{}
	w.line("<!-- %s -->", Header)
	w.line(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" `+
		`aria-labelledby="hg-title hg-desc">`, p.width, p.height, p.width, p.height)
	w.line(`<title id="hg-title">%s</title>`, escape(title(s)))
	w.line(`<desc id="hg-desc">%s</desc>`, escape(description(s)))
	w.line("<style>%s</style>", svgStyle)
	w.line(`<defs><marker id="hg-head" viewBox="0 0 8 8" refX="1" refY="4" markerWidth="8" markerHeight="8" ` +
		`markerUnits="userSpaceOnUse" orient="auto"><path class="hg-dot" d="M0 0L8 4L0 8z"/></marker></defs>`)
	w.line(`<rect class="hg-page" width="%d" height="%d"/>`, p.width, p.height)
	w.text(text{class: "hg-head", x: margin, y: margin + headSize, text: p.title})
	w.text(text{class: "hg-minor", x: margin, y: margin + headSize + smallSize + 8, text: p.subtitle})
	for _, a := range p.arrows {
		w.line(`<path class="%s" d="%s" marker-end="url(#hg-head)"/>`, a.class, a.path)
	}
	w.line(`<circle class="hg-dot" cx="%d" cy="%d" r="%d"/>`, p.spine, p.start, dotRadius)
	w.line(`<circle class="hg-arrow" cx="%d" cy="%d" r="%d"/><circle class="hg-dot" cx="%d" cy="%d" r="3"/>`,
		p.spine, p.end, dotRadius, p.spine, p.end)
	for _, b := range p.boxes {
		w.box(b)
	}
	for _, line := range p.legend {
		w.line(`<rect class="hg-%s" x="%d" y="%d" width="10" height="10" rx="2"/>`, line.law, margin, line.text.y-9)
		w.text(line.text)
	}
	w.line("</svg>")
	return []byte(w.String())
}

// An svgWriter writes the elements of a picture, each on its own line.
type svgWriter struct{ strings.Builder }

func (w *svgWriter) line(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }

// text writes one line of text.
func (w *svgWriter) text(t text) {
	anchor := ""
	if t.anchor != "" {
		anchor = ` text-anchor="` + t.anchor + `"`
	}
	w.line(`<text class="%s" x="%d" y="%d"%s>%s</text>`, strings.TrimSpace("hg-text "+t.class), t.x, t.y, anchor,
		escape(t.text))
}

// box writes a box with its texts as a group, so that a tooltip belongs to all of them.
func (w *svgWriter) box(b box) {
	w.line("<g>")
	if b.title != "" {
		w.line("<title>%s</title>", escape(b.title))
	}
	class, radius := "hg-"+b.class, 6
	switch {
	case b.class == "exit":
		radius = b.height / 2
	case b.law == outside:
		class += " hg-outside"
	}
	w.line(`<rect class="%s" x="%d" y="%d" width="%d" height="%d" rx="%d"/>`, class, b.x, b.y, b.width, b.height, radius)
	if b.law != "" && b.law != outside {
		w.line(`<rect class="hg-%s" x="%d" y="%d" width="4" height="%d" rx="2"/>`, b.law, b.x+6, b.y+8, b.height-16)
	}
	for _, t := range b.texts {
		w.text(t)
	}
	w.line("</g>")
}

// description returns the whole graph in words.
func description(s *summary.Spec) string {
	var sentences []string
	_, chain := tree(s)
	for _, i := range chain {
		if i.parent != nil {
			sentences = append(sentences, "All points of "+i.parent.Path+".")
			continue
		}
		p := i.point
		sentence := signature(p) + ": " + law(p)
		if len(p.Exits) > 0 {
			sentence += "; exits " + strings.Join(p.Exits, ", ")
		}
		sentences = append(sentences, sentence+".")
	}
	return strings.Join(sentences, " ")
}

// escape returns text for use in XML. Characters that XML cannot contain are replaced.
func escape(text string) string {
	var b strings.Builder
	if err := xml.EscapeText(&b, []byte(text)); err != nil {
		return "" // writing to memory does not fail
	}
	return b.String()
}

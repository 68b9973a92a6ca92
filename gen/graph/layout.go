package graph

import (
	"fmt"
	"strings"

	"github.com/hookgen/hookgen/gen/summary"
)

// A picture is a laid out graph: a column of cards for points and parents, each with its exits to the right. Groups are
// frames around the rows of their points.
type picture struct {
	title, subtitle string
	width, height   int
	spine           int // the x of the arrows from card to card
	start, end      int // the y of the dots before the first card and after the last one
	boxes           []box
	arrows          []arrow
	legend          []legendLine
}

// A legendLine explains a law.
type legendLine struct {
	law  string
	text text
}

// A box is a rectangle with texts in it.
type box struct {
	class         string // card, exit or frame
	law           string // of a card; outside for a parent
	x, y          int
	width, height int
	title         string // for screen readers and tooltips; "" for none
	texts         []text
}

// A text is one line. Its y is that of the baseline.
type text struct {
	class  string
	x, y   int
	anchor string // "middle" or "end" if x is not the start of the line
	text   string
}

// An arrow is a path from a card to an exit, or to the next card.
type arrow struct{ class, path string }

// outside is the law of the card of a parent.
const outside = "outside"

// Sizes in pixels.
const (
	margin    = 24
	nameSize  = 15
	smallSize = 12
	headSize  = 20

	cardHeight   = 50
	cardGap      = 22
	cardPadding  = 14
	mostPayload  = 300 // longer payloads and laws are shortened
	mostLaw      = 260
	columnGap    = 28
	indent       = 14 // of a group
	frameHeading = 26
	framePadding = 12

	exitHeight  = 26
	exitGap     = 10
	exitPadding = 12
	exitArea    = 380 // further exits go into the next line
	exitIndent  = 44  // between card and exits

	dotRadius    = 6
	legendHeight = 20
	legendIndent = 18
)

// A layout places the parts of a picture from top to bottom.
type layout struct {
	picture
	spec        *summary.Spec
	deepest     int // the largest number of groups around a point
	left, right int // the widths of the columns of a card
	exitsX      int
	y           int
	previous    int // the bottom of the last card
}

func layOut(s *summary.Spec) *picture {
	items, chain := tree(s)
	l := &layout{spec: s}
	l.title, l.subtitle = s.Package, subtitle(s)
	l.measure(chain)
	l.y = margin + headSize + 2*smallSize + cardGap
	l.start = l.y
	l.previous = l.start
	l.y += cardGap
	l.place(items, 0)
	l.end = l.y
	l.next(l.end - dotRadius)
	l.y += cardGap
	l.addLegend(chain)
	l.height = l.y + margin
	return &l.picture
}

// measure computes the columns.
func (l *layout) measure(chain []*item) {
	exits := 0
	for _, i := range chain {
		if i.parent != nil {
			l.deepest = max(l.deepest, len(i.parent.In))
			l.left = max(l.left, textWidth(parentName(i.parent), nameSize))
			l.right = max(l.right, textWidth(parentLaw, smallSize))
			continue
		}
		p := i.point
		l.deepest = max(l.deepest, len(p.Groups))
		l.left = max(l.left, textWidth(p.Name, nameSize), min(mostPayload, textWidth(payload(p), smallSize)))
		l.right = max(l.right, min(mostLaw, textWidth(p.Brief(), smallSize)), textWidth(status(p), smallSize))
		line := 0
		for n := range p.Exits {
			w := exitWidth(p, n)
			if line > 0 && line+exitGap+w > exitArea {
				line = 0
			}
			if line > 0 {
				line += exitGap
			}
			line += w
			exits = max(exits, line)
		}
	}
	l.exitsX = margin + l.deepest*indent + l.cardWidth() + exitIndent
	l.spine = margin + l.deepest*indent + 2*cardPadding
	l.width = margin + l.deepest*indent + l.cardWidth()
	if exits > 0 {
		l.width = l.exitsX + exits
	}
	l.width += l.deepest*indent + margin
	l.width = max(l.width, 2*margin+textWidth(l.title, headSize), 2*margin+textWidth(l.subtitle, smallSize))
	for _, i := range chain {
		if i.point != nil {
			for _, g := range i.point.Groups {
				l.width = max(l.width, l.spine+2*margin+textWidth(g, smallSize)+l.deepest*indent)
			}
		}
	}
	for _, line := range legend(chain) {
		l.width = max(l.width, 2*margin+legendIndent+textWidth(line.text.text, smallSize))
	}
}

// cardWidth returns the width of every card.
func (l *layout) cardWidth() int { return 2*cardPadding + l.left + columnGap + l.right }

// place places items below each other. depth is the number of groups around them.
func (l *layout) place(items []*item, depth int) {
	for _, i := range items {
		switch {
		case i.group != "":
			frame := len(l.boxes)
			left := margin + depth*indent
			l.boxes = append(l.boxes, box{class: "frame", x: left, y: l.y, width: l.width - 2*left})
			x := l.boxes[frame].x + l.boxes[frame].width - framePadding
			l.boxes[frame].texts = []text{{class: "hg-minor", x: x, y: l.y + smallSize + 6, anchor: "end", text: i.group}}
			l.y += frameHeading
			l.place(i.items, depth+1)
			l.y += framePadding - cardGap
			l.boxes[frame].height = l.y - l.boxes[frame].y
			l.y += cardGap
		case i.parent != nil:
			l.parentCard(i.parent)
		default:
			l.pointCard(i.point)
		}
	}
}

// card adds a card with the arrow that leads to it. Its texts are two lines in each column.
func (l *layout) card(law, title string, height int, left, right [2]text) {
	x := margin + l.deepest*indent
	b := box{class: "card", law: law, x: x, y: l.y, width: l.cardWidth(), height: height, title: title}
	for column, lines := range [][2]text{left, right} {
		for n, line := range lines {
			if line.text == "" {
				continue
			}
			line.x = x + cardPadding + 4
			if column == 1 {
				line.x = x + cardPadding + l.left + columnGap
			}
			line.y = l.y + 21 + n*18
			b.texts = append(b.texts, line)
		}
	}
	l.boxes = append(l.boxes, b)
	l.next(l.y)
	l.previous = l.y + height
	l.y += height + cardGap
}

// next adds the arrow from the last card to a y.
func (l *layout) next(y int) {
	l.arrows = append(l.arrows, arrow{"hg-arrow", fmt.Sprintf("M%d %dV%d", l.spine, l.previous+1, y-7)})
}

const parentLaw = "all its points"

func parentName(p *summary.Parent) string { return p.Name + ".Points" }

func (l *layout) parentCard(p *summary.Parent) {
	path := fit(p.Path, smallSize, l.left+columnGap+l.right)
	l.card(outside, "The points of "+p.Path, cardHeight,
		[2]text{{class: "hg-name", text: parentName(p)}, {class: "hg-minor", text: path}},
		[2]text{{class: "hg-minor", text: parentLaw}})
}

func (l *layout) pointCard(p *summary.Point) {
	// Place the exits first: several lines of them make the card higher.
	var exits []box
	x, line := l.exitsX, 0
	for n, name := range p.Exits {
		w := exitWidth(p, n)
		if x > l.exitsX && x+w > l.exitsX+exitArea {
			x, line = l.exitsX, line+1
		}
		exits = append(exits, box{
			class: "exit", x: x, y: line * (exitHeight + exitGap), width: w, height: exitHeight,
			texts: []text{{x: x + w/2, anchor: "middle", text: exitLabel(p, n)}},
			title: fmt.Sprintf("%s leaves with %s", p.Name, name),
		})
		x += w + exitGap
	}
	height := max(cardHeight, (line+1)*(exitHeight+exitGap)-exitGap)
	top := l.y + (height-(line+1)*(exitHeight+exitGap)+exitGap)/2
	for n := range exits {
		e := &exits[n]
		e.y += top
		e.texts[0].y = e.y + 17
		if e.x == l.exitsX { // the first of a line
			path := fmt.Sprintf("M%d %dH%d", l.exitsX-exitIndent, e.y+exitHeight/2, e.x-7)
			l.arrows = append(l.arrows, arrow{"hg-arrow hg-leave", path})
		}
	}
	name := "hg-name"
	if p.Deprecated != "" {
		name = "hg-name hg-deprecated"
	}
	l.card(p.Law, signature(p)+": "+law(p), height,
		[2]text{{class: name, text: p.Name}, {class: "hg-minor", text: fit(payload(p), smallSize, l.left)}},
		[2]text{{text: fit(p.Brief(), smallSize, mostLaw)}, {class: "hg-minor", text: status(p)}})
	l.boxes = append(l.boxes, exits...)
}

// payload returns the payload of a point as a card shows it.
func payload(p *summary.Point) string {
	if p.Param == "" {
		return p.Payload.Text
	}
	return p.Param + " " + p.Payload.Text
}

// status returns the second line of the law.
func status(p *summary.Point) string {
	words := []string{}
	if policy := p.PolicyBrief(); policy != "" {
		words = append(words, policy)
	}
	if p.Deprecated != "" {
		words = append(words, "deprecated")
	}
	return strings.Join(words, ", ")
}

func exitLabel(p *summary.Point, n int) string {
	if r := rank(p, n); r != "" {
		return r + " " + p.Exits[n]
	}
	return p.Exits[n]
}

func exitWidth(p *summary.Point, n int) int {
	return 2*exitPadding + textWidth(exitLabel(p, n), smallSize)
}

// laws are the laws with their meaning, in the order of the legend.
var laws = []struct{ name, meaning string }{
	{"observe", "hooks watch"},
	{"flow", "hooks change the payload, or leave with an exit"},
	{"vote", "hooks vote for an exit, and 1 is the strongest"},
	{"collect", "hooks contribute values"},
	{"check", "hooks may refuse with an error"},
	{"around", "hooks wrap the act"},
}

// legend returns the lines of the legend, for the laws that the points have.
func legend(chain []*item) []legendLine {
	used := map[string]bool{}
	for _, i := range chain {
		if i.point != nil {
			used[i.point.Law] = true
		}
	}
	var lines []legendLine
	for _, law := range laws {
		if used[law.name] {
			lines = append(lines, legendLine{law.name, text{text: law.name + ": " + law.meaning, class: "hg-minor"}})
		}
	}
	return lines
}

func (l *layout) addLegend(chain []*item) {
	for _, line := range legend(chain) {
		l.y += legendHeight
		line.text.x, line.text.y = margin+legendIndent, l.y
		l.legend = append(l.legend, line)
	}
}

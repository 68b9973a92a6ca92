package main

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// A bar is one bar of a chart.
type bar struct {
	name  string
	value float64
	ours  bool
}

// A panel is one chart. Its scale is logarithmic, because some bars are a hundred times as long as others.
type panel struct {
	title, unit string
	bars        []bar
}

// Dimensions in pixels.
const (
	chartWidth = 860
	labelWidth = 250
	barHeight  = 18
	barGap     = 6
	titleSpace = 40
)

// chart draws the panels one below the other, as SVG.
func chart(panels []panel) string {
	height := 0
	for _, p := range panels {
		height += titleSpace + len(p.bars)*(barHeight+barGap)
	}
	var b strings.Builder
	fmt.Fprintf(&b,
		`<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="Costs of firing and of generating" `+
			`width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" font-size="13">`+"\n",
		chartWidth, height+10, chartWidth, height+10)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" fill="#ffffff"/>`+"\n")
	y := 0
	for _, p := range panels {
		y = p.draw(&b, y)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// barRoom is the length of the longest bar.
const barRoom = float64(chartWidth - labelWidth - 90)

// widths returns the lengths of the bars.
func (p panel) widths() []float64 {
	low, high := math.Inf(1), 0.0
	for _, bar := range p.bars {
		if bar.value > 0 {
			low, high = min(low, bar.value), max(high, bar.value)
		}
	}
	low /= 2 // makes the shortest bar visible
	ws := make([]float64, len(p.bars))
	for i, bar := range p.bars {
		if bar.value > 0 {
			ws[i] = barRoom * math.Log(bar.value/low) / math.Log(high/low)
		}
	}
	return ws
}

// draw draws the panel from y on and returns its lower end.
func (p panel) draw(b *strings.Builder, y int) int {
	fmt.Fprintf(b, `<text x="10" y="%d" font-weight="bold">%s</text>`+"\n", y+26,
		html.EscapeString(p.title+" ("+p.unit+", logarithmic)"))
	y += titleSpace
	for i, width := range p.widths() {
		bar, fill := p.bars[i], "#9aa5b1"
		if bar.ours {
			fill = "#1f6feb"
		}
		fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="end">%s</text>`, labelWidth-8, y+14, html.EscapeString(bar.name))
		fmt.Fprintf(b, `<rect x="%d" y="%d" width="%.1f" height="%d" fill="%s"/>`, labelWidth, y, width, barHeight, fill)
		fmt.Fprintf(b, `<text x="%.1f" y="%d">%s</text>`+"\n", float64(labelWidth)+width+6, y+14, figure(bar.value))
		y += barHeight + barGap
	}
	return y
}

// panels returns the charts of the report.
func (r report) panels() []panel {
	var ps []panel
	for _, round := range r.peers {
		if round.hooks != 8 {
			continue
		}
		does := "continue"
		if round.busy {
			does = "replace the payload"
		}
		p := panel{title: "A fire of 8 hooks that " + does, unit: "nanoseconds"}
		for _, c := range r.fires {
			if c.law == lawFlow && c.hooks == 8 && c.busy == round.busy {
				p.bars = append(p.bars, bar{byHand, c.runs[1].best(), false})
			}
		}
		for i, run := range round.runs {
			p.bars = append(p.bars, bar{run.name, run.best(), i == 0})
		}
		ps = append(ps, p)
	}
	for _, race := range r.races {
		n := race.entries[0].n
		if n != 6 && n != 300 {
			continue
		}
		p := panel{title: fmt.Sprintf("Generating for %d types, whole process", n), unit: "milliseconds"}
		for _, e := range race.entries {
			if e.n == n {
				p.bars = append(p.bars, bar{e.name, e.wall.best() / 1e6, e.name == nameHookgen})
			}
		}
		ps = append(ps, p)
	}
	return ps
}

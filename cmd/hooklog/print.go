package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/hookgen/hookgen/cmd/hooklog/internal/eventpage"
	"github.com/hookgen/hookgen/hookkit/hooklog"
	"github.com/hookgen/hookgen/hookkit/wire"
)

// The lengths in characters after which a text is cut.
const (
	mostName   = 60
	mostReason = 120
	mostValue  = 1000
)

// A printer prints events for people.
type printer struct {
	w       io.Writer
	palette palette
	verbose bool
	day     string // of the last event, with its time zone
	point   int    // the width of the column
	choice  int    // the width of the column
}

// newPrinter returns a printer whose columns have room for most names, so that the first lines are aligned too.
func newPrinter(w io.Writer, p palette, verbose bool) *printer {
	return &printer{w: w, palette: p, verbose: verbose, point: 12, choice: 8}
}

// print prints an event in a line, and with verbose the rest of it below.
func (p *printer) print(e hooklog.Event) {
	if day := e.Time.Format("2006-01-02 -07:00"); day != p.day {
		p.day = day
		fmt.Fprintln(p.w, p.palette.paint(bold, day))
	}
	fmt.Fprint(p.w, p.palette.paint(faint, e.Time.Format("15:04:05.000")), " ", runColumn(e.Run), " ",
		column(visible(e.Point, mostName), &p.point), " ",
		p.palette.paint(colorOf(e), column(visible(e.Decision, mostName), &p.choice)), " ", pad(short(e.Elapsed), 6))
	if e.By != "" {
		fmt.Fprint(p.w, " by ", visible(e.By, mostName))
	}
	if e.Reason != "" {
		fmt.Fprint(p.w, " ", quoted(e.Reason, mostReason))
	}
	if e.Final != nil && e.Decision != wire.Replace && e.Decision != wire.Edit {
		fmt.Fprint(p.w, p.palette.paint(cyan, " changed the payload"))
	}
	if n := len(e.Failures); n > 0 {
		fmt.Fprint(p.w, p.palette.paint(red, " "+plural(n, "failure")))
	}
	if n := len(e.Slow); n > 0 {
		fmt.Fprint(p.w, p.palette.paint(yellow, " "+plural(n, "slow hook")))
	}
	fmt.Fprintln(p.w)
	if p.verbose {
		p.details(e)
	}
}

// colorOf returns the colour of a decision.
func colorOf(e hooklog.Event) string {
	switch {
	case e.Error != "" || len(e.Failures) > 0:
		return red
	case e.Decision == wire.Continue:
		return faint
	case e.Decision == wire.Replace || e.Decision == wire.Edit:
		return cyan
	case eventpage.IsGood(e.Decision):
		return "" // no warning
	}
	return yellow
}

// runColumn returns the short ID of a run. The one of a sub-run begins with >.
func runColumn(run wire.RunInfo) string {
	id := shortID(run.ID)
	if run.Parent != "" {
		id = ">" + id
	}
	return pad(id, -9)
}

// shortID returns the beginning of an ID. The flag -run finds the run by it.
func shortID(id string) string {
	const digits = 8
	if id == "" {
		return "-"
	}
	runes := []rune(id[:min(len(id), digits*4)])
	return visible(string(runes[:min(len(runes), digits)]), 0)
}

// column pads a text to the widest one above it.
func column(text string, width *int) string {
	const most = 24
	*width = max(*width, min(len([]rune(text)), most))
	return pad(text, -*width)
}

// short writes a duration with three digits.
func short(d time.Duration) string {
	for unit := time.Duration(1); ; unit *= 10 {
		if d/unit < 1000 && d/unit > -1000 {
			return d.Round(unit).String()
		}
	}
}

// details prints the rest of an event.
func (p *printer) details(e hooklog.Event) {
	e = e.Whole()
	line := func(name, text string) { fmt.Fprintf(p.w, "    %s %s\n", p.palette.paint(faint, pad(name, -9)), text) }
	line("event", fmt.Sprintf("%d of %s", e.Seq, visible(e.Spec, mostValue)))
	if e.Run.ID != "" {
		line("run", describeRun(e.Run))
	}
	if e.Site != "" {
		line("hook", place(e.By, e.Site))
	}
	for _, o := range e.Omitted {
		line("missing", fmt.Sprintf("%d elements of %s in the %s", o.Count, visible(o.List, mostName),
			visible(o.In, mostName)))
	}
	if e.Key != nil {
		line("key", value(e.Key))
	}
	line("payload", value(e.Payload))
	if e.Final != nil {
		fmt.Fprintln(p.w, "   ", p.palette.paint(faint, "changed"))
		p.changes(e.Payload, e.Final)
	}
	if e.Value != nil {
		line("value", value(e.Value))
	}
	for _, b := range e.Ballots {
		text := visible(b.Decision, mostName)
		if b.Reason != "" {
			text += " " + quoted(b.Reason, mostReason)
		}
		line("vote", text+" by "+place(b.By, b.Site))
	}
	if e.Collected != nil {
		line("collected", value(e.Collected))
	}
	for _, f := range e.Failures {
		line("failure", place(f.By, f.Site)+": "+visible(f.Cause, mostValue))
	}
	for _, h := range e.Slow {
		line("slow", fmt.Sprintf("%s took %s, from %s on", place(h.By, h.Site), short(h.Elapsed), short(h.After)))
	}
	if e.Error != "" {
		line("error", visible(e.Error, mostValue))
	}
}

// describeRun names a run with all that is recorded of it.
func describeRun(run wire.RunInfo) string {
	text := visible(run.ID, mostValue)
	if run.Parent != "" {
		text += ", sub-run of " + visible(run.Parent, mostValue)
	}
	if run.Root != "" && run.Root != run.ID && run.Root != run.Parent {
		text += ", below " + visible(run.Root, mostValue)
	}
	for _, name := range slices.Sorted(maps.Keys(run.Labels)) {
		text += ", " + visible(name, mostName) + " " + quoted(run.Labels[name], mostName)
	}
	return text
}

// place names a hook and where it was registered.
func place(by, site string) string {
	return visible(by, mostName) + " (" + visible(site, mostReason) + ")"
}

// value writes JSON in one line.
func value(text json.RawMessage) string { return visible(string(text), mostValue) }

// mostDiffLines bounds the lines of a difference, so that two texts of megabytes do not fill the screen.
const mostDiffLines = 60

// changes prints the difference between two JSON values, as the page shows it. A missing one is empty.
func (p *printer) changes(was, is json.RawMessage) {
	colors := map[string]string{"-": red, "+": cyan}
	d := eventpage.Difference(was, is)
	if d == nil {
		return
	}
	for n, l := range d.Lines {
		if n == mostDiffLines {
			fmt.Fprintln(p.w, "         ... (the rest of the difference is not shown)")
			return
		}
		if l.Op == "@" {
			continue
		}
		text := cmp.Or(l.Op, " ")
		for _, part := range l.Parts {
			text += part.Text
			if part.Cut > 0 {
				text += fmt.Sprintf("... (%s more) ...", plural(part.Cut, "byte"))
			}
		}
		fmt.Fprintf(p.w, "        %s\n", p.palette.paint(colors[l.Op], visible(text, 0)))
	}
}

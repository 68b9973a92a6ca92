package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/diff"

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

// changes prints the difference between two JSON values.
func (p *printer) changes(was, is json.RawMessage) {
	for _, line := range difference(was, is) {
		color := ""
		switch line[0] {
		case '-':
			color = red
		case '+':
			color = cyan
		}
		fmt.Fprintf(p.w, "        %s\n", p.palette.paint(color, line))
	}
}

// The limits of a difference: its time and length, so that two texts of megabytes do not fill the screen.
const (
	mostDiffed    = 1 << 20 // bytes
	mostDiffLines = 60
	lineWidth     = 100 // characters, after which a line is broken at the next blank
	longestLine   = 400 // characters, after which it is broken anywhere
)

// difference returns the lines of a diff between two JSON values. Each begins with a blank, - or +.
func difference(was, is json.RawMessage) []string {
	if len(was)+len(is) > mostDiffed {
		return []string{fmt.Sprintf("-%s", plural(len(was), "byte")), fmt.Sprintf("+%s", plural(len(is), "byte"))}
	}
	text := diff.Diff("", readable(was), "", readable(is))
	var lines []string
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case len(lines) == mostDiffLines:
			return append(lines, " ... (the rest of the difference is not shown)")
		case line == "", strings.HasPrefix(line, "diff "), strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "+++ "),
			strings.HasPrefix(line, "@@ "):
		default:
			lines = append(lines, visible(line, 0))
		}
	}
	return lines
}

// readable breaks JSON into lines: at each element, in strings after each line break, and where a line is too long. So
// a diff of long texts has only the lines that differ.
func readable(text json.RawMessage) []byte {
	if len(text) == 0 {
		return nil // there was no exit, or no contribution
	}
	var out bytes.Buffer
	for line := range strings.Lines(eventpage.Pretty(text)) {
		line = strings.TrimSuffix(line, "\n")
		text := strings.TrimLeft(line, " ")
		margin := line[:len(line)-len(text)]
		for i, part := range broken(text) {
			if i > 0 {
				out.WriteString("  ")
			}
			out.WriteString(margin + part + "\n")
		}
	}
	return out.Bytes()
}

// broken breaks a line at the first blank after lineWidth characters, or where it is too long without a blank.
func broken(line string) []string {
	var parts []string
	start, width := 0, 0
	for i := range line {
		if width >= lineWidth && line[i-1] == ' ' || width >= longestLine {
			parts = append(parts, line[start:i])
			start, width = i, 0
		}
		width++
	}
	return append(parts, line[start:])
}

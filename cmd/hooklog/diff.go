package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"

	"github.com/hookgen/hookgen/hookkit/hooklog"
)

// diff compares two records.
func (i *invocation) diff(_ context.Context, args []string) (int, error) {
	flags := newFlags("diff")
	asJSON := flags.Bool("json", false, "")
	files, colors, err := i.parseColored(flags, args)
	switch {
	case err != nil:
		return trouble, err
	case len(files) != 2:
		return trouble, usage("diff needs two records: OLD and NEW")
	case files[0] == standardInput && files[1] == standardInput:
		return trouble, usage("only one record can be standard input")
	}
	var (
		readers [2]*reader
		records [2]iter.Seq2[hooklog.Event, error]
	)
	for n := range files {
		sources, err := i.sources(files[n : n+1])
		if err != nil {
			return trouble, err
		}
		readers[n] = &reader{stderr: i.stderr}
		records[n] = eventsOf(readers[n].all(sources))
	}
	out := bufio.NewWriter(i.stdout)
	p := newPrinter(out, colors, false)
	s := newDifferences()
	for c := range hooklog.Diff(records[0], records[1]) { // eventsOf yields no errors
		s.add(c)
		switch {
		case c.Status == hooklog.Same:
		case *asJSON:
			err = writeLine(out, encodable(c))
		default:
			p.comparison(c)
		}
		if err != nil {
			return trouble, err
		}
	}
	s.finish()
	if *asJSON {
		err = writeLine(out, map[string]any{"summary": s})
	} else {
		s.print(out, colors)
	}
	if err == nil {
		err = out.Flush()
	}
	for _, r := range readers {
		r.summarize("")
	}
	code := max(readers[0].code(), readers[1].code())
	if code == fine && s.different() {
		code = findings
	}
	return code, err
}

// comparison prints a difference in a line.
func (p *printer) comparison(c hooklog.Comparison) {
	e := c.Was
	if c.Status == hooklog.Added {
		e = c.Is
	}
	color := yellow
	if c.Status == hooklog.Failed {
		color = red
	}
	fmt.Fprint(p.w, p.palette.paint(color, pad(c.Status.String(), -7)), " ", runColumn(e.Run), " ",
		column(visible(e.Point, mostName), &p.point), " event ", e.Seq)
	switch c.Status {
	case hooklog.Missing, hooklog.Added:
		fmt.Fprint(p.w, ": ", summary(e))
	default:
		fmt.Fprint(p.w, ": ", visible(c.Why, mostReason*3))
		if c.Is.Decision != c.Was.Decision && c.Is.By != "" {
			fmt.Fprint(p.w, " by ", visible(c.Is.By, mostName))
			if c.Is.Reason != "" {
				fmt.Fprint(p.w, " ", quoted(c.Is.Reason, mostReason))
			}
		}
	}
	fmt.Fprintln(p.w)
}

// summary describes a decision in one line.
func summary(e hooklog.Event) string {
	text := visible(e.Decision, mostName)
	if e.By != "" {
		text += " by " + place(e.By, e.Site)
	}
	if e.Reason != "" {
		text += " " + quoted(e.Reason, mostReason)
	}
	if e.Error != "" && e.Error != e.Reason {
		text += ", error " + quoted(e.Error, mostReason)
	}
	return text
}

// comparisonJSON is a difference in the output of -json.
type comparisonJSON struct {
	Status string         `json:"status"`
	Why    string         `json:"why"`
	Was    *hooklog.Event `json:"was,omitempty"`
	Is     *hooklog.Event `json:"is,omitempty"`
}

func encodable(c hooklog.Comparison) comparisonJSON {
	out := comparisonJSON{Status: c.Status.String(), Why: c.Why}
	if c.Status != hooklog.Added {
		out.Was = &c.Was
	}
	if c.Status != hooklog.Missing {
		out.Is = &c.Is
	}
	return out
}

// writeLine writes a value as a line of JSON.
func writeLine(w io.Writer, v any) error {
	text, err := json.Marshal(v)
	if err == nil {
		_, err = w.Write(append(visibleJSON(text), '\n'))
	}
	return err
}

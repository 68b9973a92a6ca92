package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/builtin/record"
	"github.com/hookgen/hookgen/hookkit/hooklog"
	"github.com/hookgen/hookgen/internal/terminal"
)

// show prints events.
func (i *invocation) show(ctx context.Context, args []string) (int, error) {
	flags := newFlags("show")
	var f filter
	f.define(flags)
	asJSON := flags.Bool("json", false, "")
	verbose := flags.Bool("v", false, "")
	view := flags.String("view", "", "")
	files, colors, err := i.parseColored(flags, args)
	switch {
	case err != nil:
		return trouble, err
	case *asJSON && *verbose:
		return trouble, usage("-json prints whole lines, and -v prints details for people: choose one")
	case *view != "" && (*asJSON || *verbose):
		return trouble, usage("-view prints a view of all events: leave -json and -v out")
	case *view != "" && !slices.Contains(record.Shown(), *view):
		return trouble, usage("%q is not a view: choose one of %s", *view, strings.Join(record.Shown(), ", "))
	}
	sources, err := i.sources(files)
	if err != nil {
		return trouble, err
	}
	r := &reader{stderr: i.stderr}
	matching, agents, shown := 0, 0, true
	lines := func(yield func(hooklog.Line) bool) {
		for l := range r.all(sources) {
			if !f.match(l.Event) {
				continue
			}
			matching++
			if l.Event.Spec == agentSpec {
				agents++
			}
			if !yield(l) {
				return
			}
		}
	}
	out := bufio.NewWriter(i.stdout)
	if *view != "" {
		shown, err = showView(ctx, out, *view, lines)
	} else {
		p := newPrinter(out, colors, *verbose)
		write := func(l hooklog.Line) { p.print(l.Event) }
		if *asJSON {
			write = jsonWriter(ctx, out, terminal.IsTerminal(i.stdout))
		}
		for l := range lines {
			write(l)
			if slices.Contains(files, standardInput) && out.Flush() != nil { // it may be a program that runs for long
				break // the last flush returns the error again
			}
		}
	}
	if err := errors.Join(err, out.Flush()); err != nil {
		return trouble, err
	}
	for _, note := range append(f.points.unknown("point"), f.decisions.unknown("decision")...) {
		fmt.Fprintf(i.stderr, "hooklog: %s\n", note)
	}
	note := ""
	switch {
	case matching == 0:
		note = "none matches"
	case *view != "" && agents == 0:
		note = "none is of an agent, so the view has nothing: leave -view out to print them"
	case !shown:
		note = "the view has nothing: tree and summary show conversations with a name, others runs that have ended"
	}
	r.summarize(note)
	return r.code(), nil
}

// agentSpec is the spec of the events that views read.
const agentSpec = "github.com/hookgen/hookgen/spec/agentspec"

// showView prints a view of an agent's events, and reports whether it has something.
func showView(ctx context.Context, out *bufio.Writer, view string, lines iter.Seq[hooklog.Line]) (bool, error) {
	var text strings.Builder
	err := record.Show(ctx, &text, view, eventsOf(lines))
	for line := range strings.Lines(text.String()) {
		fmt.Fprintln(out, visible(strings.TrimSuffix(line, "\n"), 0))
	}
	return text.Len() > 0, err
}

// jsonWriter returns a function that writes lines as they are, or with invisible characters escaped. A line that leaves
// out a list is written anew: the line with the list may be one that does not match. The writer of such lines sees all
// others too, because a list refers to the last one in the output.
func jsonWriter(ctx context.Context, out io.Writer, escaped bool) func(hooklog.Line) {
	var text bytes.Buffer
	anew := hooklog.Lines(&text)
	return func(l hooklog.Line) {
		line := l.Text
		text.Reset()
		if err := anew.WriteEvent(ctx, l.Event); err == nil && len(l.Event.Omitted) > 0 {
			line = bytes.TrimSuffix(text.Bytes(), []byte{'\n'})
		}
		if escaped {
			line = visibleJSON(line)
		}
		fmt.Fprintf(out, "%s\n", line)
	}
}

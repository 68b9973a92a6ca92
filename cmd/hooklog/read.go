package main

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/hookgen/hookgen/hookkit/hooklog"
)

// mostReports is how many lines of a source are reported one by one. The others are counted.
const mostReports = 50

// A reader reads sources, and reports the lines that are damaged.
type reader struct {
	stderr  io.Writer
	sources int
	events  int
	damaged int  // lines
	failed  bool // a source could not be read to its end
}

// all yields the lines of all sources that are events.
func (r *reader) all(sources []source) iter.Seq[hooklog.Line] {
	return func(yield func(hooklog.Line) bool) {
		for _, s := range sources {
			for l := range r.lines(s) {
				if !yield(l) {
					return
				}
			}
		}
	}
}

// eventsOf returns lines in the form of [hooklog.Read]; without errors, because a reader reports them.
func eventsOf(lines iter.Seq[hooklog.Line]) iter.Seq2[hooklog.Event, error] {
	return func(yield func(hooklog.Event, error) bool) {
		for l := range lines {
			if !yield(l.Event, nil) {
				return
			}
		}
	}
}

// lines yields the lines of a source that are events.
func (r *reader) lines(s source) iter.Seq[hooklog.Line] {
	return func(yield func(hooklog.Line) bool) {
		r.sources++
		defer func() { _ = s.file.Close() }() // it was only read
		in := &input{Reader: s.file}
		damaged := r.damaged
		for l, err := range hooklog.ReadLines(in) {
			if err != nil {
				r.problem(s, in, err, r.damaged-damaged)
				continue
			}
			r.events++
			if !yield(l) {
				break
			}
		}
		if more := r.damaged - damaged - mostReports; more > 0 {
			r.report(s, " %s", plural(more, "more damaged line"))
		}
	}
}

// problem reports an error of hooklog.ReadLines, after so many others of the source.
func (r *reader) problem(s source, in *input, err error, others int) {
	var at *hooklog.LineError
	switch {
	case in.err != nil:
		r.failed = true
		r.report(s, " it cannot be read: %s", visible(in.err.Error(), 0))
	case errors.As(err, &at):
		r.damaged++
		why := at.Err.Error()
		if errors.Is(err, io.ErrUnexpectedEOF) {
			why = "it is incomplete: the program that wrote it was killed, or is still writing"
		}
		if others < mostReports {
			r.report(s, "%d: %s", at.Line, visible(why, 0))
		}
	}
}

// report prints a line that begins with the name of a source.
func (r *reader) report(s source, format string, args ...any) {
	fmt.Fprintf(r.stderr, "%s:"+format+"\n", append([]any{visible(s.name, 0)}, args...)...)
}

// code returns the exit code of a command that has read its sources.
func (r *reader) code() int {
	switch {
	case r.failed:
		return trouble
	case r.damaged > 0:
		return findings
	}
	return fine
}

// summarize prints a line with the number of damaged lines, and the note of the command, for example that no event
// matches. If all lines are sound and note is "", it prints nothing.
func (r *reader) summarize(note string) {
	if r.damaged == 0 && note == "" {
		return
	}
	parts := []string{plural(r.events, "event") + " in " + plural(r.sources, "file")}
	if r.damaged > 0 {
		parts = append(parts, plural(r.damaged, "damaged line"))
	}
	if r.events == 0 && r.damaged > 0 {
		note = "is this a record? hooklog.Open and hooklog.Lines write records"
	}
	if note != "" {
		parts = append(parts, note)
	}
	fmt.Fprintf(r.stderr, "hooklog: %s\n", strings.Join(parts, ", "))
}

// An input remembers the error of the reader in it, so that a broken disk is not taken for a damaged line.
type input struct {
	io.Reader
	err error // except io.EOF
}

func (i *input) Read(p []byte) (int, error) {
	n, err := i.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		i.err = err
	}
	return n, err
}

// plural writes a number with its noun.
func plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return thousands(int64(n)) + " " + noun
}

// thousands writes a number with commas.
func thousands(n int64) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/hookgen/hookgen/hookkit/wire"
)

// show prints events.
func (i *invocation) show(_ context.Context, args []string) (int, error) {
	flags := newFlags("show")
	var run, point string
	flags.StringVar(&run, "run", "", "")
	flags.StringVar(&point, "point", "", "")
	files, err := parse(flags, args)
	if err != nil {
		return trouble, err
	}
	sources, err := i.sources(files)
	if err != nil {
		return trouble, err
	}
	r := &reader{stderr: i.stderr}
	out := bufio.NewWriter(i.stdout)
	for _, s := range sources {
		for e := range r.events(s) {
			if hasPrefix(e.Run.ID, run) && (point == "" || e.Point == point) {
				printLine(out, e)
			}
		}
	}
	if err := out.Flush(); err != nil {
		return trouble, err
	}
	return r.code(), r.err
}

// printLine prints an event in one line.
func printLine(w io.Writer, e wire.Event) {
	fmt.Fprintf(w, "%s %-8.8s %-14s %-9s %7s", e.Time.Format("15:04:05.000"), visible(e.Run.ID, 8), visible(e.Point, 40),
		visible(e.Decision, 40), e.Elapsed.Round(time.Microsecond))
	if e.By != "" {
		fmt.Fprintf(w, " by %s", visible(e.By, 60))
	}
	if e.Reason != "" {
		fmt.Fprintf(w, " %s", quoted(e.Reason, 120))
	}
	fmt.Fprintln(w)
}

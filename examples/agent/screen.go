package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// A screen shows a run while it happens. It is a tracer, which gets every hook call, and an observer, which gets
// every fire.
type screen struct {
	out   io.Writer
	paint func(style, string) string

	mu sync.Mutex
}

// Trace shows one hook call.
func (s *screen) Trace(_ context.Context, e hookkit.Event) {
	if e.Kind == hookkit.EventFire {
		return // Observe shows it, with its payload
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	did := s.paint(dim, "continues")
	switch {
	case e.Failure != nil:
		did = s.paint(red, "fails: "+e.Failure.Error())
	case e.Decision != "":
		did = s.paint(yellow, because(e.Decision, e.Reason))
	}
	fmt.Fprintf(s.out, "    %s %s %s\n", s.paint(dim, e.Point), e.Hook, did)
}

// Observe shows a fire.
func (s *screen) Observe(_ context.Context, _ *agent.Run, fired hookkit.AnyFired) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if fired.Point == "BeforeStep" {
		fmt.Fprintln(s.out)
	}
	line := s.paint(bold, fmt.Sprintf("%-18s", fired.Point)) + " " + summary(fired.Final)
	switch {
	case fired.Err != nil:
		line += s.paint(red, " → "+fired.Err.Error())
	case fired.Decision != "":
		line += s.paint(yellow, " → "+because(fired.Decision, fired.Reason)+" by "+fired.Hook)
	case fired.Result != nil:
		line += s.paint(green, " → "+summary(fired.Result))
	case fired.Collected != nil:
		line += s.paint(yellow, " → "+summary(fired.Collected))
	}
	fmt.Fprintln(s.out, line)
}

func because(decision, reason string) string {
	if reason == "" {
		return decision
	}
	return decision + ": " + clean(reason)
}

// A style is a way to print.
type style string

const (
	bold   style = "\x1b[1m"
	dim    style = "\x1b[2m"
	red    style = "\x1b[31m"
	green  style = "\x1b[32m"
	yellow style = "\x1b[33m"
)

// painter returns a function that styles text where there is colour.
func painter(colour bool) func(style, string) string {
	return func(s style, text string) string {
		if !colour {
			return text
		}
		return string(s) + text + "\x1b[0m"
	}
}

// hasColour reports whether the file is a terminal whose user has not switched colours off.
func hasColour(f *os.File) bool {
	info, err := f.Stat()
	_, off := os.LookupEnv("NO_COLOR")
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && !off && os.Getenv("TERM") != "dumb"
}

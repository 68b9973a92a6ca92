package main

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// A narrator prints the tour.
type narrator struct {
	out     io.Writer
	colours bool
}

// A colour is an escape sequence of terminals.
type colour string

const (
	bold  colour = "\x1b[1m"
	dim   colour = "\x1b[2m"
	red   colour = "\x1b[31m"
	green colour = "\x1b[32m"
	cyan  colour = "\x1b[36m"
	plain colour = "\x1b[0m"
)

// coloured reports whether the file is a terminal that shows colours.
func coloured(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// paint returns the text in a colour, or unchanged if colours are off.
func (n *narrator) paint(c colour, text string) string {
	if !n.colours || text == "" {
		return text
	}
	return string(c) + text + string(plain)
}

// title begins a scene.
func (n *narrator) title(text string) {
	fmt.Fprintf(n.out, "\n%s\n\n", n.paint(bold, "== "+text+" =="))
}

// say prints a paragraph.
func (n *narrator) say(format string, args ...any) {
	fmt.Fprintf(n.out, format+"\n\n", args...)
}

// quote prints a file or a tool's output, set apart from the narration.
func (n *narrator) quote(c colour, text string) {
	n.lines(c, "", strings.TrimRight(text, "\n"))
	fmt.Fprintln(n.out)
}

// change prints the removed and the added lines of a file.
func (n *narrator) change(name, before, after string) {
	fmt.Fprintln(n.out, n.paint(bold, name))
	n.lines(red, "- ", before)
	n.lines(green, "+ ", after)
	fmt.Fprintln(n.out)
}

// lines prints each line in a colour, after a sign.
func (n *narrator) lines(c colour, sign, text string) {
	for line := range strings.Lines(text) {
		line = strings.ReplaceAll(strings.TrimRight(line, "\r\n"), "\t", "    ")
		fmt.Fprintln(n.out, strings.TrimRight(n.paint(dim, "  | ")+n.paint(c, sign+line), " "))
	}
}

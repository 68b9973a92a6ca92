package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"

	"github.com/hookgen/hookgen/internal/terminal"
)

// A palette colours texts for a terminal. The zero palette leaves them as they are.
type palette struct{ on bool }

// The colours, as parameters of the escape sequence SGR.
const (
	faint  = "2"
	bold   = "1"
	red    = "31"
	yellow = "33"
	cyan   = "36"
)

// paint colours a text, which must have no escape sequences of its own.
func (p palette) paint(color, text string) string {
	if !p.on || color == "" {
		return text
	}
	return "\x1b[" + color + "m" + text + "\x1b[0m"
}

// parseColored is parse for a command with the flag -color.
func (i *invocation) parseColored(flags *flag.FlagSet, args []string) (files []string, p palette, err error) {
	color := flags.String("color", "auto", "")
	if files, err = parse(flags, args); err == nil {
		p, err = choosePalette(*color, i.stdout)
	}
	return files, p, err
}

// choosePalette returns the palette for the flag -color: auto, always or never.
func choosePalette(choice string, stdout io.Writer) (palette, error) {
	switch choice {
	case "always":
		return palette{true}, nil
	case "never":
		return palette{}, nil
	case "auto":
		return palette{colourful(stdout)}, nil
	}
	return palette{}, usage("-color %s: choose one of auto, always, never", choice)
}

// colourful reports whether a stream is a terminal with colours. See no-color.org for NO_COLOR. The consoles of Windows
// show colours only if a program asks for them in another way.
func colourful(w io.Writer) bool {
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && runtime.GOOS != "windows" &&
		terminal.IsTerminal(w)
}

// pad adds blanks to the left of a text, or to its right if the width is negative. It counts characters.
func pad(text string, width int) string { return fmt.Sprintf("%*s", width, text) }

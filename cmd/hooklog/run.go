package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"sync/atomic"

	"github.com/hookgen/hookgen/internal/progress"
	"github.com/hookgen/hookgen/internal/spelling"
	"github.com/hookgen/hookgen/internal/version"
)

// The exit codes.
const (
	fine     = 0
	findings = 1 // damaged lines, or differences
	trouble  = 2 // wrong usage, or files that cannot be read
)

// An invocation is one run of the program, with its streams.
type invocation struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	pause          func(context.Context) bool // see serve.go; tests have their own

	line       *progress.Line
	read, size atomic.Int64 // of the sources, in bytes
}

// A command is one of the things that hooklog does. Its function parses its own flags with parse and returns the exit
// code; with an error the code is trouble.
type command struct {
	name string
	run  func(i *invocation, ctx context.Context, args []string) (code int, err error)
}

// commands returns the commands in the order of the help.
func commands() []command {
	return []command{
		{"show", (*invocation).show},
		{"stats", (*invocation).stats},
		{"diff", (*invocation).diff},
		{"html", (*invocation).html},
		{"serve", (*invocation).serve},
	}
}

// run runs hooklog and returns its exit code.
func (i *invocation) run(ctx context.Context, args []string) int {
	if version.Asked(args) {
		fmt.Fprint(i.stdout, version.Text("hooklog"))
		return fine
	}
	name := "help"
	if len(args) > 0 {
		name, args = args[0], args[1:]
	}
	if name == "help" && len(args) > 0 {
		name, args = args[0], []string{"-h"}
	}
	var names []string
	for _, c := range commands() {
		if c.name == name {
			return i.report(c, ctx, args)
		}
		names = append(names, c.name)
	}
	if slices.Contains([]string{"help", "-h", "-help", "--help"}, name) {
		fmt.Fprint(i.stdout, helpOf("hooklog"))
		return fine
	}
	why := fmt.Sprintf("%q is not a command", name)
	if meant := spelling.Suggest(name, names); meant != "" {
		why += ": did you mean hooklog " + meant + "?"
	}
	fmt.Fprintf(i.stderr, "hooklog: %s\nhooklog -h shows how it is used\n", why)
	return trouble
}

// report runs a command and prints its error, if there is one.
func (i *invocation) report(c command, ctx context.Context, args []string) int {
	i.line = progress.Start(i.stderr, "hooklog")
	defer i.line.Stop()
	i.stdout, i.stderr = i.line.Writer(i.stdout), i.line.Writer(i.stderr)
	code, err := c.run(i, ctx, args)
	var wrong usageError
	switch {
	case err == nil:
		return code
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(i.stdout, helpOf(c.name))
		return fine
	case errors.As(err, &wrong):
		fmt.Fprintf(i.stderr, "hooklog: %s\nhooklog %s -h shows how it is used\n", visible(err.Error(), 0), c.name)
	default:
		fmt.Fprintf(i.stderr, "hooklog: %s\n", visible(err.Error(), 0)) // it may contain the name of a file
	}
	return trouble
}

// A usageError is a mistake in the command line.
type usageError struct{ error }

func usage(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// newFlags returns the flags of a command. Flags that are not known are errors of parse.
func newFlags(name string) *flag.FlagSet {
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	return flags
}

// parse reads the arguments of a command, in which flags may be anywhere, and returns the others: the files. After "--"
// there are only files, also those whose names begin with a dash. The name "-" is standard input.
func parse(flags *flag.FlagSet, args []string) (files []string, err error) {
	for {
		err := flags.Parse(args)
		switch {
		case errors.Is(err, flag.ErrHelp):
			return nil, err
		case err != nil:
			return nil, usageError{err}
		}
		n := 1 // files before the next flag
		if parsed := len(args) - flags.NArg(); parsed > 0 && args[parsed-1] == "--" {
			n = flags.NArg()
		}
		args = flags.Args()
		n = min(n, len(args))
		files, args = append(files, args[:n]...), args[n:]
		if slices.Contains(files, "") {
			return nil, usage("the name of a file is an empty string")
		}
		if len(args) == 0 {
			return files, nil
		}
	}
}

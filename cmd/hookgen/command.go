package main

import (
	"errors"
	"flag"
	"fmt"
	"slices"

	"github.com/hookgen/hookgen/internal/version"
)

// A command is one of the things that hookgen does.
type command struct {
	name   string // its first argument; "" generates
	flags  []string
	file   bool   // its flags name a file, not a directory
	prints bool   // without -o it prints its output
	noOut  string // why it does not take the flag -o
	run    func(*invocation) error
	usage  string // its lines in the general help
}

// commands returns the commands. The first one needs no name.
func commands() []command {
	return []command{
		{flags: []string{"o", "json"}, run: (*invocation).generate, usage: `
	hookgen [-o DIR] [DIR]         generate from the spec in DIR (default: the current directory)`},
		{name: "breaking", flags: []string{"against", "for", "json", "github"}, run: (*invocation).breaking,
			noOut: "which reads the go:generate lines", usage: `
	hookgen breaking -against REF [DIR]
	                               print what changed in the spec since REF, and exit 1 if that breaks something
	hookgen breaking -for HOOKS... -against MODULE@VERSION
	                               the same for the points that packages of hooks implement`},
		{name: "check", flags: []string{"o", "json"}, run: (*invocation).check, usage: `
	hookgen check [-o DIR] [DIR]   print how the output is stale, and exit 1 if it is; write nothing
	hookgen check ./...            the same for every spec below, with the flags of its go:generate line`},
		{name: "doc", flags: []string{"o", "check", "json"}, file: true, prints: true, run: (*invocation).doc, usage: `
	hookgen doc [DIR]              print the documentation of the spec, in Markdown`},
		{name: "export", flags: []string{"o", "json"}, prints: true, run: (*invocation).export, usage: `
	hookgen export [DIR]           print it as JSON, with a JSON Schema for each payload and reply`},
		{name: "init", flags: []string{"json"}, run: (*invocation).initialize,
			noOut: "which generates next to the spec: move the code later", usage: `
	hookgen init [DIR]             begin: write a small spec, a first hook and its test, and generate`},
		{name: "version", run: (*invocation).version, usage: `
	hookgen version                print the version, for bug reports; hookgen --version does the same`},
	}
}

// commandNames returns the arguments that are not read as a directory.
func commandNames() []string {
	var names []string
	for _, c := range commands()[1:] {
		names = append(names, c.name)
	}
	return names
}

// commandNamed returns the command of which name is the first argument.
func commandNamed(name string) (c command, ok bool) {
	for _, c := range commands()[1:] {
		if c.name == name {
			return c, true
		}
	}
	return command{}, false
}

// refusal returns the error for a flag that the command does not take, or that is empty.
func (c command) refusal(f *flag.Flag) error {
	takes := slices.Contains(c.flags, f.Name)
	switch {
	case takes && f.Value.String() != "":
		return nil
	case takes && c.file:
		return fmt.Errorf("-%s needs a file", f.Name)
	case takes:
		return fmt.Errorf("-%s needs a directory", f.Name)
	case f.Name == "check":
		return errors.New("-check is a flag of hookgen doc")
	case f.Name == "o":
		return fmt.Errorf("-o cannot be given to %s, %s", c.name, c.noOut)
	}
	return errors.New("-against, -for and -github are flags of hookgen breaking")
}

// version prints the version.
func (i *invocation) version() error {
	fmt.Fprint(i.stdout, version.Text("hookgen"))
	return nil
}

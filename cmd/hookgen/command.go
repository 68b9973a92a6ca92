package main

import (
	"flag"
	"fmt"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/internal/version"
)

// A command is one of the things that hookgen does.
type command struct {
	name   string // its first argument; "" generates
	flags  []string
	prints bool // without -o it prints its output
	run    func(*invocation) error
	usage  string // its lines in the general help
}

// commands returns the commands. The first one needs no name.
func commands() []command {
	return []command{
		{flags: []string{"o", "json"}, run: (*invocation).generate, usage: `
	hookgen [-o DIR] [DIR]         generate from the spec in DIR (default: the current directory)`},
		{name: "breaking", flags: []string{"against", "for", "json", "github"}, run: (*invocation).breaking, usage: `
	hookgen breaking -against REF [DIR]
	                               print what changed in the spec since REF, and exit 1 if that breaks something
	hookgen breaking -for HOOKS... -against MODULE@VERSION
	                               the same for the points that packages of hooks implement`},
		{name: "check", flags: []string{"o", "json"}, run: (*invocation).check, usage: `
	hookgen check [-o DIR] [DIR]   print how the output is stale, and exit 1 if it is; write nothing
	hookgen check ./...            the same for every spec below, with the flags of its go:generate line`},
		{name: "doc", flags: []string{"o", "json"}, prints: true, run: (*invocation).doc, usage: `
	hookgen doc [DIR]              print the documentation of the spec, in Markdown`},
		{name: "export", flags: []string{"o", "json"}, prints: true, run: (*invocation).export, usage: `
	hookgen export [DIR]           print it as JSON, with a JSON Schema for each payload and reply`},
		{name: "init", flags: []string{"json"}, run: (*invocation).initialize, usage: `
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
	switch {
	case !slices.Contains(c.flags, f.Name):
		return fmt.Errorf("-%s is not a flag of %s: hookgen -h lists the flags of each command", f.Name,
			strings.TrimSpace("hookgen "+c.name))
	case f.Value.String() == "":
		return fmt.Errorf("-%s is empty: give it a value, or leave it out", f.Name)
	}
	return nil
}

// version prints the version.
func (i *invocation) version() error {
	fmt.Fprint(i.stdout, version.Text("hookgen"))
	return nil
}

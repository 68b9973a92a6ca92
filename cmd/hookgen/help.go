package main

import (
	"fmt"
	"strings"

	"github.com/hookgen/hookgen/gen/breaking"
)

const help = `hookgen turns an interface into typed hooks.

Write your program's fire points as an interface, in one Go file:

	//hookgen:points
	type Points interface {
		// BeforeSend fires before a message is sent.
		BeforeSend(Message) (spec.Replace, Refuse, spec.FailClosed)
		// OnSent fires after a message was sent.
		OnSent(Message)
	}

A method is a point. Its parameter is the payload. Its results are the law: the decisions that hooks may return
there, and whether a failing hook stops the act. From that hookgen writes hooks_gen.go: an interface to implement
for each point, the outcomes that are legal there, and the registry that your program fires. An outcome that the
law does not list does not compile. Neither does a call of MatchBeforeSend that misses an exit.

Usage:

	hookgen [-o DIR] [DIR]         generate from the spec in DIR (default: the current directory)
	hookgen check [-o DIR] [DIR]   print how the output is stale, and exit 1 if it is; write nothing
	hookgen check ./...            the same for every spec below, with the flags of its go:generate line
	hookgen breaking -against REF [DIR]
	                               print what changed in the spec since REF, and exit 1 if that breaks something
	hookgen doc [DIR]              print the documentation of the spec, in Markdown
	hookgen export [DIR]           print it as JSON, with a JSON Schema for each payload and reply
	hookgen init [DIR]             begin: write a small spec, a first hook and its test, and generate
	hookgen version                print the version, for bug reports; hookgen --version does the same

Flags:

	-o DIR   write DIR/hooks_gen.go, in a package named after DIR; default: next to the spec, in its package
	         (check without -o reads the go:generate line)
	-json    print findings as a JSON array of {file, line, col, message, rule}
	-h       print this; hookgen help breaking, doc, graph or export explains that command

Begin with

	mkdir mail && cd mail && hookgen init && go mod tidy && go test ./...

or, in a module that exists, with hookgen init mail, which prints the command that remains,
and keep the output fresh with a line in the spec, which init writes, and go generate:

	//go:generate go tool hookgen

The laws, each a result list:

	(nothing)                              observe: hooks watch
	spec.Replace, spec.Edit[T]             hooks change the payload, or its one field of type T
	Refuse, Later                          hooks leave with an exit, a struct type declared in the spec file
	spec.Vote, Deny, Allow                 every hook votes; the exit listed first wins
	spec.Collect[T]                        hooks contribute values; alone or with decisions
	spec.Check                             hooks return an error, and the first one stops
	spec.Around[R]                         hooks wrap an act that returns an R
	spec.Reverse                           last in, first out; written first
	spec.FailClosed, spec.FailOpen         a failing hook stops the act, or is skipped; written last

The whole manual: go doc github.com/hookgen/hookgen/spec

Exit codes: 0 fine, 1 findings (file:line:col: problem: remedy (rule)), 2 usage or files.
`

const helpBreaking = `hookgen breaking says what a change of the spec does to hooks and programs that exist.

	hookgen breaking -against git:v1.2.0 mail

compares the spec in the directory mail with the one in the release v1.2.0. Each difference is one line: the position,
the verdict, the change and its consequence, and in parentheses the rule and the position in the old spec.

The verdict is the worst effect on code that was written for the old spec:

	breaks-hooks        a hook or an observer may not compile
	breaks-loops        hooks compile, but the program that fires the points may not
	breaks-wire         everything compiles, but other processes and records disagree
	changes-behaviour   everything compiles, but does something else
	safe                everything compiles and behaves as before

Usage:

	hookgen breaking -against REF [-json | -github] [DIR]

REF is one of

	git:REV       a revision of the repository of DIR: a tag, a branch, a commit. If the spec was in another directory
	              then, it is found by the name of its package.
	git:REV:DIR   the directory of the spec in that revision, from the root of the repository
	a directory   a copy of the old package
	a file        the old spec file; types that it does not declare are not compared

Nothing is checked out, built or written. git runs as a program, without a shell.

Flags:

	-json     print a JSON array of {rule, verdict, point, message, file, line, col, oldFile, oldLine}
	-github   print annotations for a GitHub workflow

To accept a change, put a line above the point, with the rule and the reason:

	//hookgen:ignore exit-added every program that fires this point is ours
	BeforeSend(Message) (spec.Replace, Refuse, Later, spec.FailClosed)

Above the points interface, next to //hookgen:points, the line holds for the whole spec. That is the place for a point
that is gone. A line that silences nothing is a finding, so remove it after the release.

Exit codes: 0 nothing or safe changes, 1 other changes, 2 wrong usage, or a version that cannot be read.

The rules:

`

// helpOn returns the help for a command. Most need no more than the general help.
func helpOn(command string) string {
	switch command {
	case "breaking":
	case "doc":
		return helpDoc
	case "export":
		return helpExport
	default:
		return help
	}
	var b strings.Builder
	b.WriteString(helpBreaking)
	for _, r := range breaking.Rules {
		fmt.Fprintf(&b, "\t%-28s%s\n", r.ID, r.Says)
	}
	return b.String()
}

package main

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
	hookgen doc [DIR]              print the documentation of the spec, in Markdown
	hookgen graph [DIR]            print its points as a graph: Mermaid, DOT or SVG
	hookgen export [DIR]           print it as JSON, with a JSON Schema for each payload and reply
	hookgen init [DIR]             begin: write a small spec, a first hook and its test, and generate
	hookgen version                print the version, for bug reports

Flags:

	-o DIR   write DIR/hooks_gen.go, in a package named after DIR; default: next to the spec, in its package
	         (check without -o reads the go:generate line)
	-json    print findings as a JSON array of {file, line, col, message, rule}
	-h       print this; hookgen help doc, graph and export explain these commands

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

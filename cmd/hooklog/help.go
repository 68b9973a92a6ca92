package main

const help = `hooklog shows records of hooks: what each fire decided, and why.

A program writes a record with hookkit/wire and its generated function Record. hooklog reads the records of every spec.

Usage:

	hooklog show FILE...     print the events

hooklog help COMMAND explains a command.

FILE is a record, and "-" is standard input. The older files that wire.Rotate keeps are read before it: FILE.2, FILE.1
and then FILE. A file that is named twice is read once.

A line that is not an event is reported on standard error, with its file and line, and the rest is read. The texts of a
record come from models, tools and people. Control characters, characters that change the direction of a line, and
invisible ones are printed as escapes.

Exit codes: 0 fine, 1 damaged lines, 2 wrong usage, or a file that cannot be read.
`

const helpShow = `hooklog show prints events, one per line: when, the run, the point, the decision, how long the hooks took, the hook
that decided, and its reason.

	hooklog show run.jsonl

Usage:

	hooklog show [flags] FILE...

Flags:

	-run ID      only events of the run whose ID begins with ID
	-point NAME  only events of the point NAME

Exit codes: 0 fine, 1 damaged lines, 2 wrong usage, or a file that cannot be read.
`

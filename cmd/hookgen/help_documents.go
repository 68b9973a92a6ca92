package main

const helpDoc = `hookgen doc writes the documentation of a spec, in Markdown.

	hookgen doc -o docs/hooks.md mail

The page has the life of a run as a diagram; each point with its comment, the fields of its payload, its law in words,
the outcomes that are legal there and the consequence of a failing hook; an example of a hook for each point, which
compiles; and the exits and types that the points use. The same spec makes the same page on every machine.

Comments become text of the page, so write them for hook authors.

Usage:

	hookgen doc [-o FILE | -check FILE] [DIR]

Flags:

	-o FILE      write the page to FILE, which must not exist or be such a page; default: print it
	-check FILE  write nothing; print how FILE is stale, and exit 1 if it is: for CI
	-json        with -o or -check: print findings as a JSON array of {file, line, col, message, rule}

A line in the spec keeps the page fresh with go generate:

	//go:generate go tool hookgen doc -o ../docs/hooks.md

Examples import the generated package. If the go:generate line of the code has the flag -o, that is the package there.

Exit codes: 0 fine, 1 findings, 2 usage or files.
`

const helpExport = `hookgen export prints a spec as JSON, with JSON Schemas of the messages that cross the wire.
Programs read it, and types for hooks in other languages are made from it.

	hookgen export mail                  print the model
	hookgen export -o mail/schema mail   write it, and each schema in a file of its own

The model has the points with their laws, policies, exits, comments, deprecations and positions, and schemas under
$defs. With -o the directory gets

	model.json                      the model
	BeforeSend.payload.schema.json  the payload of the point BeforeSend
	BeforeSend.reply.schema.json    the replies that its hooks may give over the wire

Each file is a document of its own (JSON Schema 2020-12). Schemas of earlier runs whose points are gone are removed;
other files are left alone.

The schemas describe what encoding/json writes for the Go types: names and options in tags, embedded structs, null for
nil slices, base64 for bytes. A type with the method MarshalJSON can write anything, unless all that the method does is
to return json.Marshal of another struct. A type with MarshalText is a string. Comments become descriptions. A payload
may have members that a schema does not know, because a host can be newer than its hooks.

A reply is an object with the member decision: "continue", "replace", "edit" or the name of an exit. The others are
value, reason and collected. A failure has the member error alone. Replies are strict: the host refuses members that it
does not know. Around points have no replies, because their hooks call next.

For example, these commands make types for TypeScript and Python:

	npx quicktype -s schema 'mail/schema/model.json#/$defs/' --lang ts -o hooks.ts
	npx quicktype -s schema 'mail/schema/model.json#/$defs/' --lang py -o hooks.py

Usage:

	hookgen export [-o DIR] [DIR]

Flags:

	-o DIR   write to DIR, and make it if necessary
	-json    with -o: print findings as a JSON array of {file, line, col, message, rule}

Other commands only parse the spec. This one needs the types, so the package must build: the go command loads it. If
encoding/json cannot write a payload, for example a channel, a note says so and the point has no schema.

Exit codes: 0 fine, 1 findings in the spec, 2 usage, files, or a package that does not build.
`

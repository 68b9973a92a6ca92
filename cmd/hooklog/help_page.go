package main

const helpHTML = `hooklog html writes the page of a record into one file, for example to attach it to a report. The page
has the runs of the record, and the fires of each run with decisions, votes, failures and payloads.

	hooklog html run.jsonl
	hooklog html -run 3f2a -o incident.html run.jsonl

The page loads nothing and connects to nothing. It contains the payloads: only its owner can read the file, and who
gets a copy can read them. It is replaced as a whole, and is never a file of the record.

Usage:

	hooklog html [flags] FILE

Flags:

	-run ID   only the runs whose ID begins with ID, and those that they started
	-o PAGE   the file of the page; FILE.html by default, and - for standard output
	-name POINT.FIELD
	          the field of the payload of a point that names a run, such as BeforeSend.To

A page has at most 32 MB of data. For a larger record choose runs, or use hooklog serve.

Exit codes: 0 fine, 1 damaged lines, 2 wrong usage, a file that cannot be read, or a page that would be too large.
`

const helpServe = `hooklog serve shows a record as a page in a browser on this machine, and follows the record while it
grows. It prints the address of the page once, and runs until it is interrupted.

	hooklog serve run.jsonl
	some-exporter | hooklog serve -

The address contains a token. Without -host, other machines cannot reach the page, and other pages in the browser
cannot read it. The page loads nothing from elsewhere. Standard input is copied to a temporary file without a name. On
Windows it has a name, only its owner can read it, and it is removed at the end.

Usage:

	hooklog serve [flags] FILE

Flags:

	-addr HOST:PORT     where to listen: an address of this machine that others cannot reach, such as 127.0.0.1:8080; by
	                    default 127.0.0.1 and any free port. With -host any address, such as :8080
	-host NAME          the name by which browsers of other machines reach the page. It may be the address of a proxy,
	                    such as https://records.example.com. Who has the token reads everything in the record
	-token FILE         read the token from a file, so that the address stays the same; at least 20 letters, digits and
	                    dashes. By default it is random
	-name POINT.FIELD   the field of the payload of a point that names a run, such as BeforeSend.To. By default a run
	                    has the name of its task, if the first payload has one

Exit codes: 0 after an interrupt, 2 wrong usage, or a file that cannot be read.
`

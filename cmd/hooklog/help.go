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

const helpShow = `hooklog show prints events, one per line: the time, the run, the point, the decision, how long the
hooks took, the hook that decided, and its reason.

	hooklog show run.jsonl
	hooklog show -run 3f2a -sub -v run.jsonl
	hooklog show -decision Deny,Refuse -since 24h run.jsonl
	hooklog show -json -failed run.jsonl >failed.jsonl

Times are those of the clock and time zone of the program that wrote the record. The run is the beginning of its ID; the
one of a sub-run begins with >. Long texts are cut, with their length; -json has all of them.

Usage:

	hooklog show [flags] FILE...

Flags, which all have to match:

	-run ID           events of the runs whose ID begins with ID
	-sub              with -run: also those of their sub-runs
	-point NAMES      events of these points, separated by commas
	-hook TEXT        events in which a hook decided, voted or failed whose name contains TEXT
	-decision NAMES   events with these decisions; continue, replace and edit are the ones that are not exits
	-failed           events in which a hook failed, or that returned an error
	-since TIME       events at or after TIME: 2006-01-02T15:04:05Z; "2006-01-02 15:04", 2006-01-02 or 15:04 in the time
	                  zone of this machine; or how long ago, such as 90m
	-until TIME       events before TIME

and flags for the output:

	-v                print payloads, what changed in them, votes, contributions, failures and places too
	-json             print the matching lines as they are in the record
	-f                print what is appended to the one FILE, until interrupted; follow it when it is rotated, replaced,
	                  removed and made again, or truncated
	-color WHEN       auto, always or never; auto means in a terminal, unless NO_COLOR is set

Exit codes: 0 fine, 1 damaged lines, 2 wrong usage, or a file that cannot be read.
`

package main

const help = `hooklog shows records of hooks: what each fire decided, and why.

A program writes a record with hookkit/hooklog and its generated function Record. The command reads the records of every
spec.

Usage:

	hooklog show FILE...     print the events: who decided what, and why
	hooklog stats FILE...    print numbers: decisions, failures and times of each point and hook
	hooklog diff OLD NEW     compare two records fire by fire
	hooklog html FILE        write a page of runs, fires and payloads into a file
	hooklog serve FILE       show the page in a browser on this machine, and follow the file

hooklog help COMMAND explains a command. hooklog --version prints the version, for bug reports.

FILE is a record, and "-" is standard input. The older files that hooklog.Rotate keeps are read before it: FILE.2,
FILE.1 and then FILE. A file that is named twice is read once.

A line that is not an event is reported on standard error, with its file and line, and the rest is read. The texts of a
record come from models, tools and people. Control characters, characters that change the direction of a line, and
invisible ones are printed as escapes.

Exit codes: 0 fine, 1 damaged lines or differences, 2 wrong usage, or a file that cannot be read.
`

const helpShow = `hooklog show prints events, one per line: the time, the run, the point, the decision, how long the
hooks took, the hook that decided, and its reason.

	hooklog show run.jsonl
	hooklog show -run 3f2a -sub -v run.jsonl
	hooklog show -decision Deny,Refuse -since 24h run.jsonl
	hooklog show -json -failed run.jsonl >failed.jsonl
	hooklog show -view trajectory run.jsonl

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
	-json             print the matching lines as they are in the record; in a terminal with escapes
	-view NAME        print a view of the matching events, if they are those of an agent: metrics, timing and history are
	                  numbers; trajectory has a line for each step; summary, tree and episodes are of conversations
	-f                print what is appended to the one FILE, until interrupted; follow it when it is rotated, replaced,
	                  removed and made again, or truncated
	-color WHEN       auto, always or never; auto means in a terminal, unless NO_COLOR is set

Exit codes: 0 fine, 1 damaged lines, 2 wrong usage, or a file that cannot be read.
`

const helpStats = `hooklog stats prints the numbers of a record: events, runs, the time range, and for each point and
each hook the decisions, failures and times.

	hooklog stats run.jsonl
	hooklog show -json -since 24h run.jsonl | hooklog stats -

Usage:

	hooklog stats [-json] [-color WHEN] FILE...

Columns of the points:

	FIRES       the fires
	FAILED      those in which a hook failed
	ERRORS      those that returned an error to the program
	P50, P99    half of the fires, and 99 of 100, took at most this time; the error is at most 2 %
	MAX         the longest fire
	DECISIONS   how often each decision was made

Columns of the hooks:

	DECIDED     the fires that the hook decided
	VOTES       its votes, and
	FAILED      its failures, in all fires
	P50, P99, MAX
	            the times of the fires that the hook decided. A record has no time for each hook: these are the times of
	            all hooks of those fires together.

A hook that only continues leaves no trace in a record, so it is not listed.

The memory does not grow with the record: at most 1,000 points, 1,000 hooks and 262,144 runs are distinguished.

Flags:

	-json         print one JSON object; times are in nanoseconds
	-color WHEN   auto, always or never

Exit codes: 0 fine, 1 damaged lines, 2 wrong usage, or a file that cannot be read.
`

const helpDiff = `hooklog diff compares two records fire by fire, for example of the same inputs before and after a
change of the hooks. It prints the fires that differ, and a summary.

	hooklog diff before.jsonl after.jsonl

A run is compared with the run that has the same ID, or, if the ID is in one record only, with the first such run that
began at the same point with the same payload. In two runs, fires of one point with equal payloads are compared:

	same       the outcomes, the payloads after the hooks and the contributions are equal
	changed    they differ, or one fire returned an error and the other did not
	failed     a hook failed, and none failed in the first record; an error at a point with the law Check counts too
	missing    only the first record has the fire, for example because an earlier fire is denied now
	added      only the second record has it

The names of hooks, the texts of errors, single votes, and the reasons of Replace and Edit do not count. A fire waits
for its counterpart until such fires need 64 MB. If it comes later, both fires are missing and added.

The first table of the summary has the numbers for each point. The second one has the changes. For example, "14 of
9,120" means that the second record has another decision for 14 of the 9,120 fires with the old decision. HOOK is the
hook that decides or fails now.

Usage:

	hooklog diff [flags] OLD NEW

Flags:

	-v            print payloads, both decisions, and how values differ too
	-json         print a line {status, why, was, is} for each fire that differs, and at last a line {summary}
	-color WHEN   auto, always or never

Exit codes: 0 no differences, 1 differences or damaged lines, 2 wrong usage, or a file that cannot be read.
`

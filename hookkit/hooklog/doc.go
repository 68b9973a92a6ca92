// Package hooklog keeps records of fires, and tries hooks on them.
//
// For a spec marked //hookgen:wire, hookgen generates a function Record. It returns an observer that writes an [Event]
// for each fire to a [Sink]: to a file with [Open], or to any writer with [Lines]. Payloads and exits are written by
// encoding/json, as in the messages of package wire.
//
//	log, err := hooklog.Open("run.jsonl", hooklog.Rotate(100<<20, 5))
//	...
//	defer log.Close()
//	hooks.ObserveAny(agent.Record(log))
//
// [Read] reads a record, and [Replay] fires its payloads at other hooks and compares the decisions. [Shadow] does the
// same with the payloads of a running program, and [Diff] compares two records. The command hooklog shows records in a
// terminal and in a browser.
//
// Replaying a record at the hooks that made it yields the same decisions, if the hooks decide by the payloads, their
// state for the run, and the time of the record alone.
//
// # Where to start
//
// A program that records needs [Open], [Redact] and [Rotate]. One that tries hooks needs [Replay] or [Shadow], and
// [Comparison].
package hooklog

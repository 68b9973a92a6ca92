// Package hookkit is the runtime that generated hook registries and hooks share. It imports the standard library
// only. A loop author meets it as [Run]; a hook author as [PerRun], [Answer] and the options; an operator
// as [Registration], [Info] and [Tracer]. What is marked "for generated code" is called by nobody else.
//
// # What a fire does
//
// These are the rules; the property tests cite them by number.
//
//  1. Order. Hooks fire by [Priority], the highest first, and among equal ones by time of registration. [Before]
//     and [After] outrank priorities: a hook that declares Before moves up to what it precedes, one that
//     declares After waits. A contradiction panics at registration and names both places. At a point whose
//     law is Reverse the whole order is mirrored.
//  2. Layers. The hooks of an outer layer fire before those of an inner one, whatever the priorities (after
//     them, under Reverse). A layer follows its parent's changes and never changes its parent.
//  3. Replace and Edit. Each hook sees the payload as the last replacement left it. An Edit changes its one field.
//  4. Exits. In a flow the first exit stops the rest. Observers are told all the same, once, and by whom.
//  5. Vote. Every hook is asked about the same payload. The exit listed first in the spec is the strongest and
//     wins; among equal exits the first in order.
//  6. Collect. Contributions are concatenated in firing order, from every hook that ran without failing.
//  7. Around. The first hook is the outermost. The act runs as often as next is called on the innermost; an
//     answer or an error must come back; what the outermost hook returns counts.
//  8. State. [PerRun] belongs to one hook instance and one run.
//  9. Failure. An error, a panic and a time-out are the same thing. FailClosed: the fire ends with a [*Failure] and
//     the act must be refused. FailOpen: the failure is reported and the next hook runs. An observer's failure
//     never reaches the fire. What reaches nobody else is logged by [log/slog].
//  10. Snapshot. A fire uses the registrations that stood when it began. Adding, removing and firing from inside a
//     hook are legal and cannot deadlock.
//  11. Illegal outcomes. What the compiler cannot refuse (an exit by pointer, a typed nil, a struct that embeds an
//     exit) is a failure of the hook, never "continue". An outcome beside an error is dropped: the error counts.
//
// # What a hook can do to a fire
//
// A hook that panics, with nil too, or meets a runtime error, has failed. One that calls [runtime.Goexit] ends the
// goroutine of the fire: nothing is returned to the program, observers and tracers are told. (With the setting panicnil=1 of
// GODEBUG a panic with nil cannot be told from that: every fire then ends with an error.) One that blocks under
// a [Timeout] has failed when the time is up; it runs on, and its late answer is dropped. One that blocks without a
// Timeout blocks the fire. One that overflows its stack, or writes to a map that others write to, ends the program:
// the Go runtime does not let anybody recover. One that cancels a context that it derived cancels it for nobody
// else; one that can reach what cancels the context of the fire cancels it for all who look at it, and the fire
// does not look: its other hooks run, and what they decide counts. One that changes what a payload points to (a
// map, a slice) changes it for all who see it: hooks must replace instead, and the conformance suite in hooktest
// finds those that do not. One that removes itself, or adds others, changes the next fire. One that fires its own
// point recurses, and must see to its own end.
//
// # Cost
//
// A point without hooks costs an atomic load, around one a call. A fire takes no lock and allocates nothing while every hook
// continues; around hooks cost one allocation a fire. Observers, tracers, Timeout and Once cost only the fires
// that have them.
package hookkit

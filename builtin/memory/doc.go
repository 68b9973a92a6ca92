// Package memory keeps facts and notes from one run to the next, and adds them to prompts.
//
// For example, a user says once that she prefers metric units. At the end of the run, the [Extractor] stores the fact
// in a [Store]. In the next run, the [Injector] adds it to the prompts. If she says later that she prefers miles, that
// fact replaces the first one, which stays in the history. [Facts] is a Store over any agent.Store, for example over
// that of contrib/sqlite. [Notes] are free text instead of separate facts. The [Archive] keeps all messages, for the
// tool recall of [Tools].
//
// Conversations are stored by package session, and records for people by package record. The package imports packages
// limit, redact and session, and internal packages.
//
// Start with [Injector] and [Facts]. [Tools] and [NoteTool] let the model itself keep facts and notes.
package memory

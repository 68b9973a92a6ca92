// Package memory keeps facts, preferences, episodes and notes from one run to the next, and adds them to prompts.
//
// For example, a user says once that she prefers metric units. At the end of the run, the [Extractor] stores the fact
// in a [Store]. In the next run, the [Injector] adds it to the prompts. [Notes] are free text instead of separate
// facts. The [Archive] keeps conversations, and the [Review] finds steps worth repeating.
//
// Conversations are stored by package session, and records for people by package record. The package imports packages
// limit and redact and internal packages.
//
// Start with [Injector] and [OpenFile]. [Tools] and [NoteTool] let the model itself keep facts and notes.
package memory

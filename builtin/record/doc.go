// Package record writes runs to files and stores, so that people and programs can read them later.
//
// [Audit] logs decisions, [Model] records model calls, and [Trajectory] records steps. [Provenance] combines the last
// two, and [Replay] runs a recording again. [History], [Summary] and [Episodes] keep lists and summaries of runs,
// and [Tree] records the branches of a conversation. Everything is redacted before it is written.
//
// Live numbers and events belong in package observe, and conversations to continue in package state. The package
// imports packages limit, memory and redact, and internal packages.
//
// Start with [Audit] for decisions and [Provenance] for whole runs.
package record

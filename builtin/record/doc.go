// Package record writes down what runs did, so that people and programs can read it later: an audit log, calls to
// the model, trajectories, histories, summaries and episodes.
//
// Everything is redacted before it is written. [Replay] runs recorded replies again. Live numbers and events are in
// package observe; conversations to continue are in package state. The package imports no library.
//
// Start with [Audit] for decisions and [Provenance] for whole runs.
package record

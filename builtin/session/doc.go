// Package session stores conversations and checkpoints, so that a run can continue in another process.
//
// [Map] and [Dir] store bytes under keys, and [Sessions] stores conversations in either of them. [Persist] saves the
// conversation at the end of a run, [Checkpoint] during the run. [Files] goes back to the files and the conversation
// before a run. [WriteGate] delays writes until no run is active.
//
// Facts that outlive a conversation belong in package memory. The package imports packages limit and share,
// and internal packages.
//
// Start with [Persist], or with [Checkpoint] for long runs.
package session

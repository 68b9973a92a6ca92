// Package state stores conversations and checkpoints, so that a run can continue in another process.
//
// [Map] and [Dir] are stores of bytes, [Sessions] keeps conversations in one, [Persist] saves them at the end of a run
// and [Checkpoint] during it. Facts are kept by package memory. The package imports no library.
//
// Start with [Persist] or [Checkpoint].
package state

// Package repair helps a model out of mistakes: loops, stagnation, echoed payloads, and calls with wrong arguments.
//
// Its hooks hint and refuse; they end a turn only after a hint did not help. builtin.SmallModel bundles those that
// small models need. Limits on cost and time are in package limit. The package imports no library.
//
// Start with [LoopDetector].
package repair

// Package repair helps a model to recover from its own mistakes, such as loops, stagnation, and calls with wrong
// arguments.
//
// The hooks of this package give hints and refuse calls. They end a turn only if a hint did not help.
// builtin.SmallModel bundles the hooks that small models need.
//
// Limits on cost and time belong in package limit. The package imports package limit and internal packages.
//
// Start with [LoopDetector].
package repair

// Package compact shortens the stored conversation of an agent before it outgrows the context window.
//
// [Auto] decides when to compact. A compactor decides how: [Prune] clears old tool results, [Summarize] and
// [Incremental] ask the model for a summary, and [Truncate] drops old turns. A [Chain] combines compactors; [Default]
// is the usual combination. With [Retrospective] the model itself drops the steps after a wrong turn.
//
// Shortening single requests without changing the stored conversation belongs in package window. The package imports
// only package limit and internal packages of builtin.
//
// Start with [Auto] and [Default].
package compact

// Package compact shortens the stored conversation: Auto decides when, the compactors decide how.
//
// A [Chain] tries compactors in order; [Default] is the usual one. Shortening of single requests is in package window.
// The package imports no library.
//
// Start with [Auto] and [Default].
package compact

// Package prompt adds text to the prompts of a run: fixed texts, texts by step, hints after failures, and messages of
// an operator.
//
// Text from memory and notes is in package memory; warnings about a limit are in package limit. The package imports no
// library.
//
// Start with [Static] for text that stays the same and [Steering] for text that arrives during a run.
package prompt

// Package prompt adds text to the prompts of a run.
//
// The text can be fixed, differ from step to step, react to failed calls, or come from an operator during the run.
//
// Text from memory and notes belongs in package memory, and warnings about a limit in package limit. The package
// imports package limit and internal packages of builtin.
//
// Start with [Static] for text that never changes and [Steering] for text that arrives during a run.
package prompt

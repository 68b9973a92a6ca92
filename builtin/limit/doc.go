// Package limit bounds the steps, tokens, time and tool calls of a run.
//
// Steps, Tokens, Time and FinishReason end a run before its next step. Cancellation ends a run on request from outside.
// Tools and Throttle refuse single calls, and Warning notifies the model that few steps remain. The bundle of the usual
// limits is builtin.Guards.
//
// Limits on the size of a prompt belong in package window; detection of loops belongs in package repair.
//
// Most bounds of builtin are a [Bound]; where a field is a plain number, its comment says what 0 means. The package
// imports no third-party library.
//
// Start with [Steps].
package limit

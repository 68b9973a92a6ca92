// Package limit bounds what a run may use: steps, tokens, time and calls of tools.
//
// Steps, Tokens, Time and FinishReason end a run before its next step; Tools refuses single calls; Warning tells the
// model that its steps run out; Cancellation ends a run when somebody asks for it. The bundle of the usual limits is
// builtin.Guards. Limits of the size of a prompt are in package window.
//
// Bounds of all rooms are written with [Bound]. The package imports no library.
//
// Start with [Steps].
package limit

// Package share says which runs share the data that a hook keeps for more than one run.
//
// Hooks with such data, for example memories, notes, switches and messages to the model, have a field Share of type
// [Scope]. Its default is the conversation: nothing passes from one conversation, user or tenant to another.
//
// A run has the names that loop.Request gives it. The package imports only internal packages of builtin. Hooks of other
// authors may use it too.
//
// Start with [Scope].
package share

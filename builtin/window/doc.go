// Package window keeps requests to the model within its context window.
//
// For example, a tool returns a file of 200,000 characters, and after twenty such calls the next request would be
// refused. The hooks of this package shorten tool results and requests before they are sent.
//
// They never change the stored conversation; for that, see package compact. The package imports compact, and otherwise
// only internal packages of builtin.
//
// Start with [Guard]. Use [TruncateOutput] or [TokenBudget] if you need only that one job.
package window

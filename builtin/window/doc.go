// Package window keeps an agent within the context window of its model.
//
// For example, a tool returns a file of 200,000 characters, and after twenty such calls the next request would be
// refused. [Guard], [TruncateOutput] and [TokenBudget] shorten tool results and requests before they are sent; the
// stored conversation stays as it is.
//
// [Auto] decides when to shorten the stored conversation itself, once for all later requests. A compactor decides how:
// [Prune] clears old tool results and arguments, [Summarize] and [Incremental] ask the model for a summary, and
// [Truncate] drops old turns. A [Chain] combines compactors; [Default] is the usual combination. With [Retrospective]
// the model itself drops the steps after a wrong turn.
//
// The package imports package limit and internal packages of builtin.
//
// Start with [Guard], then [Auto] with [Default].
package window

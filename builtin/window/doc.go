// Package window keeps requests within the context window of the model.
//
// Its hooks shorten requests and outputs of tools and never change the stored conversation; a compaction that does is
// in package compact. The package imports no library.
//
// Start with [Guard], or with [TruncateOutput] and [TokenBudget] if their one job is enough.
package window

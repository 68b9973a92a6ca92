package hookvet

import "golang.org/x/tools/go/analysis"

// checks are those for authors of hooks, and then those for programs that fire.
var checks = []check{
	unbound, boundTwice, options, exitValue, lostChange, sharedPayload, keptPayload, hookState, perRun, noAnswer,
	unfired, fireResult, missedExit, exitCase, fireCopy, runPerFire, outerHooks,
}

// Analyzers returns all checks.
func Analyzers() []*analysis.Analyzer {
	var all []*analysis.Analyzer
	for _, k := range checks {
		all = append(all, k.analyzer())
	}
	return all
}

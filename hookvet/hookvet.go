package hookvet

import "golang.org/x/tools/go/analysis"

// checks returns every check, those for authors of hooks first, then those for programs that fire.
func checks() []check {
	return []check{
		unbound, boundTwice, keptHooks, options,
		exitValue, lostChange, sharedPayload, keptPayload, hookState, perRun, noAnswer,
		unfired, fireResult, missedExit, exitCase, fireCopy, runPerFire, outerHooks,
		ignore(),
	}
}

// Analyzers returns all checks.
func Analyzers() []*analysis.Analyzer {
	var all []*analysis.Analyzer
	for _, k := range checks() {
		all = append(all, k.analyzer())
	}
	return all
}

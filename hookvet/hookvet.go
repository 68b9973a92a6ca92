// Package hookvet finds mistakes in programs with hooks that compile: a hook that is never called, a decision that is
// ignored, a change that is lost.
//
// Command hookvet runs its analyzers, alone or from go vet; package contrib/golangci adds them to golangci-lint. The
// page docs/hooks/hookvet.md shows a wrong and a right program for each.
//
// Start with [Analyzers]. Each check has a file of its name. They share these files:
//
//   - point.go reads the fire points of generated packages from their types;
//   - code.go finds the hooks, fires and registrations of a package once for all checks;
//   - graph.go answers which statements may run after others;
//   - variable.go answers whether a variable is read afterwards;
//   - reach.go finds the values that come from a parameter;
//   - expr.go and func.go have questions about one expression and one function;
//   - report.go reports findings, unless a comment that ignore.go reads suppresses them.
//
// A check reports only certain mistakes, and is silent where it cannot know.
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

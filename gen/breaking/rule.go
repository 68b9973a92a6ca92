package breaking

import (
	"cmp"
	_ "embed" // for rules.txt
	"go/token"
	"slices"
	"strings"
)

// A Verdict is the worst effect of a change on hooks and programs that were written for the old version.
type Verdict string

// The verdicts, the worst first.
const (
	BreaksHooks      Verdict = "breaks-hooks"      // a hook or an observer may not compile
	BreaksLoops      Verdict = "breaks-loops"      // hooks compile, but the program that fires the points may not
	BreaksWire       Verdict = "breaks-wire"       // everything compiles, but other processes and records disagree
	ChangesBehaviour Verdict = "changes-behaviour" // everything compiles, but does something else
	Safe             Verdict = "safe"              // everything compiles and behaves as before
)

// Verdicts are all verdicts, the worst first.
var Verdicts = []Verdict{BreaksHooks, BreaksLoops, BreaksWire, ChangesBehaviour, Safe}

// Worse returns the worse of two verdicts.
func Worse(a, b Verdict) Verdict {
	return Verdicts[min(slices.Index(Verdicts, a), slices.Index(Verdicts, b))]
}

// A Finding is one difference between two versions of a spec.
type Finding struct {
	Rule    string
	Verdict Verdict
	Points  []string       // the points that it concerns; empty for the whole spec
	Message string         // the difference, and what to do about it
	Pos     token.Position // in the new version
	Old     token.Position // in the old version; zero if there is none
}

// Fails reports whether somebody has to act: whether the change is not safe, or an ignore line has no effect.
func (f Finding) Fails() bool {
	return f.Verdict != Safe || f.Rule == ruleUnusedIgnore || f.Rule == ruleUnknownRule
}

// A Rule is one class of change.
type Rule struct {
	ID   string
	Says string
}

const (
	ruleUnusedIgnore = "unused-ignore"
	ruleUnknownRule  = "unknown-rule"
)

// rulesText has one rule per line.
//
//go:embed rules.txt
var rulesText string

// Rules are the classes of change, in the order of the documentation.
var Rules = func() (rules []Rule) {
	for line := range strings.Lines(rulesText) {
		id, says, _ := strings.Cut(strings.TrimSpace(line), ": ")
		rules = append(rules, Rule{id, says})
	}
	return rules
}()

// known reports whether an ignore line may name a rule.
func known(rule string) bool {
	return rule != ruleUnusedIgnore && rule != ruleUnknownRule &&
		slices.ContainsFunc(Rules, func(r Rule) bool { return r.ID == rule })
}

// sorted sorts findings by verdict, the worst first, and then by position.
func sorted(findings []Finding) []Finding {
	slices.SortStableFunc(findings, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(slices.Index(Verdicts, a.Verdict), slices.Index(Verdicts, b.Verdict)),
			cmp.Compare(a.Pos.Filename, b.Pos.Filename),
			cmp.Compare(a.Pos.Line, b.Pos.Line),
			cmp.Compare(a.Pos.Column, b.Pos.Column),
			cmp.Compare(a.Old.Filename, b.Old.Filename),
			cmp.Compare(a.Old.Line, b.Old.Line),
			cmp.Compare(a.Old.Column, b.Old.Column),
			cmp.Compare(a.Rule, b.Rule),
			cmp.Compare(a.Message, b.Message),
		)
	})
	return findings
}

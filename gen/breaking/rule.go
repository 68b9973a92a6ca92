package breaking

import (
	"cmp"
	"go/token"
	"slices"
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

// Rules are the classes of change, in the order of the documentation.
var Rules = []Rule{
	{"point-added", "a point is new"},
	{"point-removed", "a point that was deprecated is gone"},
	{"point-removed-undeprecated", "a point is gone, and no release said that it would go"},
	{"payload-changed", "a point has another payload"},

	{"law-changed", "hooks run in another way, for example vote instead of leaving with an exit"},
	{"replace-granted", "hooks may return another payload"},
	{"replace-withdrawn", "hooks may no longer return another payload"},
	{"edit-granted", "hooks may change one field of the payload"},
	{"edit-withdrawn", "hooks may no longer change that field"},
	{"edit-changed", "an edit has another type"},
	{"edit-field-changed", "an edit changes another field"},
	{"exit-added", "hooks may leave with another exit"},
	{"exit-removed", "hooks may no longer leave with an exit"},
	{"exit-order", "the exits of a point have another order"},
	{"vote-order", "another exit wins a vote"},
	{"collect-added", "hooks that decide may contribute, too"},
	{"collect-removed", "hooks that decide may no longer contribute"},
	{"collect-changed", "hooks contribute another type"},
	{"around-changed", "the act that hooks wrap has another result"},
	{"order-reversed", "the hooks of a point run in the reverse order"},
	{"policy-tightened", "a failing hook now ends the fire"},
	{"policy-loosened", "a failing hook no longer ends the fire"},

	{"key-added", "hooks may be registered for some keys of a point"},
	{"key-removed", "hooks may no longer be registered for some keys of a point"},
	{"key-changed", "the key of a point has another name, field or type"},

	{"field-added", "a field is new"},
	{"field-removed", "a field is gone"},
	{"field-retyped", "a field has another type"},
	{"field-retagged", "a field has another tag"},
	{"member-hidden", "a new field or method hides one of an embedded struct"},
	{"type-changed", "a type is declared differently"},
	{"type-removed", "an exported type is gone"},
	{"type-renamed", "a type has another name, and the old one is an alias of it"},
	{"not-comparable", "values of a type can no longer be compared by =="},
	{"method-added", "a type or an interface has another method"},
	{"method-removed", "a method is gone"},
	{"method-changed", "a method has another signature"},
	{"const-added", "a constant is new"},
	{"const-removed", "a constant is gone"},
	{"const-changed", "a constant has another value or type"},

	{"env-added", "runs have an environment"},
	{"env-removed", "runs have no environment"},
	{"env-changed", "the environment has another type"},
	{"points-embedded", "the spec extends another package"},
	{"points-unembedded", "the spec no longer extends another package"},
	{"interface-renamed", "the points interface has another name"},
	{"package-renamed", "the generated package, or one that the payloads are from, has another name"},
	{"package-moved", "the generated code has another import path"},
	{"wire-added", "other processes can speak the spec"},
	{"wire-removed", "other processes can no longer speak the spec"},
	{"point-local", "a point is kept from other processes"},
	{"point-wired", "a point is open to other processes"},

	{"deprecated", "a point, a type, a field, a method or a constant is deprecated"},
	{"undeprecated", "a point, a type, a field, a method or a constant is no longer deprecated"},

	{ruleUnusedIgnore, "an ignore line silences nothing"},
	{ruleUnknownRule, "an ignore line names a rule that does not exist"},
}

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

package gen

import (
	"fmt"
	"go/token"
	"slices"

	"github.com/hookgen/hookgen/internal/spelling"
)

// A rule is one requirement of the spec language. Its check reports every place where a spec breaks it.
type rule struct {
	id      string
	summary string // the sentence
	check   func(*specInfo, report)
}

// A report adds a diagnostic at a position. A check calls it once for each mistake.
type report func(pos token.Pos, format string, args ...any)

// rules are the rules of the language in the order of the manual. No check relies on another, and diagnostics are
// sorted by position, so the order affects only documentation.
var rules = []rule{
	{"build-constraint", "a spec belongs to every build", checkBuildConstraint},
	{"cgo", "a spec is plain Go", checkCgo},
	{"dot-import", "a spec has no dot imports", checkDotImport},
	{"import-count", "a spec imports at most 1000 packages", checkImportCount},
	{"qualifier", "every qualifier names one import", checkQualifier},
	{"import-name", "imports leave room for the names that are generated", checkImportName},
	{"shadowed-name", "the package declares no name that Go declares itself", checkShadowedName},

	{"directive-form", "a directive is written //hookgen:name, on a line of its own; ignore has a rule and a reason",
		checkDirectiveForm},
	{"directive-name", "the directives are points, wire, local, key and ignore", checkDirectiveName},
	{"directive-place", "a directive is directly above the points interface or a point", checkDirectivePlace},
	{"one-spec", "a directory holds one spec", checkOneSpec},

	{"points-interface", "the points interface is exported, not generic and declared as such", checkPointsInterface},
	{"no-points", "the points interface has a point", checkNoPoints},
	{"embedding", "the interface embeds spec.Env, interfaces of its file and Points of other packages", checkEmbedding},
	{"embedding-cycle", "no interface embeds itself", checkEmbeddingCycle},
	{"duplicate-point", "every point comes once", checkDuplicatePoint},
	{"env-once", "spec.Env comes once", checkEnvOnce},
	{"env-parent", "the environment of an extension is its parent's", checkEnvParent},
	{"parent-once", "a package is extended once", checkParentOnce},

	{"point-name", "the name of a point is exported", checkPointName},
	{"payload-count", "a point has one payload", checkPayloadCount},
	{"payload-variadic", "a payload is not variadic", checkPayloadVariadic},
	{"payload-context", "a point has no context parameter", checkPayloadContext},
	{"type-form", "the types of a point are written with names and simple constants", checkTypeForm},
	{ruleUndefined, "the types of a point are declared in its package", checkUndefinedType},
	{"type-arguments", "a generic type has its type arguments", checkTypeArguments},
	{"type-size", "a type of a point has at most 200 levels and 10000 parts", checkTypeSize},
	{"type-lock", "a type of a point has no lock that would be copied", checkLock},

	{"wire-type", "a payload and an exit of a wire point have no field that JSON cannot hold", checkWireType},

	{"unknown-marker", "every spec.Name is a marker", checkUnknownMarker},
	{"marker-type", "a marker has the type argument that it takes", checkMarkerType},
	{"marker-place", "markers appear in result lists, spec.Env in the interface", checkMarkerPlace},
	{"error-result", "error is not listed", checkErrorResult},
	{"payload-result", "a payload is not listed", checkPayloadResult},
	{"repeated", "nothing is listed twice", checkRepeated},
	{"order", "a list begins with Vote and Reverse and ends with the policy", checkOrder},
	{"check-alone", "spec.Check is listed alone", checkAlone("Check")},
	{"check-all-alone", "spec.CheckAll is listed alone", checkAlone("CheckAll")},
	{"around-alone", "spec.Around is listed alone, or with spec.Reverse", checkAlone("Around")},
	{"vote-rewrites", "spec.Vote is not combined with Replace or Edit", checkVoteRewrites},
	{"vote-exits", "spec.Vote has exits to vote on", checkVoteExits},
	{"policy-missing", "a point where hooks decide has a policy", checkPolicyMissing},
	{"policy-meaningless", "a point where hooks decide nothing has none", checkPolicyMeaningless},
	{"policy-last", "the policy is last", checkPolicyLast},
	{"policy-once", "there is one policy", checkPolicyOnce},
	{"key", "a key is a field of the payload: a string, an integer, or an array or struct of them", checkKey},
	{"edit-payload", "spec.Edit needs a payload that is a struct of the spec file", checkEditPayload},
	{"edit-field", "the payload has one exported field of the type of spec.Edit", checkEditField},

	{"exit-package", "an exit belongs to the package that declares the point", checkExitPackage},
	{"exit-declared", "an exit is declared in the spec file", checkExitDeclared},
	{"exit-struct", "an exit is a defined struct type", checkExitStruct},
	{"exit-exported", "an exit is exported", checkExitExported},
	{"exit-name", "an exit has no name that records and messages use for something else", checkExitName},
	{"exit-generic", "an exit is not generic", checkExitGeneric},
	{"exit-pointer", "an exit is listed by value", checkExitPointer},
	{"exit-methods", "an exit has no methods", checkExitMethods},
	{"exit-fields", "the fields of an exit are exported", checkExitFields},
	{"exit-embeds", "an exit embeds structs of its package that have no methods, and nothing else", checkExitEmbeds},
	{"exit-held", "no type holds an exit", checkExitHeld},

	{"reserved-name", "a point leaves the names of generated methods alone", checkReservedName},
	{"name-clash", "names leave room for those that are generated", checkNameClash},
}

// Limits on the diagnostics of one spec. Each suggestion costs a comparison with every name of the file.
const (
	maxFindings    = 10000
	maxSuggestions = 100 // names that a like one is looked for, among those of the file
)

// check runs every rule.
func check(r *specInfo) Diagnostics { return runRules(r, rules) }

// suggest is [spelling.Suggest] with a limit: after maxSuggestions calls it suggests nothing.
func (r *specInfo) suggest(name string, candidates []string) string {
	if r.suggestions++; r.suggestions > maxSuggestions {
		return ""
	}
	return spelling.Suggest(name, candidates)
}

// runRules runs rules and collects their diagnostics.
func runRules(r *specInfo, rules []rule) Diagnostics {
	var found Diagnostics
	for _, rule := range rules {
		rule.check(r, func(pos token.Pos, format string, args ...any) {
			if len(found) >= maxFindings {
				return
			}
			found = append(found, Diagnostic{
				Pos: r.Fset.PositionFor(pos, false), Message: fmt.Sprintf(format, args...), Rule: rule.id,
			})
		})
	}
	return found
}

// A Rule is one requirement of the spec language. The manual lists all of them.
type Rule struct {
	ID   string // in parentheses at the end of a diagnostic
	Says string // the sentence
}

// Rules returns every rule that [Read] and [CheckOutput] check, in the order of the manual.
func Rules() []Rule {
	all := []Rule{
		{ruleNoSpec, "a directory holds a spec"},
		{ruleSize, "a spec is not larger than 4 MB"},
		{ruleSyntax, "a spec parses"},
		{ruleUnion, "a list has commas, no A | B"},
	}
	for _, list := range [][]rule{rules, samePackageRules, ownPackageRules} {
		for _, r := range list {
			if !slices.ContainsFunc(all, func(have Rule) bool { return have.ID == r.id }) {
				all = append(all, Rule{r.id, r.summary})
			}
		}
	}
	return all
}

package permission

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/textfile"
	"github.com/hookgen/hookgen/builtin/internal/toolargs"
)

// A FileCondition is a condition that a rule file can contain, besides "path" and "when".
type FileCondition struct {
	key    string
	create func(name string, globs []string) Predicate
}

// Condition returns a condition for rule files. For example, the rules of
//
//	permission.LoadRules([]string{"rules.json"}, permission.Condition("command", shell.CommandGlob))
//
// can contain {"command": {"arg": "command", "globs": ["git *"]}}. Package permission does not import package shell, so
// that programs without such rules do not link a parser for shells.
func Condition[P Predicate](key string, create func(name string, globs ...string) P) FileCondition {
	return FileCondition{key, func(name string, globs []string) Predicate { return create(name, globs...) }}
}

// maxRuleFile is the most bytes of a rule file.
const maxRuleFile = 4 << 20

// LoadRules reads the rules of files of at most 4 MiB each, for example those of a user, of a project and of its local
// settings. The files count together: a rule that denies comes before all rules that ask, and those come before all
// that allow, so that no file permits what another one denies. Rules with the same decision keep the order of the
// files. A rule for all other calls therefore belongs in Rules.Default.
//
// [ParseRules] describes the format of a file and its errors, which name the file. A missing file is an error too.
// LoadRules then returns no rules.
func LoadRules(paths []string, conditions ...FileCondition) (rules []Rule, err error) {
	if len(paths) == 0 {
		return nil, errors.New("there are no files of rules; name one")
	}
	for _, path := range paths {
		text, err := textfile.Read(path, maxRuleFile)
		if err != nil {
			return nil, err
		}
		more, err := ParseRules(path, text, conditions...)
		if err != nil {
			return nil, err
		}
		rules = append(rules, more...)
	}
	strictest := []Decision{Deny, Ask, Allow}
	slices.SortStableFunc(rules, func(a, b Rule) int {
		return slices.Index(strictest, a.Decision) - slices.Index(strictest, b.Decision)
	})
	return rules, nil
}

// ParseRules parses rules in JSON, for example:
//
//	[
//	  {"tool": "read_*", "decision": "allow"},
//	  {"tool": "edit", "decision": "deny", "path": {"arg": "path", "globs": ["secret/**"]}, "reason": "secret"},
//	  {"tool": "pay", "decision": "ask", "when": "args.amount > 100"}
//	]
//
// The decision is allow, ask or deny. With ask, choices can list the answers that a person may give: allow, deny, edit
// and answer. A rule has at most one of path ([PathGlob]), when ([Expr]) and the keys of the
// given conditions. An error begins with name and the line and column of the rule. ParseRules then returns no rules, so
// that a file with an error allows nothing.
func ParseRules(name string, text []byte, conditions ...FileCondition) ([]Rule, error) {
	if err := textfile.Unmarshal(name, text, new(json.RawMessage)); err != nil {
		return nil, err
	}
	fail := func(offset int64, err error) ([]Rule, error) {
		return nil, fmt.Errorf("%s: %w", textfile.Position(name, text, int(offset)), err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return fail(0, errors.New("the rules are not a list; write [ ... ]"))
	}
	var rules []Rule
	for d.More() {
		at := d.InputOffset()
		at += int64(len(text[at:]) - len(bytes.TrimLeft(text[at:], " \t\r\n,")))
		var raw json.RawMessage
		_ = d.Decode(&raw) // cannot fail: the text is valid
		rule, err := parseRule(raw, conditions)
		if err != nil {
			return fail(at, err)
		}
		rules = append(rules, rule)
	}
	return rules, nil
}

func parseRule(raw []byte, conditions []FileCondition) (Rule, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return Rule{}, fmt.Errorf("the rule is invalid: %w", err)
	}
	if name, twice := toolargs.Duplicate(raw); twice {
		return Rule{}, fmt.Errorf("the rule is invalid: the key %q occurs twice", name)
	}
	var rule Rule
	var predicates []Predicate
	into := func(to any) func([]byte) error { return func(data []byte) error { return decodeStrictly(data, to) } }
	keys := map[string]func([]byte) error{
		"tool": into(&rule.Tool), "decision": into(&rule.Decision), "reason": into(&rule.Reason),
		"choices": into(&rule.Choices),
		"when": func(data []byte) error {
			var source string
			err := decodeStrictly(data, &source)
			predicates = append(predicates, Expr(source))
			return err
		},
	}
	for _, c := range append(conditions, Condition("path", PathGlob)) {
		keys[c.key] = func(data []byte) error {
			var given globCondition
			err := decodeStrictly(data, &given)
			predicates = append(predicates, c.create(given.Arg, given.Globs))
			return err
		}
	}
	known := strings.Join(slices.Sorted(maps.Keys(keys)), ", ")
	for _, key := range slices.Sorted(maps.Keys(members)) {
		if keys[key] == nil {
			return Rule{}, fmt.Errorf("the rule is invalid: unknown key %q; use the keys %s", key, known)
		}
		if err := keys[key](members[key]); err != nil {
			return Rule{}, fmt.Errorf("the rule is invalid: the key %s: %w", key, err)
		}
	}
	if len(predicates) > 1 {
		return Rule{}, fmt.Errorf("the rule has more than one condition; write a rule for each (%s)", known)
	}
	if len(predicates) == 1 {
		rule.Args = predicates[0]
	}
	return rule, rule.check()
}

// A globCondition is a condition in a rule file.
type globCondition struct {
	Arg   string   `json:"arg"`
	Globs []string `json:"globs"`
}

func decodeStrictly(data []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return d.Decode(to)
}

package permission

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// fileRule is the JSON form of a rule.
type fileRule struct {
	Tool     string   `json:"tool"`
	Decision Decision `json:"decision"`
	Reason   string   `json:"reason"`
	When     string   `json:"when"` // an expression, see Expr
	Path     *struct {
		Arg   string   `json:"arg"`
		Globs []string `json:"globs"`
	} `json:"path"`
	Command *struct {
		Arg   string   `json:"arg"`
		Globs []string `json:"globs"`
	} `json:"command"`
}

// maxRuleFile is the most bytes of a rule file.
const maxRuleFile = 4 << 20

// LoadRules reads the rules in a file of at most 4 MiB. [ParseRules] describes the format and the errors.
func LoadRules(path string) ([]Rule, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxRuleFile+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxRuleFile {
		return nil, fmt.Errorf("%s: the file has more than %d bytes; split the rules", path, maxRuleFile)
	}
	return ParseRules(path, text)
}

// ParseRules parses rules in JSON, for example:
//
//	[
//	  {"tool": "read_*", "decision": "allow"},
//	  {"tool": "edit", "decision": "deny", "path": {"arg": "path", "globs": ["secret/**"]}, "reason": "secret"},
//	  {"tool": "run", "decision": "allow", "command": {"arg": "command", "globs": ["git *"]}},
//	  {"tool": "pay", "decision": "ask", "when": "args.amount > 100"}
//	]
//
// The decision is allow, ask or deny. A rule has at most one of path ([PathGlob]), command ([CommandGlob]) and when
// ([Expr]). An error begins with name and the line and column of the rule. ParseRules then returns no rules, so that a
// file with an error allows nothing.
func ParseRules(name string, text []byte) ([]Rule, error) {
	position := func(offset int64) string {
		before := text[:min(int(offset), len(text))]
		line, column := bytes.Count(before, []byte("\n"))+1, len(before)-bytes.LastIndexByte(before, '\n')
		return fmt.Sprintf("%s:%d:%d", name, line, column)
	}
	fail := func(offset int64, err error) ([]Rule, error) {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			offset = max(syntax.Offset-1, 0)
		}
		return nil, fmt.Errorf("%s: %w", position(offset), err)
	}
	if !json.Valid(text) {
		var v any
		return fail(0, json.Unmarshal(text, &v))
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
		if err := d.Decode(&raw); err != nil {
			return fail(at, err)
		}
		rule, err := parseRule(raw)
		if err != nil {
			return fail(at, err)
		}
		rules = append(rules, rule)
	}
	return rules, nil
}

func parseRule(raw []byte) (Rule, error) {
	var f fileRule
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return Rule{}, fmt.Errorf("the rule is invalid: %w; use the keys tool, decision, reason, when, path and command", err)
	}
	rule := Rule{Tool: f.Tool, Decision: f.Decision, Reason: f.Reason}
	conditions := 0
	if f.When != "" {
		conditions++
		rule.Args = Expr(f.When)
	}
	if f.Path != nil {
		conditions++
		rule.Args = PathGlob(f.Path.Arg, f.Path.Globs...)
	}
	if f.Command != nil {
		conditions++
		rule.Args = CommandGlob(f.Command.Arg, f.Command.Globs...)
	}
	if conditions > 1 {
		return Rule{}, errors.New("the rule has more than one of when, path and command; write a rule for each")
	}
	return rule, rule.check()
}

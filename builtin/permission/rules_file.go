package permission

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// fileRule is a rule in a file.
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

// maxRuleFile bounds the size of a file of rules.
const maxRuleFile = 4 << 20

// LoadRules reads the rules of a file; see [ParseRules].
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
		return nil, fmt.Errorf("%s: more than %d bytes; a file of rules is not that large", path, maxRuleFile)
	}
	return ParseRules(path, text)
}

// ParseRules reads rules from a JSON list of objects: tool, decision (allow, ask or deny), reason, and at most one of
// when (an expression), path and command (each with arg and globs). An error begins with the name, the line and the
// column of the rule; then no rule is returned, so that nothing is allowed by a file with an error.
func ParseRules(name string, text []byte) ([]Rule, error) {
	place := func(offset int64) string {
		before := text[:min(int(offset), len(text))]
		return fmt.Sprintf("%s:%d:%d", name, bytes.Count(before, []byte("\n"))+1, len(before)-bytes.LastIndexByte(before, '\n'))
	}
	fail := func(offset int64, err error) ([]Rule, error) {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			offset = max(syntax.Offset-1, 0)
		}
		return nil, fmt.Errorf("%s: %w", place(offset), err)
	}
	if !json.Valid(text) {
		var v any
		return fail(0, json.Unmarshal(text, &v))
	}
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return fail(0, errors.New("the rules are no list; write [ ... ]"))
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
		return Rule{}, fmt.Errorf("the rule cannot be read: %v; its keys are tool, decision, reason, when, path and command", err)
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

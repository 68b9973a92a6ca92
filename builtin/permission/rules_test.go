package permission_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/permission"
	"github.com/hookgen/hookgen/builtin/shell"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

func asked(tool, args string) agent.ToolCallRequest {
	return agent.ToolCallRequest{Name: tool, Args: json.RawMessage(args)}
}

// decided fires OnPermission on a single hook and returns its vote and its reason.
func decided(t *testing.T, p *permission.Rules, call agent.ToolCallRequest) string {
	t.Helper()
	var hooks agent.Hooks
	hooks.Use(p)
	exit, err := hooks.OnPermission.Fire(t.Context(), agent.NewRun(nil), call)
	if err != nil {
		t.Fatal(err)
	}
	switch x := exit.(type) {
	case agent.Deny:
		return "deny: " + x.Reason
	case agent.Ask:
		return "ask: " + x.Reason
	case agent.Allow:
		return "allow: " + x.Reason
	}
	return "no opinion"
}

func TestTheFirstMatchingRuleDecides(t *testing.T) {
	failing := permission.PredicateFunc(func(agent.ToolCallRequest) (bool, error) {
		return false, errors.New("cannot tell")
	})
	panicking := permission.PredicateFunc(func(agent.ToolCallRequest) (bool, error) { panic("boom") })
	rules := func(rs ...permission.Rule) *permission.Rules { return &permission.Rules{List: rs} }
	large := permission.Expr(`args.amount > 100`)
	var (
		noSecrets = permission.Rule{Tool: "read", Decision: "deny", Args: permission.PathGlob("path", "secret/**"),
			Reason: "no"}
		readAny = permission.Rule{Tool: "read", Decision: "allow", Args: permission.PathGlob("path", "**")}
		noPush  = permission.Rule{Tool: "run", Decision: "deny", Args: shell.CommandGlob("command", "git push*"),
			Reason: "no"}
		askLarge  = permission.Rule{Tool: "pay", Decision: "ask", Args: large, Reason: "much"}
		denyLarge = permission.Rule{Tool: "pay", Decision: "deny", Args: large, Reason: "no"}
	)
	for name, c := range map[string]struct {
		hook *permission.Rules
		call agent.ToolCallRequest
		want string
	}{
		"exact name": {rules(permission.Rule{Tool: "rm", Decision: "deny", Reason: "no"}), asked("rm", `{}`),
			"deny: no"},
		"another name": {rules(permission.Rule{Tool: "rm", Decision: "deny"}), asked("ls", `{}`),
			"allow: no rule matched"},
		"star": {rules(permission.Rule{Tool: "*", Decision: "ask"}), asked("ls", `{}`),
			"ask: a rule for * says ask"},
		"first match": {rules(permission.Rule{Tool: "ls", Decision: "allow", Reason: "fine"},
			permission.Rule{Tool: "*", Decision: "deny"}), asked("ls", ``), "allow: fine"},
		"default deny": {&permission.Rules{Default: "deny"}, asked("ls", ``), "deny: no rule matched"},
		"default ask":  {&permission.Rules{Default: "ask"}, asked("ls", ``), "ask: no rule matched"},
		"odd default":  {&permission.Rules{Default: "perhaps"}, asked("ls", ``), "deny: no rule matched"},
		"failing deny rule": {rules(permission.Rule{Tool: "*", Decision: "deny", Args: failing, Reason: "no"}),
			asked("ls", ``), "deny: no"},
		"failing allow rule": {rules(permission.Rule{Tool: "*", Decision: "allow", Args: failing}),
			asked("ls", ``), "deny: a rule for * could not be evaluated: cannot tell"},
		"panicking rule": {rules(permission.Rule{Tool: "*", Decision: "allow", Args: panicking}), asked("ls", ``),
			"deny: a rule for * could not be evaluated: panic: boom"},
		"a later rule decides after a failing one": {rules(permission.Rule{Tool: "*", Decision: "ask", Args: failing},
			permission.Rule{Tool: "ls", Decision: "allow", Reason: "fine"}), asked("ls", ``), "allow: fine"},

		"path denied":    {rules(noSecrets), asked("read", `{"path":"secret/a/b"}`), "deny: no"},
		"path with dots": {rules(noSecrets), asked("read", `{"path":"x/../secret/../secret/a"}`), "deny: no"},
		"path elsewhere": {rules(noSecrets), asked("read", `{"path":"open/a"}`), "allow: no rule matched"},
		"no path":        {rules(noSecrets), asked("read", `{}`), "allow: no rule matched"},
		"path not a text": {rules(readAny), asked("read", `{"path":7}`),
			"deny: a rule for read could not be evaluated: the argument path is not a text"},
		"command":            {rules(noPush), asked("run", `{"command":" git   push -f"}`), "deny: no"},
		"another command":    {rules(noPush), asked("run", `{"command":"git pull"}`), "allow: no rule matched"},
		"expression":         {rules(askLarge), asked("pay", `{"amount":101}`), "ask: much"},
		"expression false":   {rules(askLarge), asked("pay", `{"amount":99}`), "allow: no rule matched"},
		"expression fails":   {rules(denyLarge), asked("pay", `{"amount":"x"}`), "deny: no"},
		"arguments not JSON": {rules(denyLarge), asked("pay", `{`), "deny: no"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := decided(t, c.hook, c.call); got != c.want {
				t.Errorf("decided %q, want %q", got, c.want)
			}
		})
	}
}

func TestRulesRecordADenialOnce(t *testing.T) {
	var denials []permission.Denied
	p := &permission.Rules{List: []permission.Rule{{Tool: "rm", Decision: permission.Deny, Reason: "not here"}}}
	end := agent.OnRunEndFunc(func(_ context.Context, run *agent.Run, _ agent.AgentResult) error {
		denials = p.Denials(run)
		return nil
	})
	rm, ls := &looptest.Tool{Name: "rm"}, &looptest.Tool{Name: "ls", Result: "x"}
	ran := looptest.Harness{Turns: []looptest.Turn{looptest.Calls(looptest.Call("rm",
		map[string]any{"path": "a", "__why": "x"}), looptest.Call("ls", nil)), looptest.Reply("done")},
		Tools: []agent.Tool{rm, ls}, Hooks: []agent.Hook{p, end}}.Run(t, "go")
	if rm.Count() != 0 || ls.Count() != 1 {
		t.Errorf("rm ran %d times, ls %d times", rm.Count(), ls.Count())
	}
	rule := "rm"
	if diff := cmp.Diff([]permission.Denied{{Tool: "rm", Args: map[string]any{"path": "a"}, Rule: &rule,
		Reason: "not here"}}, denials); diff != "" {
		t.Errorf("denials (-want +got):\n%s", diff)
	}
	if want := "Permission denied for tool 'rm': not here"; !strings.Contains(fixture.Shown(ran, 1), want) {
		t.Errorf("the model did not receive %q", want)
	}
}

func TestDenyBeatsAskAndAllow(t *testing.T) {
	rule := func(d permission.Decision) agent.Hook {
		return &permission.Rules{List: []permission.Rule{{Tool: "*", Decision: d, Reason: string(d)}}}
	}
	var hooks agent.Hooks
	for _, d := range []permission.Decision{"allow", "ask", "deny"} {
		hooks.Use(rule(d))
		exit, err := hooks.OnPermission.Fire(t.Context(), agent.NewRun(nil), asked("x", ``))
		if err != nil {
			t.Fatal(err)
		}
		var got string
		switch x := exit.(type) {
		case agent.Allow:
			got = x.Reason
		case agent.Ask:
			got = x.Reason
		case agent.Deny:
			got = x.Reason
		}
		if got != string(d) {
			t.Errorf("with %s added the vote is %q", d, got)
		}
	}
}

// person gives the same answer to every question, and counts the questions.
type person struct {
	mu    sync.Mutex
	says  agent.Approval
	fails error
	asked int
}

func (p *person) Approve(context.Context, agent.Question) (agent.Approval, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked++
	return p.says, p.fails
}

func TestAnAskNeedsAnApproval(t *testing.T) {
	slow := fixture.ApproverFunc(func(ctx context.Context, _ agent.Question) (agent.Approval, error) {
		<-ctx.Done()
		return agent.Approval{Allow: true}, nil
	})
	for name, c := range map[string]struct {
		approver agent.Approver
		runs     int
	}{
		"approved":    {&person{says: agent.Approval{Allow: true}}, 1},
		"declined":    {&person{}, 0},
		"no approver": {nil, 0},
		"failing":     {&person{says: agent.Approval{Allow: true}, fails: errors.New("gone")}, 0},
		"too slow":    {slow, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tool := &looptest.Tool{Name: "x", Result: "1"}
				rules := &permission.Rules{List: []permission.Rule{{Tool: "x", Decision: permission.Ask}}}
				looptest.Harness{Turns: []looptest.Turn{looptest.Call("x", nil), looptest.Reply("done")}, Tools: []agent.Tool{tool},
					Hooks: []agent.Hook{rules}, Agent: &loop.Agent{Approver: c.approver}}.Run(t, "go")
				if tool.Count() != c.runs {
					t.Errorf("the tool ran %d times, want %d", tool.Count(), c.runs)
				}
			})
		})
	}
}

func TestRememberCachesAnswers(t *testing.T) {
	p := &person{says: agent.Approval{Allow: true}}
	r := &permission.Remember{Approver: p}
	ask := func(args string) {
		t.Helper()
		if a, err := r.Approve(t.Context(), agent.Question{Call: asked("x", args)}); err != nil || !a.Allow {
			t.Fatalf("%+v, %v", a, err)
		}
	}
	ask(`{"a":1}`)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { ask(`{ "a": 1.0 }`) })
	}
	wg.Wait()
	if p.asked != 1 {
		t.Errorf("asked %d times about one call", p.asked)
	}
	ask(`{"a":2}`)
	r.Forget()
	ask(`{"a":1}`)
	if p.asked != 3 {
		t.Errorf("asked %d times, want 3", p.asked)
	}
	failing := &person{fails: errors.New("gone")}
	r = &permission.Remember{Approver: failing}
	for range 2 {
		if _, err := r.Approve(t.Context(), agent.Question{Call: asked("x", ``)}); err == nil {
			t.Error("an error was cached as an answer")
		}
	}
	if failing.asked != 2 {
		t.Errorf("asked %d times after failures", failing.asked)
	}
}

func TestParseRulesReportsErrorsWithPosition(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"unknown decision", "[\n  {\"tool\": \"a\", \"decision\": \"allow\"},\n" +
			"  {\"tool\": \"b\", \"decision\": \"maybe\"}\n]",
			`rules.json:3:3: Decision is "maybe"; give allow, ask or deny`},
		{"misspelt key", "[\n  {\"tool\": \"a\", \"desicion\": \"allow\"}\n]",
			`rules.json:2:3: the rule is invalid: unknown key "desicion"; use the keys choices, decision, path, reason, ` +
				`tool, when`},
		{"missing comma", "[\n  {\"tool\": \"a\" \"decision\": \"allow\"}\n]", `rules.json:2:16: invalid character '"'`},
		{"no list", `{"tool": "a"}`, `rules.json:1:1: the rules are not a list`},
		{"no tool", `[{"tool": "", "decision": "allow"}]`, `rules.json:1:2: Tool is empty`},
		{"invalid expression", `[{"tool": "a", "decision": "deny", "when": "args."}]`,
			`rules.json:1:2: the expression "args." is invalid`},
		{"expression without truth value", `[{"tool": "a", "decision": "deny", "when": "1 + 1"}]`,
			`rules.json:1:2: the expression "1 + 1" is invalid`},
		{"invalid glob", `[{"tool": "a", "decision": "deny", "path": {"arg": "p", "globs": ["[a"]}}]`,
			`rules.json:1:2: the glob "[a" is invalid`},
		{"unknown choice", `[{"tool": "a", "decision": "ask", "choices": ["alow"]}]`,
			`rules.json:1:2: there is no choice "alow"; the choices are ["allow" "deny" "edit" "answer"]`},
		{"two conditions", `[{"tool": "a", "decision": "deny", "when": "true", "path": {"arg": "p", "globs": ["a"]}}]`,
			`rules.json:1:2: the rule has more than one condition`},
		{"value of a wrong type", `[{"tool": "a", "decision": "deny", "reason": 7}]`,
			`rules.json:1:2: the rule is invalid: the key reason: `},
		{"condition of a wrong type", `[{"tool": "a", "decision": "deny", "when": 7}]`,
			`rules.json:1:2: the rule is invalid: the key when: `},
		{"misspelt key of a condition", `[{"tool": "a", "decision": "deny", "path": {"arg": "p", "glob": ["a"]}}]`,
			`rules.json:1:2: the rule is invalid: the key path: json: unknown field "glob"`},
		{"rule that is not an object", `["deny"]`, `rules.json:1:2: the rule is invalid: `},
		{"empty file", ``, `rules.json:1:1: unexpected end of JSON input`},
	} {
		t.Run(c.name, func(t *testing.T) {
			rules, err := permission.ParseRules("rules.json", []byte(c.text))
			if rules != nil || err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("%v rules, error %v\nwant %s", len(rules), err, c.want)
			}
		})
	}
}

// TestRuleFilesCountTogether: the rules of a user, a project and a local file. What one of them denies, no other
// permits.
func TestRuleFilesCountTogether(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{
		"user": `[{"tool": "read", "decision": "allow"}, {"tool": "*", "decision": "ask", "when": "tool startsWith 'run'"}]`,
		"project": `[{"tool": "run_tests", "decision": "allow"}, {"tool": "edit", "decision": "allow"},
			{"tool": "read", "decision": "deny", "path": {"arg": "path", "globs": ["secret/**"]}, "reason": "secret"}]`,
		"local": `[{"tool": "edit", "decision": "deny", "reason": "local"}]`,
	}
	var paths []string
	for _, name := range []string{"user", "project", "local"} {
		paths = append(paths, filepath.Join(dir, name))
		if err := os.WriteFile(paths[len(paths)-1], []byte(files[name]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	rules, err := permission.LoadRules(paths)
	if err != nil {
		t.Fatal(err)
	}
	p := &permission.Rules{List: rules, Default: permission.Ask}
	for call, want := range map[string]string{
		`read {"path":"secret/x"}`: "deny: secret", `read {"path":"x"}`: "allow: a rule for read says allow",
		`run_tests {}`: "ask: a rule for * says ask", `edit {}`: "deny: local",
	} {
		name, args, _ := strings.Cut(call, " ")
		if got := decided(t, p, asked(name, args)); got != want {
			t.Errorf("%s: decided %s, want %s", call, got, want)
		}
	}
	if err := os.WriteFile(paths[2], []byte(`[{"tool": "edit"}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	rules, err = permission.LoadRules(paths)
	if rules != nil || err == nil || !strings.HasPrefix(err.Error(), paths[2]+":1:2: ") {
		t.Errorf("with an invalid file: %v, %v", rules, err)
	}
	if _, err := permission.LoadRules(nil); err == nil {
		t.Error("no files are rules")
	}
}

func TestLoadRulesRefusesOtherFiles(t *testing.T) {
	dir := t.TempDir()
	const rule = `[{"tool": "a", "decision": "deny"}]`
	for name, size := range map[string]int{"largest.json": 4 << 20, "larger.json": 4<<20 + 1} {
		text := rule + strings.Repeat(" ", size-len(rule))
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		file, want string // of the error
		rules      int
	}{
		{"largest.json", "", 1},
		{"larger.json", "the file has more than 4194304 bytes; shorten or split it", 0},
		{"missing.json", "missing.json", 0},
		{".", dir, 0}, // a folder
	} {
		t.Run(c.file, func(t *testing.T) {
			rules, err := permission.LoadRules([]string{filepath.Join(dir, c.file)})
			if len(rules) != c.rules || (err != nil) != (c.want != "") {
				t.Fatalf("%d rules, %v", len(rules), err)
			}
			if err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v, want %q", err, c.want)
			}
		})
	}
}

func TestRuleFilesAcceptFurtherConditions(t *testing.T) {
	const text = `[{"tool": "run", "decision": "allow", "command": {"arg": "command", "globs": ["git *"]}}]`
	if _, err := permission.ParseRules("rules.json", []byte(text)); err == nil ||
		!strings.Contains(err.Error(), `unknown key "command"`) {
		t.Errorf("without the condition: %v", err)
	}
	rules, err := permission.ParseRules("rules.json", []byte(text), permission.Condition("command", shell.CommandGlob))
	if err != nil {
		t.Fatal(err)
	}
	p := &permission.Rules{List: rules, Default: permission.Deny}
	for command, want := range map[string]string{
		"git log": "allow: a rule for run says allow", "git log; reboot": "deny: no rule matched",
	} {
		t.Run(command, func(t *testing.T) {
			if got := decided(t, p, asked("run", `{"command":"`+command+`"}`)); got != want {
				t.Errorf("decided %q, want %q", got, want)
			}
		})
	}
	for _, invalid := range []string{
		`[{"tool": "run", "decision": "allow", "command": {"arg": "command", "globs": []}}]`,
		`[{"tool": "run", "decision": "allow", "command": {"arg": "command", "glob": ["git *"]}}]`,
		`[{"tool": "run", "decision": "allow", "decision": "deny"}]`,
		`[{"tool": "run", "decision": "allow", "Decision": "deny"}]`,
		`[{"tool": "run", "decision": "allow", "command": {"arg": "c", "globs": ["a"]}, "when": "true"}]`,
	} {
		t.Run(invalid, func(t *testing.T) {
			_, err := permission.ParseRules("rules.json", []byte(invalid), permission.Condition("command", shell.CommandGlob))
			if err == nil {
				t.Error("no error")
			}
		})
	}
}

func TestRulesRefuseAnUnknownShare(t *testing.T) {
	if got := fixture.UsePanic(&permission.Rules{Share: 9}); !strings.Contains(got, "permission.Rules: Share is 9") {
		t.Errorf("panicked with %q", got)
	}
}

func TestInvalidRulesPanicInUse(t *testing.T) {
	for want, rule := range map[string]permission.Rule{
		"Tool is empty": {Decision: "allow"}, `Decision is ""`: {Tool: "x"},
		"is invalid":                    {Tool: "x", Decision: "deny", Args: permission.Expr("(")},
		"needs the name of an argument": {Tool: "x", Decision: "deny", Args: permission.PathGlob("")},
	} {
		t.Run(want, func(t *testing.T) {
			got := fixture.UsePanic(&permission.Rules{List: []permission.Rule{rule}})
			if !strings.Contains(got, want) {
				t.Errorf("panicked with %q, want %q in it", got, want)
			}
		})
	}
}

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
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookgen/hookgen/builtin/internal/fixture"
	"github.com/hookgen/hookgen/builtin/permission"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

func asked(tool, args string) agent.ToolCallRequest {
	return agent.ToolCallRequest{Name: tool, Args: json.RawMessage(args)}
}

// decided votes on a call with one Permissions alone and returns the decision and its reason.
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
	failing := permission.PredicateFunc(func(agent.ToolCallRequest) (bool, error) { return false, errors.New("cannot tell") })
	panicking := permission.PredicateFunc(func(agent.ToolCallRequest) (bool, error) { panic("boom") })
	rules := func(rs ...permission.Rule) *permission.Rules { return &permission.Rules{Rules: rs} }
	mode := func(m permission.Mode, rs ...permission.Rule) *permission.Rules {
		return &permission.Rules{Rules: rs, Mode: func() permission.Mode { return m }}
	}
	for name, c := range map[string]struct {
		hook *permission.Rules
		call agent.ToolCallRequest
		want string
	}{
		"exact name":         {rules(permission.Rule{Tool: "rm", Decision: "deny", Reason: "no"}), asked("rm", `{}`), "deny: no"},
		"another name":       {rules(permission.Rule{Tool: "rm", Decision: "deny"}), asked("ls", `{}`), "allow: no rule matched"},
		"star":               {rules(permission.Rule{Tool: "*", Decision: "ask"}), asked("ls", `{}`), "ask: a rule for * says ask"},
		"first match":        {rules(permission.Rule{Tool: "ls", Decision: "allow", Reason: "fine"}, permission.Rule{Tool: "*", Decision: "deny"}), asked("ls", ``), "allow: fine"},
		"default deny":       {&permission.Rules{Default: "deny"}, asked("ls", ``), "deny: no rule matched"},
		"a default of ask":   {&permission.Rules{Default: "ask"}, asked("ls", ``), "deny: no rule matched"},
		"failing deny rule":  {rules(permission.Rule{Tool: "*", Decision: "deny", Args: failing, Reason: "no"}), asked("ls", ``), "deny: no"},
		"failing allow rule": {rules(permission.Rule{Tool: "*", Decision: "allow", Args: failing}), asked("ls", ``), "deny: a rule for * could not be evaluated: cannot tell"},
		"panicking rule":     {rules(permission.Rule{Tool: "*", Decision: "allow", Args: panicking}), asked("ls", ``), "deny: a rule for * could not be evaluated: panic: boom"},
		"a later rule decides after a failing one": {rules(permission.Rule{Tool: "*", Decision: "ask", Args: failing}, permission.Rule{Tool: "ls", Decision: "allow", Reason: "fine"}), asked("ls", ``), "allow: fine"},

		"path denied":       {rules(permission.Rule{Tool: "read", Decision: "deny", Args: permission.PathGlob("path", "secret/**"), Reason: "no"}), asked("read", `{"path":"secret/a/b"}`), "deny: no"},
		"path gone round":   {rules(permission.Rule{Tool: "read", Decision: "deny", Args: permission.PathGlob("path", "secret/**"), Reason: "no"}), asked("read", `{"path":"x/../secret/../secret/a"}`), "deny: no"},
		"path elsewhere":    {rules(permission.Rule{Tool: "read", Decision: "deny", Args: permission.PathGlob("path", "secret/**")}), asked("read", `{"path":"open/a"}`), "allow: no rule matched"},
		"no path":           {rules(permission.Rule{Tool: "read", Decision: "deny", Args: permission.PathGlob("path", "**")}), asked("read", `{}`), "allow: no rule matched"},
		"a path of no text": {rules(permission.Rule{Tool: "read", Decision: "allow", Args: permission.PathGlob("path", "**")}), asked("read", `{"path":7}`), "deny: a rule for read could not be evaluated: the argument path is no text"},
		"command":           {rules(permission.Rule{Tool: "run", Decision: "deny", Args: permission.CommandGlob("command", "git push*"), Reason: "no"}), asked("run", `{"command":" git   push -f"}`), "deny: no"},
		"another command":   {rules(permission.Rule{Tool: "run", Decision: "deny", Args: permission.CommandGlob("command", "git push*")}), asked("run", `{"command":"git pull"}`), "allow: no rule matched"},
		"expression":        {rules(permission.Rule{Tool: "pay", Decision: "ask", Args: permission.Expr(`args.amount > 100`), Reason: "much"}), asked("pay", `{"amount":101}`), "ask: much"},
		"expression false":  {rules(permission.Rule{Tool: "pay", Decision: "ask", Args: permission.Expr(`args.amount > 100`)}), asked("pay", `{"amount":99}`), "allow: no rule matched"},
		"expression fails":  {rules(permission.Rule{Tool: "pay", Decision: "deny", Args: permission.Expr(`args.amount > 100`), Reason: "no"}), asked("pay", `{"amount":"x"}`), "deny: no"},
		"arguments no JSON": {rules(permission.Rule{Tool: "pay", Decision: "deny", Args: permission.Expr(`true`), Reason: "no"}), asked("pay", `{`), "deny: no"},

		"mode ask":       {mode(permission.ModeAsk, permission.Rule{Tool: "ls", Decision: "allow", Reason: "fine"}), asked("cp", ``), "ask: no rule matched"},
		"mode ask, rule": {mode(permission.ModeAsk, permission.Rule{Tool: "ls", Decision: "allow", Reason: "fine"}), asked("ls", ``), "allow: fine"},
		"mode deny":      {mode(permission.ModeDeny), asked("ls", ``), "deny: no rule matched"},
		"mode read-only": {mode(permission.ModeReadOnly, permission.Rule{Tool: "*", Decision: "allow"}), asked("ls", ``), "deny: only tools that change nothing may run now, and ls does not say so"},
		"unknown mode":   {mode("party"), asked("ls", ``), "deny: no rule matched"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := decided(t, c.hook, c.call); got != c.want {
				t.Errorf("decided %q, want %q", got, c.want)
			}
		})
	}
}

func TestADeniedToolDoesNotRunAndTheDenialIsRecordedOnce(t *testing.T) {
	var denials []permission.Denied
	p := &permission.Rules{Rules: []permission.Rule{{Tool: "rm", Decision: permission.Deny, Reason: "not here"}}}
	end := agent.OnRunEndFunc(func(_ context.Context, run *agent.Run, _ agent.AgentResult) error {
		denials = p.Denials(run)
		return nil
	})
	rm, ls := &looptest.Tool{Name: "rm"}, &looptest.Tool{Name: "ls", Result: "x"}
	ran := looptest.Harness{Turns: []looptest.Turn{looptest.Calls(looptest.Call("rm", map[string]any{"path": "a", "__why": "x"}), looptest.Call("ls", nil)), looptest.Reply("done")},
		Tools: []agent.Tool{rm, ls}, Hooks: []agent.Hook{p, end}}.Run(t, "go")
	if rm.Count() != 0 || ls.Count() != 1 {
		t.Errorf("rm ran %d times, ls %d times", rm.Count(), ls.Count())
	}
	rule := "rm"
	if diff := cmp.Diff([]permission.Denied{{Tool: "rm", Args: map[string]any{"path": "a"}, Rule: &rule, Reason: "not here"}}, denials); diff != "" {
		t.Errorf("denials (-want +got):\n%s", diff)
	}
	if want := "Permission denied for tool 'rm': not here"; !strings.Contains(fixture.Shown(ran, 1), want) {
		t.Errorf("the model was not told %q", want)
	}
}

func TestDenyBeatsAskBeatsAllowAmongHooks(t *testing.T) {
	rule := func(d permission.Decision) agent.Hook {
		return &permission.Rules{Rules: []permission.Rule{{Tool: "*", Decision: d, Reason: string(d)}}}
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

// person answers every question, and counts them.
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

func TestAnAskGoesToTheApproverAndWithoutOneItDenies(t *testing.T) {
	slow := fixture.ApproverFunc(func(ctx context.Context, _ agent.Question) (agent.Approval, error) {
		<-ctx.Done()
		return agent.Approval{Allow: true}, nil
	})
	for name, c := range map[string]struct {
		approver agent.Approver
		runs     int
	}{
		"yes": {&person{says: agent.Approval{Allow: true}}, 1}, "no": {&person{}, 0}, "nobody": {nil, 0},
		"failing": {&person{says: agent.Approval{Allow: true}, fails: errors.New("gone")}, 0}, "silent": {slow, 0},
	} {
		tool := &looptest.Tool{Name: "x", Result: "1"}
		looptest.Harness{Turns: []looptest.Turn{looptest.Call("x", nil), looptest.Reply("done")}, Tools: []agent.Tool{tool},
			Hooks: []agent.Hook{&permission.Rules{Rules: []permission.Rule{{Tool: "x", Decision: permission.Ask}}}},
			Agent: &loop.Agent{Approver: c.approver, Limits: loop.Limits{ApprovalTime: 10 * time.Millisecond}}}.Run(t, "go")
		if tool.Count() != c.runs {
			t.Errorf("%s: the tool ran %d times, want %d", name, tool.Count(), c.runs)
		}
	}
}

func TestRememberedAnswersAreNotAskedForAgain(t *testing.T) {
	p := &person{says: agent.Approval{Allow: true}}
	r := &permission.Remember{Approver: p}
	ask := func(args string) {
		t.Helper()
		if a, err := r.Approve(t.Context(), agent.Question{Call: asked("x", args)}); err != nil || !a.Allow {
			t.Fatalf("%+v, %v", a, err)
		}
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { ask(`{"a":1}`) })
	}
	wg.Wait()
	ask(`{ "a": 1.0 }`)
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
	r = &permission.Remember{Approver: failing, ByTool: true}
	for range 2 {
		if _, err := r.Approve(t.Context(), agent.Question{Call: asked("x", ``)}); err == nil {
			t.Error("a failure was remembered as an answer")
		}
	}
	if failing.asked != 2 {
		t.Errorf("asked %d times after failures", failing.asked)
	}
}

func TestAFileOfRulesWithAnErrorAllowsNothing(t *testing.T) {
	for text, want := range map[string]string{
		"[\n  {\"tool\": \"a\", \"decision\": \"allow\"},\n  {\"tool\": \"b\", \"decision\": \"maybe\"}\n]": `rules.json:3:3: Decision is "maybe"; give allow, ask or deny`,
		"[\n  {\"tool\": \"a\", \"desicion\": \"allow\"}\n]":                                                `rules.json:2:3: the rule cannot be read: json: unknown field "desicion"`,
		"[\n  {\"tool\": \"a\" \"decision\": \"allow\"}\n]":                                                 `rules.json:2:16: invalid character '"'`,
		`{"tool": "a"}`:                                                                             `rules.json:1:1: the rules are no list`,
		`[{"tool": "", "decision": "allow"}]`:                                                       `rules.json:1:2: Tool is empty`,
		`[{"tool": "a", "decision": "deny", "when": "args."}]`:                                      `rules.json:1:2: the expression "args." cannot be read`,
		`[{"tool": "a", "decision": "deny", "when": "1 + 1"}]`:                                      `rules.json:1:2: the expression "1 + 1" cannot be read`,
		`[{"tool": "a", "decision": "deny", "path": {"arg": "p", "globs": ["[a"]}}]`:                `rules.json:1:2: the glob "[a" is none`,
		`[{"tool": "a", "decision": "deny", "when": "true", "path": {"arg": "p", "globs": ["a"]}}]`: `rules.json:1:2: the rule has more than one of`,
		``: `rules.json:1:1: unexpected end of JSON input`,
	} {
		rules, err := permission.ParseRules("rules.json", []byte(text))
		if rules != nil || err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s:\n%v rules, error %v\nwant %s", text, len(rules), err, want)
		}
	}
	path := filepath.Join(t.TempDir(), "rules.json")
	if err := os.WriteFile(path, []byte(`[{"tool":"read","decision":"deny","path":{"arg":"path","globs":["secret/**"]},"reason":"secret"},{"tool":"*","decision":"ask","when":"tool startsWith 'run'"}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	rules, err := permission.LoadRules(path)
	if err != nil {
		t.Fatal(err)
	}
	p := &permission.Rules{Rules: rules}
	if got := decided(t, p, asked("read", `{"path":"secret/x"}`)) + ", " + decided(t, p, asked("run_it", `{}`)); got != "deny: secret, ask: a rule for * says ask" {
		t.Errorf("decided %s", got)
	}
}

func TestPermissionsThatCannotWorkPanicWhenUsed(t *testing.T) {
	for want, rule := range map[string]permission.Rule{
		"Tool is empty": {Decision: "allow"}, `Decision is ""`: {Tool: "x"}, "cannot be read": {Tool: "x", Decision: "deny", Args: permission.Expr("(")},
		"needs the name of an argument": {Tool: "x", Decision: "deny", Args: permission.PathGlob("")},
	} {
		func() {
			defer func() {
				if r, _ := recover().(string); !strings.Contains(r, want) {
					t.Errorf("panicked with %q, want %q in it", r, want)
				}
			}()
			new(agent.Hooks).Use(&permission.Rules{Rules: []permission.Rule{rule}})
		}()
	}
}

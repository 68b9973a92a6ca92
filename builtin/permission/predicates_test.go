package permission_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/permission"
	"github.com/hookgen/hookgen/builtin/shell"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// ruled evaluates a single rule on arguments. It returns the decision if the rule matches, "" if it does not, and the
// error if the predicate fails.
func ruled(t *testing.T, d permission.Decision, p permission.Predicate, args string) string {
	t.Helper()
	other := permission.Allow
	if d == permission.Allow {
		other = permission.Deny
	}
	rule := permission.Rule{Tool: "x", Decision: d, Args: p, Reason: "rule"}
	got := decided(t, &permission.Rules{List: []permission.Rule{rule}, Default: other}, asked("x", args))
	decision, reason, _ := strings.Cut(got, ": ")
	switch {
	case reason == "rule":
		return decision
	case reason == "no rule matched":
		return ""
	}
	return reason
}

func TestPathGlobComparesCleanedPaths(t *testing.T) {
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	up := strings.Repeat("../", 50)
	for _, c := range []struct {
		glob, path string
		want       bool
	}{
		{"secret/**", "secret/a", true},
		{"secret/**", "./secret/a", true},
		{"secret/**", "x/../secret/a", true},
		{"secret/**", filepath.Join(wd, "secret/a"), true},
		{"./secret/**", "secret/a/b/c", true},
		{"secret/**", "secret", true},
		{"secret/**", "secrets/a", false},
		{"secret/**", "secret/../open", false},
		{"secret/**", "/secret/a", false},
		{"/etc/**", "/etc/passwd", true},
		{"/etc/**", "//etc//passwd", true},
		{"/etc/**", up + "etc/passwd", true},
		{"/etc/**", "/tmp/../etc/passwd", true},
		{"/etc/**", "etc/passwd", false},
		{"/etc/**", `\etc\passwd`, false},
		{"/etc/**", `/a\b/../etc/passwd`, true},
		{"/a/**", `/a\b/c`, false},
		{"**/*.key", "a/b/c.key", true},
		{"**/*.key", "/a.key", true},
		{"**/*.key", "c.key", true},
		{"**/*.key", up + "root/c.key", true},
		{"**/*.key", "c.keys", false},
		{"*.go", "a.go", true},
		{"*.go", "x/a.go", false},
		{"{a,b}/*", "b/x", true},
		{"**", "", true},
		{"**", "anything", true},
		{"**/.env", "app/../.env", true},
	} {
		t.Run(c.glob+" on "+c.path, func(t *testing.T) {
			args, _ := json.Marshal(map[string]string{"path": c.path})
			want := ""
			if c.want {
				want = "deny"
			}
			if got := ruled(t, permission.Deny, permission.PathGlob("path", c.glob), string(args)); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestPathGlobUnderHasItsOwnRoot(t *testing.T) {
	under := permission.PathGlobUnder("/srv/[data]", "path", "in/**")
	for path, want := range map[string]string{
		"in/a":                 "deny",
		"/srv/[data]/in/a":     "deny",
		"../d/in/a":            "",
		"/srv/d/in/a":          "",
		"in/../../[data]/in/b": "deny",
	} {
		t.Run(path, func(t *testing.T) {
			args, _ := json.Marshal(map[string]string{"path": path})
			if got := ruled(t, permission.Deny, under, string(args)); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestAllowRulesRequireEveryElement(t *testing.T) {
	paths := permission.PathGlob("paths", "src/**")
	commands := shell.CommandGlob("command", "git *", "ls*")
	for _, c := range []struct {
		predicate   permission.Predicate
		args        string
		deny, allow string
	}{
		{paths, `{"paths":["src/a","src/b"]}`, "deny", "allow"},
		{paths, `{"paths":["src/a","/etc/passwd"]}`, "deny", ""},
		{paths, `{"paths":["/etc/passwd","src/../x"]}`, "", ""},
		{paths, `{"paths":[]}`, "", ""}, {paths, `{}`, "", ""}, {paths, `{"paths":null}`, "", ""}, {paths, ``, "", ""},
		{paths, `{"Paths":"src/a"}`, "deny", "allow"},
		{paths, `{"paths":["src/a",7]}`, "deny",
			"a rule for x could not be evaluated: the argument paths is a list with elements that are not texts"},
		{paths, `{"paths":"src/a","Paths":"/etc/passwd"}`, "deny",
			`a rule for x could not be evaluated: the argument "Paths" occurs twice`},
		{paths, `{"paths":"src/a","paths":"/etc/passwd"}`, "deny",
			`a rule for x could not be evaluated: the argument "paths" occurs twice`},
		{paths, `null`, "deny", "a rule for x could not be evaluated: the arguments are null, not a JSON object"},

		{commands, `{"command":"git log"}`, "deny", "allow"},
		{commands, `{"command":"git log | git grep x; ls -l 2>&1 >/dev/null"}`, "deny", "allow"},
		{commands, `{"command":"git log; reboot"}`, "deny", ""},
		{commands, `{"command":"reboot && git log"}`, "deny", ""},
		{commands, `{"command":"git log $(reboot)"}`, "deny", ""},
		{commands, `{"command":"git log > /etc/passwd"}`, "deny", ""},
		{commands, `{"command":"LD_PRELOAD=x git log"}`, "deny", ""},
		{commands, `{"command":"sudo git log"}`, "deny", ""},
		{commands, `{"command":"/tmp/evil/git log"}`, "deny", ""},
		{commands, `{"command":"\"git\"   'log'"}`, "deny", "allow"},
		{commands, `{"command":"sh -c 'git log'"}`, "deny", ""},
		{commands, `{"command":"reboot"}`, "", ""}, {commands, `{"command":""}`, "", ""}, {commands, `{}`, "", ""},
		{commands, `{"command":["git","log","; reboot"]}`, "deny", ""},
		{commands, `{"command":["git","log"]}`, "deny", "allow"}, {commands, `{"command":["reboot","git"]}`, "", ""},
		{commands, `{"command":"` + strings.Repeat("(", 1000) + `"}`, "deny",
			"a rule for x could not be evaluated: the argument command: the command is nested too deeply or too large to be " +
				"checked"},
		{shell.CommandGlob("command", "git push*"), `{"command":"echo git push"}`, "", ""},
		{shell.CommandGlob("command", "*force*"), `{"command":"git push --force"}`, "deny", "allow"},
	} {
		t.Run(fmt.Sprintf("%.60s", c.args), func(t *testing.T) {
			if got := ruled(t, permission.Deny, c.predicate, c.args); got != c.deny {
				t.Errorf("a rule that denies: %q, want %q", got, c.deny)
			}
			if got := ruled(t, permission.Allow, c.predicate, c.args); got != c.allow {
				t.Errorf("a rule that allows: %q, want %q", got, c.allow)
			}
		})
	}
}

func TestRulesRecordDeclinedCalls(t *testing.T) {
	for name, c := range map[string]struct {
		approver agent.Approver
		other    agent.Hook
		want     []string
	}{
		"approved":               {&person{says: agent.Approval{Allow: true}}, nil, nil},
		"declined":               {&person{says: agent.Approval{Reason: "not today"}}, nil, []string{"pay: not today"}},
		"no approver":            {nil, nil, []string{"pay: there is nobody to ask: a rule for pay says ask"}},
		"another hook denies":    {&person{}, &permission.DenyTools{Deny: []string{"pay"}}, nil},
		"another hook asks, too": {&person{}, &permission.Confirm{Tools: []string{"look"}}, []string{"pay: declined"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := &permission.Rules{List: []permission.Rule{{Tool: "pay", Decision: permission.Ask}}}
			var denials []permission.Denied
			end := agent.OnRunEndFunc(func(_ context.Context, run *agent.Run, _ agent.AgentResult) error {
				denials = p.Denials(run)
				return nil
			})
			hooks := []agent.Hook{p, end}
			if c.other != nil {
				hooks = append(hooks, c.other)
			}
			looptest.Harness{
				Turns: []looptest.Turn{looptest.Calls(looptest.Call("pay", `{"n":1,"__x":2}`), looptest.Call("look", nil)),
					looptest.Reply("done")},
				Tools: []agent.Tool{&looptest.Tool{Name: "pay"}, &looptest.Tool{Name: "look"}}, Hooks: hooks,
				Agent: &loop.Agent{Approver: c.approver},
			}.Run(t, "go")
			var got []string
			for _, d := range denials {
				got = append(got, d.Tool+": "+d.Reason)
				if d.Rule == nil || *d.Rule != "pay" || !cmp.Equal(d.Args, map[string]any{"n": 1.0}) {
					t.Errorf("the denial is %+v", d)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("denials (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEveryDeclinedCallIsRecordedOnce(t *testing.T) {
	p := &permission.Rules{List: []permission.Rule{{Tool: "*", Decision: permission.Ask}}}
	run := agent.NewRun(nil)
	call := func(name, id string, step int) agent.ToolCallRequest {
		return agent.ToolCallRequest{Name: name, ID: id, Step: step}
	}
	for _, c := range []agent.ToolCallRequest{call("pay", "1", 1), call("send", "2", 1)} {
		if _, err := p.OnPermission(t.Context(), run, c); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []agent.ToolCallRequest{
		call("pay", "1", 1), call("send", "2", 1), call("pay", "1", 1), call("send", "2", 2), call("other", "3", 1),
	} {
		denial := agent.Denial{Call: c, Kind: agent.DeniedByApprover, Reason: "no"}
		if err := p.OnPermissionDenied(t.Context(), run, denial); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, d := range p.Denials(run) {
		got = append(got, d.Tool)
	}
	if diff := cmp.Diff([]string{"pay", "send"}, got); diff != "" {
		t.Errorf("denials (-want +got):\n%s", diff)
	}
}

func TestDenialsAreBoundedAndCopied(t *testing.T) {
	p := &permission.Rules{Default: permission.Deny}
	run := agent.NewRun(nil)
	large := asked("x", `{"a":"`+strings.Repeat("x", 1<<17)+`"}`)
	if _, err := p.OnPermission(t.Context(), run, large); err != nil {
		t.Fatal(err)
	}
	if got := p.Denials(run); len(got) != 1 || got[0].Args != nil {
		t.Errorf("denials of a large call: %d, arguments recorded: %t", len(got), got[0].Args != nil)
	}
	const frame = len(`{"a":""}`)
	largest := asked("x", `{"a":"`+strings.Repeat("x", 64<<10-frame)+`"}`)
	if _, err := p.OnPermission(t.Context(), run, largest); err != nil {
		t.Fatal(err)
	}
	if got := p.Denials(run); len(got) != 2 || got[1].Args == nil {
		t.Error("arguments of 64 KiB are not recorded")
	}
	for range 1200 {
		if _, err := p.OnPermission(t.Context(), run, asked("y", `{"a":1}`)); err != nil {
			t.Fatal(err)
		}
	}
	got := p.Denials(run)
	if len(got) != 1000 || got[0].Tool != "y" {
		t.Errorf("%d denials, the first of %s; want the last 1000", len(got), got[0].Tool)
	}
	got[0].Args["a"] = "changed"
	if again := p.Denials(run); again[0].Args["a"] != 1.0 {
		t.Error("a change to the arguments that Denials returned changed the hook")
	}
}

func TestInvalidGlobsPanicInUse(t *testing.T) {
	for want, predicate := range map[string]permission.Predicate{
		`the glob "/["`:                          permission.PathGlobUnder("/", "path", "**", "/["),
		`the root "src" is not an absolute path`: permission.PathGlobUnder("src", "path", "**"),
		"a glob needs the name":                  shell.CommandGlob("command"),
		"and a pattern; give":                    shell.CommandGlob("command", ""),
	} {
		t.Run(want, func(t *testing.T) {
			rule := permission.Rule{Tool: "*", Decision: permission.Deny, Args: predicate}
			got := fixture.UsePanic(&permission.Rules{List: []permission.Rule{rule}})
			if !strings.Contains(got, want) {
				t.Errorf("panicked with %q, want %q", got, want)
			}
		})
	}
}

func TestRulesIgnoreDenialsOfOtherHooks(t *testing.T) {
	p := &permission.Rules{List: []permission.Rule{{Tool: "pay", Decision: permission.Ask}}}
	run := agent.NewRun(nil)
	if _, err := p.OnPermission(t.Context(), run, agent.ToolCallRequest{ID: "1", Name: "pay", Step: 1}); err != nil {
		t.Fatal(err)
	}
	other := agent.Denial{Call: agent.ToolCallRequest{ID: "1", Name: "look", Step: 2}, Kind: agent.DeniedByPerson}
	if err := p.OnPermissionDenied(t.Context(), run, other); err != nil || len(p.Denials(run)) != 0 {
		t.Errorf("%v, denials: %+v", err, p.Denials(run))
	}
}

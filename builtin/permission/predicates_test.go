package permission_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookgen/hookgen/builtin/internal/fixture"
	"github.com/hookgen/hookgen/builtin/permission"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// ruled is what one rule with a reason says of arguments: the rule's decision, else "" or why it cannot be told.
func ruled(t *testing.T, d permission.Decision, p permission.Predicate, args string) string {
	t.Helper()
	other := map[permission.Decision]permission.Decision{permission.Allow: permission.Deny, permission.Ask: permission.Allow, permission.Deny: permission.Allow}
	got := decided(t, &permission.Rules{Rules: []permission.Rule{{Tool: "x", Decision: d, Args: p, Reason: "rule"}}, Default: other[d]}, asked("x", args))
	decision, reason, _ := strings.Cut(got, ": ")
	switch {
	case reason == "rule":
		return decision
	case reason == "no rule matched":
		return ""
	}
	return reason
}

func TestAPathIsJudgedByTheFileThatItStandsFor(t *testing.T) {
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	up := strings.Repeat("../", 50)
	for _, c := range []struct {
		glob, path string
		want       bool
	}{
		{"secret/**", "secret/a", true}, {"secret/**", "./secret/a", true}, {"secret/**", "x/../secret/a", true}, {"secret/**", filepath.Join(wd, "secret/a"), true},
		{"./secret/**", "secret/a/b/c", true}, {"secret/**", "secret", true}, {"secret/**", "secrets/a", false}, {"secret/**", "secret/../open", false}, {"secret/**", "/secret/a", false},
		{"/etc/**", "/etc/passwd", true}, {"/etc/**", "//etc//passwd", true}, {"/etc/**", up + "etc/passwd", true}, {"/etc/**", "/tmp/../etc/passwd", true}, {"/etc/**", "etc/passwd", false},
		{"/etc/**", `\etc\passwd`, true}, {"**/*.key", "a/b/c.key", true}, {"**/*.key", "/a.key", true}, {"**/*.key", "c.key", true}, {"**/*.key", up + "root/c.key", true}, {"**/*.key", "c.keys", false},
		{"*.go", "a.go", true}, {"*.go", "x/a.go", false}, {"{a,b}/*", "b/x", true}, {"**", "", true}, {"**", "anything", true}, {"**/.env", "app/../.env", true},
	} {
		args, _ := json.Marshal(map[string]string{"path": c.path})
		want := ""
		if c.want {
			want = "deny"
		}
		if got := ruled(t, permission.Deny, permission.PathGlob("path", c.glob), string(args)); got != want {
			t.Errorf("%s on %s: %q, want %q", c.glob, c.path, got, want)
		}
	}
	under := permission.PathGlobUnder("/srv/[data]", "path", "in/**")
	for path, want := range map[string]string{"in/a": "deny", "/srv/[data]/in/a": "deny", "../d/in/a": "", "/srv/d/in/a": "", "in/../../[data]/in/b": "deny"} {
		args, _ := json.Marshal(map[string]string{"path": path})
		if got := ruled(t, permission.Deny, under, string(args)); got != want {
			t.Errorf("under another root, %s: %q, want %q", path, got, want)
		}
	}
}

func TestARuleThatAllowsWantsEveryPathAndEveryCommand(t *testing.T) {
	paths := permission.PathGlob("paths", "src/**")
	commands := permission.CommandGlob("command", "git *", "ls*")
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
		{paths, `{"paths":["src/a",7]}`, "deny", "a rule for x could not be evaluated: the argument paths holds something else than texts"},
		{paths, `{"paths":"src/a","Paths":"/etc/passwd"}`, "deny", `a rule for x could not be evaluated: the argument "Paths" comes twice`},
		{paths, `{"paths":"src/a","paths":"/etc/passwd"}`, "deny", `a rule for x could not be evaluated: the argument "paths" comes twice`},
		{paths, `null`, "deny", "a rule for x could not be evaluated: the arguments are null, no JSON object"},

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
		{commands, `{"command":["git","log","; reboot"]}`, "deny", ""}, {commands, `{"command":["git","log"]}`, "deny", "allow"}, {commands, `{"command":["reboot","git"]}`, "", ""},
		{commands, `{"command":"` + strings.Repeat("(", 1000) + `"}`, "deny", "a rule for x could not be evaluated: the argument command is nested too deeply to be read"},
		{permission.CommandGlob("command", "git push*"), `{"command":"echo git push"}`, "", ""},
		{permission.CommandGlob("command", "*force*"), `{"command":"git push --force"}`, "deny", "allow"},
	} {
		if got := ruled(t, permission.Deny, c.predicate, c.args); got != c.deny {
			t.Errorf("a rule that denies, %.60s: %q, want %q", c.args, got, c.deny)
		}
		if got := ruled(t, permission.Allow, c.predicate, c.args); got != c.allow {
			t.Errorf("a rule that allows, %.60s: %q, want %q", c.args, got, c.allow)
		}
	}
}

func TestACallThatAPersonDeclinedIsADenial(t *testing.T) {
	for name, c := range map[string]struct {
		approver agent.Approver
		other    agent.Hook
		want     []string
	}{
		"a yes":                        {&person{says: agent.Approval{Allow: true}}, nil, nil},
		"a no":                         {&person{says: agent.Approval{Reason: "not today"}}, nil, []string{"pay: not today"}},
		"nobody":                       {nil, nil, []string{"pay: there is nobody to ask"}},
		"another hook denies":          {&person{}, &permission.DenyTools{Deny: []string{"pay"}}, nil},
		"another hook asks about more": {&person{}, &permission.Confirm{Tools: []string{"look"}}, []string{"pay: declined"}},
	} {
		p := &permission.Rules{Rules: []permission.Rule{{Tool: "pay", Decision: permission.Ask}}}
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
			Turns: []looptest.Turn{looptest.Calls(looptest.Call("pay", `{"n":1,"__x":2}`), looptest.Call("look", nil)), looptest.Reply("done")},
			Tools: []agent.Tool{&looptest.Tool{Name: "pay"}, &looptest.Tool{Name: "look"}}, Hooks: hooks, Agent: &loop.Agent{Approver: c.approver},
		}.Run(t, "go")
		var got []string
		for _, d := range denials {
			got = append(got, d.Tool+": "+d.Reason)
			if d.Rule == nil || *d.Rule != "pay" || !cmp.Equal(d.Args, map[string]any{"n": 1.0}) {
				t.Errorf("%s: the denial is %+v", name, d)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: denials (-want +got):\n%s", name, diff)
		}
	}
}

func TestDenialsAreBoundedAndTheCallersOwn(t *testing.T) {
	p := &permission.Rules{Default: permission.Deny}
	run := agent.NewRun(nil)
	large := asked("x", `{"a":"`+strings.Repeat("x", 1<<17)+`"}`)
	if _, err := p.OnPermission(t.Context(), run, large); err != nil {
		t.Fatal(err)
	}
	if got := p.Denials(run); len(got) != 1 || got[0].Args != nil {
		t.Errorf("the denials of a large call: %d, arguments kept: %t", len(got), got[0].Args != nil)
	}
	for range 1200 {
		if _, err := p.OnPermission(t.Context(), run, asked("y", `{"a":1}`)); err != nil {
			t.Fatal(err)
		}
	}
	got := p.Denials(run)
	if len(got) != 1000 || got[0].Tool != "y" {
		t.Errorf("%d denials are kept, the first of %s; want the last 1000", len(got), got[0].Tool)
	}
	got[0].Args["a"] = "changed"
	if again := p.Denials(run); again[0].Args["a"] != 1.0 {
		t.Error("a change of what Denials returned changed the hook")
	}
}

func TestAGlobThatCannotWorkPanicsWhenUsed(t *testing.T) {
	for want, predicate := range map[string]permission.Predicate{
		`the glob "/["`:                      permission.PathGlobUnder("/", "path", "**", "/["),
		`the root "src" is no absolute path`: permission.PathGlobUnder("src", "path", "**"),
		"a glob needs the name":              permission.CommandGlob("command"),
		"and a pattern; give":                permission.CommandGlob("command", ""),
	} {
		if got := fixture.Refusal(&permission.Rules{Rules: []permission.Rule{{Tool: "*", Decision: permission.Deny, Args: predicate}}}); !strings.Contains(got, want) {
			t.Errorf("refused with %q, want %q", got, want)
		}
	}
}

func TestAnotherAskThatWasDeclinedIsNotThisHooksDenial(t *testing.T) {
	p := &permission.Rules{Rules: []permission.Rule{{Tool: "pay", Decision: permission.Ask}}}
	run := agent.NewRun(nil)
	if _, err := p.OnPermission(t.Context(), run, agent.ToolCallRequest{ID: "1", Name: "pay", Step: 1}); err != nil {
		t.Fatal(err)
	}
	other := agent.Denial{Call: agent.ToolCallRequest{ID: "1", Name: "look", Step: 2}, Kind: agent.DeniedByPerson}
	if err := p.OnPermissionDenied(t.Context(), run, other); err != nil || len(p.Denials(run)) != 0 {
		t.Errorf("%v, denials: %+v", err, p.Denials(run))
	}
}

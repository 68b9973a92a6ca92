package permission_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/hookgen/hookgen/builtin/permission"
	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/generated/agent"
)

func TestRulesAreRemembered(t *testing.T) {
	list := []permission.Rule{
		{Tool: "rm", Decision: permission.Deny}, {Tool: "ls", Decision: permission.Allow},
		{Tool: "*", Decision: permission.Ask},
	}
	for _, c := range []struct {
		name, remember string
		tool, args     string
		want           permission.Decision
		reported       bool
	}{
		{"nothing", ``, "git", `{}`, permission.Ask, false},
		{"allow instead of ask", `[{"tool":"git","decision":"allow"}]`, "git", `{}`, permission.Allow, false},
		{"another tool", `[{"tool":"git","decision":"allow"}]`, "gitk", `{}`, permission.Ask, false},
		{"no allow instead of deny", `[{"tool":"*","decision":"allow"}]`, "rm", `{}`, permission.Deny, false},
		{"deny instead of allow", `[{"tool":"ls","decision":"deny"}]`, "ls", `{}`, permission.Deny, false},
		{"with a condition", `[{"tool":"pay","decision":"allow","when":"args.n < 5"}]`, "pay", `{"n":9}`,
			permission.Ask, false},
		{"a condition that fails", `[{"tool":"pay","decision":"allow","when":"args.n < 5"}]`, "pay", `{"n":"x"}`,
			permission.Ask, false},
		{"the first rule", `[{"tool":"git","decision":"deny"},{"tool":"git","decision":"allow"}]`, "git", `{}`,
			permission.Deny, false},
		{"one invalid rule", `[{"tool":"git","decision":"allow"},{"tool":"git","decision":"yes"}]`, "git", `{}`,
			permission.Ask, true},
		{"no list", `{"tool":"git"}`, "git", `{}`, permission.Ask, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			rules, run := &permission.Rules{List: list}, agent.NewRun(nil)
			err := rules.OnPermissionGranted(t.Context(), run, agent.Grant{Remember: json.RawMessage(c.remember)})
			if (err != nil) != c.reported {
				t.Errorf("reported %v", err)
			}
			exit, err := rules.OnPermission(t.Context(), run, agent.ToolCallRequest{Name: c.tool, Args: []byte(c.args)})
			if got := decisionOf(exit); err != nil || got != c.want {
				t.Errorf("decided %s (%v), want %s", got, err, c.want)
			}
		})
	}
}

func TestAnswersRememberABoundedNumberOfRules(t *testing.T) {
	const rule = `,{"tool":"git","decision":"allow"}`
	for _, c := range []struct {
		n    int
		want permission.Decision
	}{{1000, permission.Allow}, {1001, permission.Ask}} {
		t.Run(strconv.Itoa(c.n), func(t *testing.T) {
			rules := &permission.Rules{List: []permission.Rule{{Tool: "*", Decision: permission.Ask}}}
			run, list := agent.NewRun(nil), "["+strings.Repeat(rule, c.n)[1:]+"]"
			err := rules.OnPermissionGranted(t.Context(), run, agent.Grant{Remember: json.RawMessage(list)})
			if reported := err != nil; reported != (c.want == permission.Ask) ||
				reported && !strings.Contains(err.Error(), "the answer has 1001 rules to remember; the limit is 1000") {
				t.Errorf("reported %v", err)
			}
			exit, err := rules.OnPermission(t.Context(), run, agent.ToolCallRequest{Name: "git"})
			if got := decisionOf(exit); err != nil || got != c.want {
				t.Errorf("decided %s (%v), want %s", got, err, c.want)
			}
		})
	}
}

func decisionOf(o agent.OnPermissionOutcome) permission.Decision {
	switch o.(type) {
	case agent.Allow:
		return permission.Allow
	case agent.Ask:
		return permission.Ask
	case agent.Deny:
		return permission.Deny
	}
	return ""
}

// named is a conversation without messages.
type named string

func (n named) ID() string                { return string(n) }
func (n named) Messages() []agent.Message { return nil }

func TestRememberedRulesCountForTheirConversation(t *testing.T) {
	in := func(user, conversation string) *agent.Run {
		return agent.NewRun(&agent.Env{User: user, Conversation: named(conversation)})
	}
	for name, c := range map[string]struct {
		share share.Scope
		other *agent.Run
		want  permission.Decision
	}{
		"same conversation":  {share.Conversation, in("ann", "1"), permission.Allow},
		"other conversation": {share.Conversation, in("ann", "2"), permission.Ask},
		"shared by the user": {share.User, in("ann", "2"), permission.Allow},
		"other user":         {share.User, in("bob", "1"), permission.Ask},
	} {
		t.Run(name, func(t *testing.T) {
			rules := &permission.Rules{List: []permission.Rule{{Tool: "*", Decision: permission.Ask}}, Share: c.share}
			granted := agent.Grant{Remember: json.RawMessage(`[{"tool":"git","decision":"allow"}]`)}
			if err := rules.OnPermissionGranted(t.Context(), in("ann", "1"), granted); err != nil {
				t.Fatal(err)
			}
			exit, err := rules.OnPermission(t.Context(), c.other, agent.ToolCallRequest{Name: "git"})
			if got := decisionOf(exit); err != nil || got != c.want {
				t.Errorf("decided %s (%v), want %s", got, err, c.want)
			}
		})
	}
}

// A hungConversation asks a server for its name.
type hungConversation struct {
	named
	asked, answer chan struct{}
}

func (c hungConversation) ID() string {
	c.asked <- struct{}{}
	<-c.answer
	return string(c.named)
}

func TestASlowConversationDelaysNoOther(t *testing.T) {
	rules := &permission.Rules{Default: permission.Ask}
	granted := agent.Grant{Remember: json.RawMessage(`[{"tool":"git","decision":"allow"}]`)}
	other := agent.NewRun(&agent.Env{Conversation: named("other")})
	if err := rules.OnPermissionGranted(t.Context(), other, granted); err != nil {
		t.Fatal(err)
	}
	slow := hungConversation{"slow", make(chan struct{}), make(chan struct{})}
	var done sync.WaitGroup
	done.Go(func() {
		run := agent.NewRun(&agent.Env{Conversation: slow})
		if _, err := rules.OnPermission(t.Context(), run, agent.ToolCallRequest{Name: "git"}); err != nil {
			t.Error(err)
		}
	})
	<-slow.asked
	exit, err := rules.OnPermission(t.Context(), other, agent.ToolCallRequest{Name: "git"})
	if got := decisionOf(exit); err != nil || got != permission.Allow {
		t.Errorf("decided %s (%v)", got, err)
	}
	close(slow.answer)
	done.Wait()
}

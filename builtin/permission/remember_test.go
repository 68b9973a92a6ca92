package permission_test

import (
	"context"
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/permission"
	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/generated/agent"
)

func TestRememberIgnoresLateAnswers(t *testing.T) {
	asked := 0
	slow := fixture.ApproverFunc(func(ctx context.Context, _ agent.Question) (agent.Approval, error) {
		if asked++; asked == 1 {
			<-ctx.Done()
		}
		return agent.Approval{Allow: asked == 1}, nil
	})
	r := &permission.Remember{Approver: slow}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r.Approve(ctx, agent.Question{})
	if a, err := r.Approve(t.Context(), agent.Question{}); err != nil || a.Allow || asked != 2 {
		t.Errorf("the late approval counts: %+v, %v; asked %d times", a, err, asked)
	}
}

func TestAnswersCountForTheirOwner(t *testing.T) {
	ann := agent.Identity{Tenant: "t", User: "ann", Conversation: "1"}
	for _, c := range []struct {
		name  string
		scope share.Scope
		q     agent.Question
		again bool // asked again
	}{
		{"the conversation", share.Conversation, agent.Question{Owner: ann}, false},
		{"another run of it", share.Conversation, agent.Question{Owner: ann, Run: "r"}, false},
		{"another one", share.Conversation, agent.Question{Owner: agent.Identity{Tenant: "t", User: "ann"}, Run: "r"}, true},
		{"another user", share.Conversation,
			agent.Question{Owner: agent.Identity{Tenant: "t", User: "bob", Conversation: "1"}}, true},
		{"no owner", share.Conversation, agent.Question{Run: "r"}, true},
		{"the user", share.User,
			agent.Question{Owner: agent.Identity{Tenant: "t", User: "ann", Conversation: "2"}}, false},
		{"everyone", share.Everyone, agent.Question{Run: "r"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			asked := 0
			r := &permission.Remember{Share: c.scope, Approver: fixture.ApproverFunc(
				func(context.Context, agent.Question) (agent.Approval, error) {
					asked++
					return agent.Approval{Allow: true}, nil
				})}
			for _, q := range []agent.Question{{Owner: ann}, c.q} {
				if _, err := r.Approve(t.Context(), q); err != nil {
					t.Error(err)
				}
			}
			if (asked == 2) != c.again {
				t.Errorf("asked %d times", asked)
			}
		})
	}
}

func TestRememberBindsToExactArguments(t *testing.T) {
	for _, c := range []struct {
		first, second string
		again         bool // the second call is asked about, too
	}{
		{`{"cmd":"ls"}`, ` { "cmd" : "\u006cs" } `, false},
		{`{"a":1,"b":2}`, `{"b":2,"a":1}`, false},
		{`{"cmd":"ls"}`, `{"cmd":"rm -rf /","cmd":"ls"}`, true},
		{`{"cmd":"ls"}`, `{"cmd":"ls","cmd":"rm -rf /"}`, true},
		{`{"cmd":"ls"}`, `{"CMD":"rm -rf /","cmd":"ls"}`, true},
		{`{"cmd":"ls"}`, `{"CMD":"ls"}`, true},
		{`{"in":{"cmd":"ls"}}`, `{"in":{"cmd":"rm -rf /","cmd":"ls"}}`, true},
		{`[{"cmd":"ls"}]`, `[{"cmd":"rm -rf /","cmd":"ls"}]`, true},
		{`{"cmd":"ls","cmd":"ls"}`, `{"cmd":"ls","cmd":"ls"}`, true},
		{`{"cmd":"ls"}`, `{"cmd":"ls"} {"cmd":"rm -rf /"}`, true},
		{`{"cmd":"ls"}`, `{"cmd":"ls","x":null}`, true},
		{`{"n":1}`, `{"n":"1"}`, true},
	} {
		t.Run(c.first+" and "+c.second, func(t *testing.T) {
			asked := 0
			r := &permission.Remember{Approver: fixture.ApproverFunc(
				func(context.Context, agent.Question) (agent.Approval, error) {
					asked++
					return agent.Approval{Allow: true}, nil
				})}
			for _, args := range []string{c.first, c.second} {
				if _, err := r.Approve(t.Context(), agent.Question{Call: agent.ToolCallRequest{Args: []byte(args)}}); err != nil {
					t.Fatal(err)
				}
			}
			if (asked == 2) != c.again {
				t.Errorf("asked %d times", asked)
			}
		})
	}
}

func TestSpecialAnswersAreNotCached(t *testing.T) {
	for name, c := range map[string]struct {
		answer agent.Approval
		asked  int
	}{
		"changed arguments": {agent.Approval{Allow: true, Args: []byte(`{"n":2}`)}, 2},
		"an own result":     {agent.Approval{Allow: true, Output: "paid"}, 2},
		"short arguments":   {agent.Approval{Allow: true, Args: []byte(`7`)}, 2},
		"stops the run":     {agent.Approval{StopRun: true}, 2},
		"rules to remember": {agent.Approval{Allow: true, Remember: []byte(`[]`)}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			r := &permission.Remember{
				Approver: fixture.ApproverFunc(func(context.Context, agent.Question) (agent.Approval, error) {
					asked++
					return c.answer, nil
				}),
			}
			q := agent.Question{Call: agent.ToolCallRequest{Name: "pay", Args: []byte(`{"n":1}`)}}
			first, err := r.Approve(t.Context(), q)
			if err != nil || string(first.Remember) != string(c.answer.Remember) {
				t.Errorf("%+v, %v", first, err)
			}
			again, err := r.Approve(t.Context(), q)
			if err != nil || asked != c.asked || again.Remember != nil {
				t.Errorf("asked %d times, %+v, %v", asked, again, err)
			}
		})
	}
}

func TestAPendingAnswerIsNotRemembered(t *testing.T) {
	var asked int
	later := fixture.ApproverFunc(func(context.Context, agent.Question) (agent.Approval, error) {
		asked++
		return agent.Approval{Pending: asked == 1, Allow: asked > 1}, nil
	})
	r := &permission.Remember{Approver: later}
	q := agent.Question{Call: agent.ToolCallRequest{Name: "pay", Args: []byte(`{}`)}}
	first, _ := r.Approve(t.Context(), q)
	second, _ := r.Approve(t.Context(), q)
	if !first.Pending || second.Pending || !second.Allow || asked != 2 {
		t.Errorf("%+v, %+v, asked %d times", first, second, asked)
	}
}

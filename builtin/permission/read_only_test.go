package permission_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/permission"
	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// everyone is the identity for a switch that everyone shares.
var everyone agent.Identity

func TestReadOnlyAllowsOnlyReadOnlyTools(t *testing.T) {
	off := &permission.ReadOnly{Share: share.Everyone}
	again := &permission.ReadOnly{Share: share.Everyone}
	for _, err := range []error{off.Switch(everyone, false), again.Switch(everyone, false), again.Switch(everyone, true)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name string
		hook *permission.ReadOnly
		want string // of write, look and listed
	}{
		{"on from the start", &permission.ReadOnly{}, "refused succeeded refused"},
		{"a tool in the list", &permission.ReadOnly{Tools: []string{"list*"}}, "refused succeeded succeeded"},
		{"off", off, "succeeded succeeded succeeded"},
		{"on again", again, "refused succeeded refused"},
		{"When returns false", &permission.ReadOnly{When: func(*agent.Run) bool {
			return false
		}}, "succeeded succeeded succeeded"},
		{"When returns true", &permission.ReadOnly{When: func(*agent.Run) bool { return true }}, "refused succeeded refused"},
		{"When panics", &permission.ReadOnly{When: func(*agent.Run) bool { panic("no idea") }}, "refused refused refused"},
	} {
		t.Run(c.name, func(t *testing.T) {
			write, look, listed := &looptest.Tool{Name: "write"}, &looptest.Tool{Name: "look", ReadOnly: true},
				&looptest.Tool{Name: "listed"}
			ran := looptest.Harness{
				Turns: []looptest.Turn{
					looptest.Calls(looptest.Call("write", nil), looptest.Call("look", nil), looptest.Call("listed", nil)),
					looptest.Reply("done"),
				},
				Tools: []agent.Tool{write, look, listed},
				Hooks: []agent.Hook{c.hook},
			}.Run(t, "go")
			if got := fixture.Statuses(ran); got != c.want {
				t.Errorf("the calls: %s, want %s", got, c.want)
			}
			if n := strings.Count(c.want, "succeeded"); write.Count()+look.Count()+listed.Count() != n {
				t.Errorf("%d tools ran, want %d", write.Count()+look.Count()+listed.Count(), n)
			}
		})
	}
}

func TestReadOnlyIsSwitchedDuringARun(t *testing.T) {
	hook := &permission.ReadOnly{Share: share.Everyone}
	write := &looptest.Tool{Name: "write"}
	ran := looptest.Harness{
		Turns: []looptest.Turn{
			looptest.Call("write", `{"n":1}`),
			looptest.Func(func(context.Context, agent.LLMRequest) (agent.LLMResponse, error) {
				if err := hook.Switch(everyone, false); err != nil {
					t.Error(err)
				}
				return looptest.Call("write", `{"n":2}`).Response(), nil
			}),
			looptest.Reply("done"),
		},
		Tools: []agent.Tool{write}, Hooks: []agent.Hook{hook},
	}.Run(t, "go")
	if got := fixture.Statuses(ran); got != "refused succeeded" || hook.On(nil) {
		t.Errorf("the calls: %s; on: %t", got, hook.On(nil))
	}
}

func TestReadOnlyDeniesUnknownTools(t *testing.T) {
	for _, run := range []*agent.Run{agent.NewRun(nil), agent.NewRun(&agent.Env{})} {
		if got := fixture.Vote(t, run, &permission.ReadOnly{}, agent.ToolCallRequest{Name: "x"}); !strings.HasPrefix(got,
			"deny: tool x may change something") {
			t.Errorf("voted %q", got)
		}
	}
	if got := fixture.UsePanic(&permission.ReadOnly{Tools: []string{""}}); !strings.Contains(got,
		"permission.ReadOnly: Tools[0] is empty") {
		t.Errorf("panicked with %q", got)
	}
	var hooks agent.Hooks
	hooks.Use(&permission.ReadOnly{})
	if list := hooks.OnPermission.List(); len(list) != 1 || list[0].Priority != hookkit.Safety {
		t.Errorf("bound as %+v", list)
	}
}

func ExampleReadOnly() {
	var hooks agent.Hooks
	planning := &permission.ReadOnly{Tools: []string{"search"}}
	hooks.Use(planning)

	ctx, run := context.Background(), agent.NewRun(nil)
	try := func(tool string) {
		exit, err := hooks.OnPermission.Fire(ctx, run, agent.ToolCallRequest{Name: tool})
		fmt.Println(tool, exit, err)
	}
	try("search")
	try("write_file")
	_ = planning.Switch(share.Conversation.Owner(run), false) // the user has approved the plan
	try("write_file")
	// Output:
	// search <nil> <nil>
	// write_file {tool write_file may change something, and only tools that change nothing may run now} <nil>
	// write_file <nil> <nil>
}

func TestReadOnlyIsSwitchedForOneConversation(t *testing.T) {
	ann := agent.Identity{User: "ann", Conversation: "1"}
	for _, c := range []struct {
		name  string
		scope share.Scope
		req   loop.Request
		want  string
	}{
		{"the conversation", share.Conversation, loop.Request{User: "ann", Conversation: "1"}, "succeeded"},
		{"another one", share.Conversation, loop.Request{User: "ann", Conversation: "2"}, "refused"},
		{"another user", share.Conversation, loop.Request{User: "bob", Conversation: "1"}, "refused"},
		{"no identity", share.Conversation, loop.Request{}, "refused"},
		{"the user", share.User, loop.Request{User: "ann", Conversation: "2"}, "succeeded"},
		{"everyone", share.Everyone, loop.Request{}, "succeeded"},
	} {
		t.Run(c.name, func(t *testing.T) {
			hook := &permission.ReadOnly{Share: c.scope}
			if err := hook.Switch(ann, false); err != nil {
				t.Fatal(err)
			}
			c.req.Task = "go"
			ran := looptest.Harness{
				Turns: []looptest.Turn{looptest.Call("write", nil), looptest.Reply("done")},
				Tools: []agent.Tool{&looptest.Tool{Name: "write"}}, Hooks: []agent.Hook{hook},
			}.Do(t, t.Context(), c.req)
			if got := fixture.Statuses(ran); got != c.want {
				t.Errorf("the call %s, want %s", got, c.want)
			}
		})
	}
	if err := new(permission.ReadOnly).Switch(agent.Identity{User: "ann"}, false); err == nil {
		t.Error("no conversation was named, and nothing was said")
	}
}

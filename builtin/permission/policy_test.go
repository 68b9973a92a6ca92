package permission_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/permission"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// provider is a function that implements PolicyProvider.
type provider func(permission.PolicyRequest) (permission.PolicyDecision, error)

func (p provider) Evaluate(_ context.Context, r permission.PolicyRequest) (permission.PolicyDecision, error) {
	return p(r)
}

func TestPolicyFollowsItsProvider(t *testing.T) {
	decides := func(d permission.PolicyDecision) provider {
		return func(permission.PolicyRequest) (permission.PolicyDecision, error) { return d, nil }
	}
	fails := provider(func(permission.PolicyRequest) (permission.PolicyDecision, error) {
		return permission.PolicyDecision{Allow: true}, errors.New("no connection")
	})
	panics := provider(func(permission.PolicyRequest) (permission.PolicyDecision, error) { panic("no idea") })
	for _, c := range []struct {
		name     string
		provider provider
		open     bool
		want     string
		reported string
	}{
		{"allowed", decides(permission.PolicyDecision{Allow: true, Reasons: []permission.PolicyReason{{Code: "ok"}}}), false,
			"", ""},
		{"denied with reasons", decides(permission.PolicyDecision{Reasons: []permission.PolicyReason{{Code: "pii",
			Message: "It holds names."}, {Code: "late"}}}), false,
			"deny: guardrail denied (pii): tool 'x'. It holds names.", ""},
		{"denied by a named policy", decides(permission.PolicyDecision{PolicyID: "p7",
			Reasons: []permission.PolicyReason{{Message: "No."}}}), false,
			"deny: guardrail denied (denied): tool 'x'. No. (policy p7)", ""},
		{"denied without reasons", decides(permission.PolicyDecision{}), false, "deny: guardrail denied (denied): tool 'x'.",
			""},
		{"failing, closed", fails, false, "deny: guardrail provider error", `policy check of tool "x": no connection`},
		{"failing, open", fails, true, "", `policy check of tool "x": no connection`},
		{"panicking, closed", panics, false, "deny: guardrail provider error", `policy check of tool "x": panic: no idea`},
		{"panicking, open", panics, true, "", `policy check of tool "x": panic: no idea`},
		{"denied, open", decides(permission.PolicyDecision{}), true, "deny: guardrail denied (denied): tool 'x'.", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var reported string
			onError := func(err error) { reported += err.Error() }
			hook := &permission.Policy{Provider: c.provider, FailOpen: c.open, OnError: onError}
			got := fixture.Vote(t, agent.NewRun(nil), hook, agent.ToolCallRequest{Name: "x"})
			if got != c.want || reported != c.reported {
				t.Errorf("got %q, reported %q, want %q, %q", got, reported, c.want, c.reported)
			}
		})
	}
}

func TestPolicyReceivesTheDispatchedCall(t *testing.T) {
	var asked []permission.PolicyRequest
	hook := &permission.Policy{Provider: provider(func(r permission.PolicyRequest) (permission.PolicyDecision, error) {
		asked = append(asked, r)
		for i := range r.Args {
			r.Args[i] = 'x' // Args is a copy
		}
		return permission.PolicyDecision{Allow: true}, nil
	})}
	now := time.Date(2031, 5, 4, 3, 2, 1, 0, time.UTC)
	tool := &looptest.Tool{Name: "write"}
	ran := looptest.Harness{
		Turns: []looptest.Turn{looptest.Call("write", `{"n":1}`), looptest.Reply("done")},
		Tools: []agent.Tool{tool}, Hooks: []agent.Hook{hook},
		Agent: &loop.Agent{Name: "clerk", Clock: looptest.NewClock(now)},
	}.Run(t, "go")
	if len(asked) != 1 {
		t.Fatalf("the provider was called %d times", len(asked))
	}
	run := ran.Recorder.Fires("OnPermission")[0].Run
	want := permission.PolicyRequest{Tool: "write", Args: asked[0].Args, Agent: "clerk", Run: run, Time: now}
	if diff := cmp.Diff(want, asked[0]); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
	if calls := tool.Calls(); len(calls) != 1 || string(calls[0].Args) != `{"n":1}` {
		t.Errorf("a provider that modified its request changed the call: %+v", calls)
	}
}

func TestPolicyNeedsAProvider(t *testing.T) {
	if got := fixture.UsePanic(&permission.Policy{}); !strings.Contains(got, "permission.Policy: Provider is nil") {
		t.Errorf("panicked with %q", got)
	}
	var hooks agent.Hooks
	hooks.Use(&permission.Policy{Provider: provider(nil)})
	if list := hooks.OnPermission.List(); len(list) != 1 || list[0].Priority != hookkit.Safety {
		t.Errorf("bound as %+v", list)
	}
}

// officeHours is a policy of the program.
type officeHours struct{}

func (officeHours) Evaluate(_ context.Context, r permission.PolicyRequest) (permission.PolicyDecision, error) {
	if r.Tool != "send_money" {
		return permission.PolicyDecision{Allow: true}, nil
	}
	return permission.PolicyDecision{Reasons: []permission.PolicyReason{{Code: "closed", Message: "Come back at nine."}}},
		nil
}

func ExamplePolicy() {
	var hooks agent.Hooks
	hooks.Use(&permission.Policy{Provider: officeHours{}})

	exit, err := hooks.OnPermission.Fire(context.Background(), agent.NewRun(nil),
		agent.ToolCallRequest{Name: "send_money"})
	fmt.Println(exit, err)
	// Output:
	// {guardrail denied (closed): tool 'send_money'. Come back at nine.} <nil>
}

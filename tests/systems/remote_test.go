package systems

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit/wire"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// A wiretap is a service that records its requests, and answers each with the same text.
type wiretap struct {
	wire.Caller
	answer string // "": that of the service

	mu   sync.Mutex
	seen []wire.Request
}

func (w *wiretap) Call(ctx context.Context, q wire.Request) (wire.Reply, error) {
	w.mu.Lock()
	w.seen = append(w.seen, q)
	w.mu.Unlock()
	if w.answer == "" {
		return w.Caller.Call(ctx, q)
	}
	var reply wire.Reply
	return reply, wire.UnmarshalReply(ctx, []byte(w.answer), &reply)
}

// keys returns the keys of a JSON object, sorted.
func keys(t *testing.T, object []byte) string {
	t.Helper()
	var all map[string]json.RawMessage
	if err := json.Unmarshal(object, &all); err != nil {
		t.Fatal(err)
	}
	return strings.Join(slices.Sorted(maps.Keys(all)), " ")
}

func TestProcessesAreShownDeclaredFields(t *testing.T) {
	continuing := agent.OnPermissionFunc(
		func(context.Context, *agent.Run, agent.ToolCallRequest) (agent.OnPermissionOutcome, error) {
			return nil, nil
		})
	for name, c := range map[string]struct {
		hooks  []agent.Hook
		answer string
		asked  int
		ran    bool
	}{
		"continues":          {all[agent.Hook](continuing), "", 1, true},
		"denies":             {all[agent.Hook](continuing), `{"decision":"Deny","value":{"Reason":"no"}}`, 1, false},
		"no point":           {nil, "", 0, true},
		"unknown field":      {all[agent.Hook](continuing), `{"decision":"continue","view":"all"}`, 1, false},
		"unknown decision":   {all[agent.Hook](continuing), `{"decision":"proceed"}`, 1, false},
		"field of no exit":   {all[agent.Hook](continuing), `{"decision":"Deny","value":{"Why":"no"}}`, 1, false},
		"decision of others": {all[agent.Hook](continuing), `{"decision":"SkipTool"}`, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			service := new(agent.Hooks)
			for _, h := range c.hooks {
				service.Use(h)
			}
			tap := &wiretap{Caller: agent.Serve(service, nil), answer: c.answer}
			var opts []wire.RemoteOption
			remote, err := agent.Remote(t.Context(), tap, opts...)
			if c.asked == 0 && err != nil { // there is nothing to use
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			ran := looptest.Harness{
				Turns: working(1), Tools: all[agent.Tool](work()), Hooks: all(remote),
			}.Do(t, t.Context(), loop.Request{Task: "the secret task", Tenant: "t", User: "u", Conversation: "c"})
			if len(tap.seen) != c.asked || ran.Calls[0].OK() != c.ran {
				t.Fatalf("asked %d times, the call ended as %+v", len(tap.seen), ran.Calls[0])
			}
			for _, q := range tap.seen {
				whole, err := json.Marshal(q)
				if err != nil {
					t.Fatal(err)
				}
				lacks(t, string(whole), "secret task")
				if got := keys(t, q.Payload) + "; " + keys(t, whole); got !=
					"args id name step; digest payload point protocol run spec" {
					t.Errorf("the service is shown %s", got)
				}
				if want := map[string]string{"tenant": "t", "user": "u", "conversation": "c"}; !maps.Equal(q.Run.Labels, want) {
					t.Errorf("the labels are %v", q.Run.Labels)
				}
			}
		})
	}
}

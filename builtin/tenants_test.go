package builtin_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hookgen/hookgen/builtin/done"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/memory"
	"github.com/hookgen/hookgen/builtin/permission"
	"github.com/hookgen/hookgen/builtin/record"
	"github.com/hookgen/hookgen/builtin/repair"
	"github.com/hookgen/hookgen/builtin/state"
	"github.com/hookgen/hookgen/builtin/window"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// marker is a word in every text of one tenant, for example "marker07x".
var marker = regexp.MustCompile(`marker\d+x`)

// marked reports the markers in a text, each once.
func marked(text string) []string {
	found := marker.FindAllString(text, -1)
	slices.Sort(found)
	return slices.Compact(found)
}

// A tenantModel checks that a request has texts of one tenant only. Per run, it calls the tools work and note, recalls
// a shortened result, and replies.
type tenantModel struct {
	mu    sync.Mutex
	wrong []string
}

func (m *tenantModel) report(format string, args ...any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.wrong) < 20 {
		m.wrong = append(m.wrong, fmt.Sprintf(format, args...))
	}
}

func (m *tenantModel) Generate(ctx context.Context, req agent.LLMRequest) (agent.LLMResponse, error) {
	data, err := json.Marshal(req)
	if err != nil {
		return agent.LLMResponse{}, err
	}
	found := marked(string(data))
	if len(found) > 1 {
		m.report("a request of %+v has texts of %v", agentspec.IdentityOf(ctx), found)
	}
	if len(found) == 0 { // a request of a hook without a text of the tenant
		return agent.LLMResponse{Content: "nothing"}, nil
	}
	if len(req.Tools) == 0 {
		return agent.LLMResponse{Content: "about " + found[0]}, nil
	}
	calls := 0
	for _, message := range slices.Backward(req.Messages) {
		if message.Role == agent.RoleUser {
			break
		}
		calls += len(message.ToolCalls)
	}
	args := func(text string) json.RawMessage {
		return json.RawMessage(fmt.Sprintf(`{"text":%q,"__theory__":"a theory of %s"}`, text, found[0]))
	}
	reply := agent.LLMResponse{Content: "thinking of " + found[0], Usage: agent.Usage{Input: 10, Output: 1}}
	call := agent.ToolCallRequest{ID: fmt.Sprint("call_", calls)}
	switch calls {
	case 0:
		call.Name, call.Args = "work", args("work of "+found[0])
	case 1:
		call.Name, call.Args = "note", args("remember that I am "+found[0])
	case 2:
		_, key, _ := strings.Cut(string(data), "recall key ")
		key, _, _ = strings.Cut(key, "]")
		call.Name, call.Args = "recall", json.RawMessage(fmt.Sprintf(`{"key":%q}`, key))
	default:
		reply.Content = "done for " + found[0] + ", remember that I like it"
		return reply, nil
	}
	reply.ToolCalls = []agent.ToolCallRequest{call}
	return reply, nil
}

// TestTenantsNeverMeet runs the agents of many tenants at once, with every hook of builtin on shared stores and
// directories. Tenants use the same names for users and conversations, and some give no name at all.
func TestTenantsNeverMeet(t *testing.T) {
	const tenants, anonymous, runs = 64, 8, 3
	at := newPlaces(t)
	file, err := memory.OpenFile(filepath.Join(at.dir, "knowledge", "memory.json"))
	if err != nil {
		t.Fatal(err)
	}
	notes, err := memory.OpenNotesFile(filepath.Join(at.dir, "notes", "notes.md"))
	if err != nil {
		t.Fatal(err)
	}
	at.memory, at.notes = file, notes
	kept := &storeLog{Store: state.Dir{Path: filepath.Join(at.dir, "store")}}
	at.store = kept

	model, hooks := new(tenantModel), new(agent.Hooks)
	readOnly, button := &permission.ReadOnly{}, &limit.CancelSwitch{}
	configured := map[string]agent.Hook{ // so that the tools run, and the hooks keep texts
		"permission.ReadOnly":     readOnly,
		"permission.ApprovalStop": &permission.ApprovalStop{},
		"limit.Cancellation":      &limit.Cancellation{Source: button},
		"limit.Tools":             &limit.Tools{Default: limit.AtMost(100)},
		"limit.FinishReason":      &limit.FinishReason{},
		"done.Gate":               &done.Gate{Conditions: []done.Condition{done.MinTools(1)}},
		"done.Critic":             &done.Critic{Model: always{agent.LLMResponse{Content: `{"approve": true}`}}},
		"repair.LoopDetector":     &repair.LoopDetector{HintAfter: limit.None, BreakAfter: 100},
		"builtin.SmallModel":      nil,
		"repair.Stagnation":       nil,
		"permission.Rules":        nil,
		"screen.Output":           nil,
		"window.Guard":            &window.Guard{Recall: at.store, MaxOutput: 600, FullFor: 1},
		"memory.Extractor": &memory.Extractor{
			Store: at.memory, Dir: filepath.Join(at.dir, "memory"), Extract: extractMarked,
		},
	}
	for name, newHook := range readyIn(func() places { return at }) {
		hook, ok := configured[name]
		if !ok {
			hook = newHook()
		}
		if hook != nil {
			hooks.Use(hook)
		}
	}
	a := &loop.Agent{
		Name: "clerk", Model: model, Hooks: hooks, Instructions: "Serve.", Limits: loop.Limits{Steps: 20},
		Approver: &permission.Remember{Approver: approving{}},
		Tools: []agent.Tool{
			&looptest.Tool{Name: "work", Func: func(_ context.Context, call agent.ToolCallRequest) (string, error) {
				return strings.Repeat("result of "+marked(string(call.Args))[0]+" ", 100), nil
			}},
			&looptest.Tool{Name: "note", Func: func(ctx context.Context, call agent.ToolCallRequest) (string, error) {
				text := "noted of " + marked(string(call.Args))[0]
				_, err := at.memory.AddFact(ctx, memory.Fact{Key: "who", Value: text})
				return text, errors.Join(err, at.notes.Append(ctx, text, ""))
			}},
			window.RecallTool{Store: at.store},
		},
	}

	var all sync.WaitGroup
	for i := range tenants + anonymous {
		id := agent.Identity{Tenant: fmt.Sprint("tenant", i), User: "ann"}
		mark := fmt.Sprintf("marker%dx", i)
		for n := range runs {
			req := loop.Request{Task: "I am " + mark, Tenant: id.Tenant, User: id.User, Conversation: fmt.Sprint("c", n%2)}
			if i >= tenants {
				req = loop.Request{Task: req.Task}
			} else {
				id.Conversation = req.Conversation
				if err := errors.Join(at.steering.Steer(id, "steer "+mark), readOnly.Switch(id, false)); err != nil {
					t.Fatal(err)
				}
			}
			all.Go(func() {
				result, err := a.Do(t.Context(), req)
				if err != nil {
					model.report("a run of %s failed: %v", mark, err)
				}
				if data, _ := json.Marshal(result); !slices.Equal(marked(string(data)), []string{mark}) {
					model.report("the result of %s has texts of %v", mark, marked(string(data)))
				}
				if refused := slices.ContainsFunc(result.Calls, func(c agent.ToolCallResult) bool {
					return c.Status == agent.CallRefused
				}); refused != (i >= tenants) {
					model.report("the calls of %s were refused: %t, %+v", mark, refused, result.Calls)
				}
			})
		}
	}
	all.Wait()
	for _, text := range model.wrong {
		t.Error(text)
	}
	checkPlaces(t, at, kept, tenants)
}

// extractMarked finds one fact in the last messages of a conversation.
func extractMarked(_ context.Context, _ *agent.Run, messages []agent.Message) ([]memory.Extracted, error) {
	data, err := json.Marshal(messages)
	var facts []memory.Extracted
	for _, mark := range marked(string(data)) {
		facts = append(facts, memory.Extracted{Kind: "request", Text: "wants something about " + mark})
	}
	return facts, err
}

// checkPlaces checks every file, every line of the logs, and every value of the store.
func checkPlaces(t *testing.T, at places, kept *storeLog, tenants int) {
	t.Helper()
	seen := make(map[string]int) // files with a marker, by the first directory
	err := filepath.WalkDir(at.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		name, _ := filepath.Rel(at.dir, path)
		parts := []string{string(data)}
		if place := strings.Split(filepath.ToSlash(name), "/")[0]; place == "audit" || place == "episodes" {
			parts = strings.Split(string(data), "\n") // a log of the operator, with a record of one run in each line
		}
		for _, part := range parts {
			switch found := marked(part + name); {
			case len(found) > 1:
				t.Errorf("%s has texts of %v", name, found)
			case len(found) == 1:
				seen[strings.Split(filepath.ToSlash(name), "/")[0]]++
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, place := range []string{
		"audit", "episodes", "knowledge", "memory", "model", "notes", "provenance", "store", "summary", "trajectory",
	} {
		if seen[place] < tenants {
			t.Errorf("%s has texts of %d files or lines, want at least one for each of %d tenants", place, seen[place], tenants)
		}
	}
	for _, kind := range []string{"checkpoint/", "history/", "result/", "session/"} {
		if n := kept.keys[kind]; n < tenants {
			t.Errorf("%d values were stored under %s", n, kind)
		}
	}
}

// storeLog counts the keys of a store by their kind.
type storeLog struct {
	agent.Store
	mu   sync.Mutex
	keys map[string]int
}

func (s *storeLog) Put(ctx context.Context, key string, value []byte) error {
	kind, _, _ := strings.Cut(key, "/")
	s.mu.Lock()
	if s.keys == nil {
		s.keys = make(map[string]int)
	}
	s.keys[kind+"/"]++
	s.mu.Unlock()
	return s.Store.Put(ctx, key, value)
}

// TestKeysOfHooksDoNotCollide names conversations, users and agents like the keys of other hooks in the same store.
func TestKeysOfHooksDoNotCollide(t *testing.T) {
	names := []string{
		"history/agent", "session///c", "checkpoint///c/step/1", "checkpoint///c/counters", "result////result-1", "c",
		"agent",
		"../c", "c/", "%2F", "history",
	}
	store := new(state.Map)
	for _, name := range names {
		for _, as := range []string{"conversation", "user", "agent"} {
			req := loop.Request{Task: "go", Conversation: "c"}
			l := loop.Agent{Name: "agent"}
			switch as {
			case "conversation":
				req.Conversation = name
			case "user":
				req.User = name
			case "agent":
				l.Name, req.Tenant = name, "agents"
			}
			persist := &state.Persist{Store: state.Sessions{Store: store}}
			ran := looptest.Harness{
				Turns: []looptest.Turn{looptest.Call("work", nil), looptest.Reply("ok")},
				Tools: []agent.Tool{&looptest.Tool{Name: "work", Result: strings.Repeat("x", 2000)}},
				Hooks: []agent.Hook{
					persist, &state.Checkpoint{Store: store, Every: 1}, &record.History{Store: store},
					&window.Guard{Recall: store, MaxOutput: 200},
				},
				Agent: &l,
			}.Do(t, t.Context(), req)
			if ran.Failed != nil {
				t.Fatalf("%s %q: %v", as, name, ran.Failed)
			}
			for _, f := range ran.Trace.Events() {
				if f.Failure != nil {
					t.Errorf("%s %q: %v", as, name, f.Failure)
				}
			}
		}
	}
	all, err := store.Keys(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range all {
		if n := strings.Count(key, "/"); n < 3 || n > 5 {
			t.Errorf("the key %q has %d separators", key, n)
		}
	}
	sessions, err := state.Sessions{Store: store}.List(t.Context())
	if want := 2*len(names) + 1; err != nil || len(sessions) != want {
		t.Errorf("%d sessions are listed, want %d, %v: %+v", len(sessions), want, err, sessions)
	}
	history := &record.History{Store: store}
	for _, name := range names {
		runs, err := history.Runs(t.Context(), agent.Identity{Tenant: "agents", Conversation: "c"}, name)
		if err != nil || len(runs) != 1 {
			t.Errorf("the agent %q has %d runs, %v", name, len(runs), err)
		}
		for _, id := range []agent.Identity{{Conversation: name}, {User: name, Conversation: "c"}} {
			saved, err := state.Latest(t.Context(), store, id)
			if err != nil || saved.Conversation.Identity != id {
				t.Errorf("the checkpoint of %+v: %+v, %v", id, saved.Conversation.Identity, err)
			}
		}
	}
}

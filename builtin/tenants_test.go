package builtin_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hookgen/hookgen/builtin/answer"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/memory"
	"github.com/hookgen/hookgen/builtin/observe"
	"github.com/hookgen/hookgen/builtin/permission"
	"github.com/hookgen/hookgen/builtin/prompt"
	"github.com/hookgen/hookgen/builtin/record"
	"github.com/hookgen/hookgen/builtin/repair"
	"github.com/hookgen/hookgen/builtin/session"
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

// A tenantWatch checks every text that leaves the runs of tenants: all texts of one run are of one tenant.
type tenantWatch struct {
	mu    sync.Mutex
	wrong []string
	mark  map[string]string // the marker in the texts of a run, by its ID
	seen  map[string]int    // the texts with a marker, by the place
	keys  map[string]string // recall keys of shortened results, by the marker
}

func (w *tenantWatch) report(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.wrong) < 20 {
		w.wrong = append(w.wrong, fmt.Sprintf(format, args...))
	}
}

// check checks a value that appeared in a place for a run, or for an unknown run. It returns the markers in it.
func (w *tenantWatch) check(place, run string, value any) []string {
	data, err := json.Marshal(value)
	if err != nil {
		w.report("%s: %v", place, err)
	}
	found := marked(string(data))
	if len(found) == 0 {
		return nil
	}
	w.mu.Lock()
	w.seen[place]++
	before := w.mark[run]
	if before == "" {
		before = found[0]
	}
	if run != "" {
		w.mark[run] = before
	}
	w.mu.Unlock()
	if len(found) > 1 || found[0] != before {
		w.report("%s of a run of %s has texts of %v: %.300s", place, before, found, data)
	}
	return found
}

// Write checks the lines of a log.
func (w *tenantWatch) Write(lines []byte) (int, error) {
	for line := range strings.SplitSeq(string(lines), "\n") {
		w.check("log", "", line)
	}
	return len(lines), nil
}

// Publish checks an event of a bus.
func (w *tenantWatch) Publish(_ context.Context, e observe.BusEvent) (veto bool, reason string, err error) {
	w.check("bus", e.Task, e)
	return false, "", nil
}

// Approve checks a question, and allows the call.
func (w *tenantWatch) Approve(_ context.Context, q agent.Question) (agent.Approval, error) {
	w.check("question", q.Run, q)
	return agent.Approval{Allow: true}, nil
}

// keyOfAnother returns a recall key that a tenant with another marker has got.
func (w *tenantWatch) keyOfAnother(mark string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	for other, key := range w.keys {
		if other != mark {
			return key
		}
	}
	return ""
}

// Generate checks a request. Per run, it calls the tools work and note, recalls a shortened result and one of another
// tenant, and replies.
func (w *tenantWatch) Generate(ctx context.Context, req agent.LLMRequest) (agent.LLMResponse, error) {
	data, err := json.Marshal(req)
	if err != nil {
		return agent.LLMResponse{}, err
	}
	found := w.check("request", agentspec.RunID(ctx), req)
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
		w.mu.Lock()
		w.keys[found[0]] = key
		w.mu.Unlock()
		call.Name, call.Args = "recall", json.RawMessage(fmt.Sprintf(`{"key":%q}`, key))
	case 3:
		call.Name, call.Args = "recall", json.RawMessage(fmt.Sprintf(`{"key":%q}`, w.keyOfAnother(found[0])))
	default:
		reply.Content = "done for " + found[0] + ", remember that I like it"
		return reply, nil
	}
	reply.ToolCalls = []agent.ToolCallRequest{call}
	return reply, nil
}

// markOf returns the marker of an owner, or "" if it has no tenant.
func markOf(id agent.Identity) string {
	if n, ok := strings.CutPrefix(id.Tenant, "tenant"); ok {
		return "marker" + n + "x"
	}
	return ""
}

// TestTenantsNeverMeet runs the agents of many tenants at once, with every hook of builtin on shared stores and
// directories. Tenants use the same names for users and conversations, and some give no name at all. The runs of one
// tenant are cancelled.
func TestTenantsNeverMeet(t *testing.T) {
	const tenants, anonymous, runs = 24, 4, 3
	const cancelled = tenants + anonymous // the number of the tenant
	at := newPlaces(t)
	notes := &memory.Notes{Path: filepath.Join(at.dir, "notes", "notes.md")}
	at.memory, at.notes = &memory.Facts{In: session.Dir{Path: filepath.Join(at.dir, "knowledge")}}, notes
	kept := &storeLog{Store: session.Dir{Path: filepath.Join(at.dir, "store")}}
	at.store = kept

	watch, hooks := &tenantWatch{
		mark: make(map[string]string), seen: make(map[string]int), keys: make(map[string]string),
	}, new(agent.Hooks)
	readOnly, button := &permission.ReadOnly{}, &limit.CancelSwitch{}
	configured := map[string]agent.Hook{ // so that the tools run, and the hooks keep texts
		"permission.ReadOnly":     readOnly,
		"permission.ApprovalStop": &permission.ApprovalStop{},
		"limit.Cancellation":      &limit.Cancellation{Source: button},
		"limit.Tools":             &limit.Tools{Default: limit.AtMost(runs * 5)}, // less than all tenants need together
		"limit.FinishReason":      &limit.FinishReason{},
		"answer.Gate":             &answer.Gate{Conditions: []answer.Condition{answer.MinTools(1)}},
		"answer.Critic":           &answer.Critic{Model: always{agent.LLMResponse{Content: `{"approve": true}`}}},
		"repair.LoopDetector":     &repair.LoopDetector{HintAfter: limit.None, BreakAfter: 100},
		"observe.EventBridge":     &observe.EventBridge{Bus: watch},
		"observe.DebugLog":        &observe.DebugLog{Writer: watch},
		"record.Metrics":          &record.Metrics{Log: slog.New(slog.NewTextHandler(watch, nil))},
		"observe.RequestTap": &observe.RequestTap{OnEvent: func(_ context.Context, e observe.RequestTapEvent) {
			watch.check("tap", e.Run, e)
		}},
		"prompt.Config": &prompt.Config{Fragments: []prompt.Fragment{{
			Name: "owner", Generate: func(_ context.Context, run *agent.Run) (string, error) {
				return markOf(run.Env.Identity()), nil
			},
		}}},
		"window.Guard":     &window.Guard{Recall: at.store, MaxOutput: 600, FullFor: 1},
		"memory.Extractor": &memory.Extractor{Store: at.memory, Extract: extractMarked},
		// These refuse or change the calls of the tenants, and keep nothing of a run for others.
		"builtin.SmallModel": nil,
		"repair.Stagnation":  nil,
		"permission.Rules":   nil,
		"guardrail.Output":   nil,
		"guardrail.Reply":    nil,
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
		Name: "clerk", Model: watch, Hooks: hooks, Instructions: "Serve.", Limits: loop.Limits{Steps: 20},
		Approver: &permission.Remember{Approver: watch},
		Tools: []agent.Tool{
			&looptest.Tool{Name: "work", Func: func(ctx context.Context, call agent.ToolCallRequest) (string, error) {
				found := watch.check("call", agentspec.RunID(ctx), call)
				return strings.Repeat("result of "+found[0]+" ", 100), nil
			}},
			&looptest.Tool{Name: "note", Func: func(ctx context.Context, call agent.ToolCallRequest) (string, error) {
				text := "noted of " + watch.check("call", agentspec.RunID(ctx), call)[0]
				err := at.memory.Put(ctx, memory.Fact{Key: "who", Value: text})
				return text, errors.Join(err, at.notes.Append(ctx, text, ""))
			}},
			window.RecallTool{Store: at.store},
		},
	}

	var all sync.WaitGroup
	for i := range cancelled + 1 {
		id := agent.Identity{Tenant: fmt.Sprint("tenant", i), User: "ann"}
		mark := markOf(id)
		for n := range runs {
			req := loop.Request{Task: "I am " + mark, Tenant: id.Tenant, User: id.User, Conversation: fmt.Sprint("c", n%2)}
			if i >= tenants && i < cancelled {
				req = loop.Request{Task: req.Task}
			}
			id.Conversation = req.Conversation
			if req.Conversation != "" {
				if err := errors.Join(at.steering.Steer(id, "steer "+mark), readOnly.Switch(id, false)); err != nil {
					t.Fatal(err)
				}
			}
			if i == cancelled {
				if err := button.Cancel(id, "of "+mark); err != nil {
					t.Fatal(err)
				}
			}
			all.Go(func() {
				result, err := looptest.Ended(runOf(t.Context(), watch, a, req))
				if err != nil && i != cancelled {
					watch.report("a run of %s failed: %v", mark, err)
				}
				if data, _ := json.Marshal(result); !slices.Equal(marked(string(data)), []string{mark}) {
					watch.report("the result of %s has texts of %v", mark, marked(string(data)))
				}
				if stopped := result.Stop.Cause == agent.CauseUserRequested; stopped != (i == cancelled) {
					watch.report("a run of %s stopped with %s: %s", mark, result.Stop.Cause, result.Stop.Message)
				}
				if refused := slices.ContainsFunc(result.Calls, func(c agent.ToolCallResult) bool {
					return c.Status == agent.CallRefused
				}); refused != (req.Conversation == "") {
					watch.report("the calls of %s were refused: %t, %+v", mark, refused, result.Calls)
				}
			})
		}
	}
	all.Wait()
	for _, text := range watch.wrong {
		t.Error(text)
	}
	for _, place := range []string{"bus", "call", "log", "question", "request", "result", "tap", "yielded"} {
		if watch.seen[place] < tenants {
			t.Errorf("%s: %d texts were checked, want at least one for each of %d tenants", place, watch.seen[place], tenants)
		}
	}
	checkPlaces(t, at, kept, tenants)
}

// runOf runs the agent, and checks the events of the run and its result.
func runOf(
	ctx context.Context, watch *tenantWatch, a *loop.Agent, req loop.Request,
) (result agent.AgentResult, err error) {
	for e, failed := range a.Stream(ctx, req) {
		watch.check("yielded", e.Run, e)
		if e.Kind == loop.EventEnd {
			result, err = *e.End, failed
			watch.check("result", e.Run, result)
		}
	}
	return result, err
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
		"audit", "knowledge", "notes", "provenance", "store", "summary", "tree",
	} {
		if seen[place] < tenants {
			t.Errorf("%s has texts of %d files or lines, want at least one for each of %d tenants", place, seen[place], tenants)
		}
	}
	for _, kind := range []string{"checkpoint/", "result/", "session/"} {
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
	store := new(session.Map)
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
			persist := &session.Persist{Store: session.Sessions{Store: store}}
			ran := looptest.Harness{
				Turns: []looptest.Turn{looptest.Call("work", nil), looptest.Reply("ok")},
				Tools: []agent.Tool{&looptest.Tool{Name: "work", Result: strings.Repeat("x", 2000)}},
				Hooks: []agent.Hook{
					persist, &session.Checkpoint{Store: store, Every: 1},
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
	sessions, err := session.Sessions{Store: store}.List(t.Context())
	if want := 2*len(names) + 1; err != nil || len(sessions) != want {
		t.Errorf("%d sessions are listed, want %d, %v: %+v", len(sessions), want, err, sessions)
	}
	for _, name := range names {
		for _, id := range []agent.Identity{{Conversation: name}, {User: name, Conversation: "c"}} {
			saved, err := session.Latest(t.Context(), store, id)
			if err != nil || saved.Identity != id {
				t.Errorf("the checkpoint of %+v: %+v, %v", id, saved.Identity, err)
			}
		}
	}
}

package systems

import (
	"context"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/record"
	"github.com/hookgen/hookgen/builtin/session"
	"github.com/hookgen/hookgen/builtin/window"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/hooklog"
	"github.com/hookgen/hookgen/hooktest"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// audited are the payloads of the events of a point in an audit log.
func audited[T any](t testing.TB, path, point string) (out []T) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for e, err := range hooklog.Read(f) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Point != point {
			continue
		}
		var payload T
		if err := json.Unmarshal(e.Payload, &payload); err != nil {
			t.Error(err)
		}
		out = append(out, payload)
	}
	return out
}

// TokenBudget, with a system prompt that exceeds the limit on its own.
func TestTrimmingEndsAndOrphansNothing(t *testing.T) {
	for _, most := range []int{1, 100, 300, 1000} {
		ran := looptest.Harness{
			Turns: working(6), Tools: all[agent.Tool](&looptest.Tool{Name: "work", Result: strings.Repeat("r", 400)}),
			Hooks: all[agent.Hook](&window.TokenBudget{
				Max:  limit.AtMost(most),
				Keep: 3,
			}), Agent: &loop.Agent{Instructions: strings.Repeat("s", 1000)},
		}.Run(t, "the task")
		requests := ran.Script.Requests()
		for i, r := range requests {
			if err := agentspec.CheckPairs(r.Messages, false); err != nil {
				t.Errorf("within %d, request %d: %v", most, i, err)
			}
			contains(t, requestText(t, ran, i), "the task")
		}
		if len(requests) != 7 || ran.Reply != "ok" || (ran.Recorder.Count("OnBudgetExceeded") > 0) != (most < 300) {
			t.Errorf("within %d: %d requests, %d budgets passed", most, len(requests), ran.Recorder.Count("OnBudgetExceeded"))
		}
	}
}

// AuditLog, ModelRecorder and PersistSession, with hostile texts.
func TestRecordsHaveNeitherSecretsNorPaths(t *testing.T) {
	dir := t.TempDir()
	inside := filepath.Join(dir, "a", "b")
	const secret = "hunter2secret"
	looptest.Harness{
		Turns: all(looptest.Call("work", `{"cmd":"curl -H 'x' https://me:`+secret+
			`@host/; $(rm -rf /)","nested":{"api_key":"`+secret+`","say":"\"token\": \"`+secret+`\""}}`), looptest.Reply("ok")),
		Tools: all[agent.Tool](&looptest.Tool{
			Name:   "work",
			Result: "password=" + secret + "\n\x00\xff" + strings.Repeat("é", 900),
		}),
		Hooks: all[agent.Hook](&record.Audit{Path: filepath.Join(inside, "audit")},
			&record.Provenance{Dir: filepath.Join(inside, "model")}),
	}.Run(t, "x")
	r := audited[agent.ToolCallResult](t, filepath.Join(inside, "audit"), "AfterTool") // and each line is valid
	if len(r) != 1 {
		t.Errorf("recorded %+v", r)
	}
	for _, id := range all("../../up", "/etc/x", "a/../../..", "c:\\x", ".") {
		hook := &session.Persist{Store: session.Sessions{Store: session.Dir{Path: filepath.Join(inside, "sessions")}}}
		looptest.Harness{
			Turns: working(0),
			Hooks: all[agent.Hook](hook),
		}.Do(t, t.Context(), loop.Request{Task: "x", Conversation: id})
		if s, err := hook.Store.Load(t.Context(), agent.Identity{Conversation: id}); err != nil || len(s.Messages) != 2 {
			t.Errorf("%q: %+v, %v", id, s, err)
		}
	}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if strings.Contains(string(data), secret) || !strings.HasPrefix(path, inside) {
			t.Errorf("%s: %.300q", path, data)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// Invariant 9 and the bounds: observers get the payload itself, once per hook and per fire.
func TestRecordingADecisionCopiesNothing(t *testing.T) {
	var lock sync.Mutex
	detail := map[string]any{"lock": &lock, "call": func() {}}
	for _, n := range []int{1, 8, 64} {
		var h agent.Hooks
		for range n {
			h.OnStop.Add(agent.OnStopFunc(func(context.Context, *agent.Run, agent.Stopping) ([]agent.EndRun, error) {
				return all(agent.EndRun{Detail: detail}), nil
			}))
		}
		rec := hooktest.Record(h.Points())
		var events hookkit.TraceRecorder
		h.Trace(&events)
		got := h.OnStop.Fire(t.Context(), agent.NewRun(nil), agent.Stopping{Signals: all(agent.EndRun{Detail: detail})})
		fires := rec.Fires()
		if len(got) != n || len(events.Events()) != n+1 || len(fires) != 1 ||
			fires[0].Payload.(agent.Stopping).Signals[0].Detail["lock"] != &lock {
			t.Errorf("%d hooks: %d signals, %d events, %d fires", n, len(got), len(events.Events()), len(fires))
		}
	}
}

// The bounds: sorting happens at registration. A fire allocates nothing, regardless of the number of hooks.
func TestAFireSortsAndCopiesNothing(t *testing.T) {
	for _, n := range []int{0, 1, 64} {
		var h agent.Hooks
		for i := range n {
			h.BeforeTool.Add(continues, hookkit.Priority(i%7))
			h.AfterTool.Add(afterTool(func(agent.ToolCallResult) (agent.AfterToolOutcome, error) { panic("another point") }))
		}
		run, call := agent.NewRun(nil), agent.ToolCallRequest{Name: "work"}
		if got := testing.AllocsPerRun(100, func() { _, _ = h.BeforeTool.Fire(t.Context(), run, &call) }); got != 0 {
			t.Errorf("a fire of %d hooks allocates %v times", n, got)
		}
	}
}

// Invariants 13 and 2: removed hooks are not called, and an inner layer replaces nothing.
func TestNoLayerReplacesAGuard(t *testing.T) {
	var outer agent.Hooks
	var d diary
	outer.BeforeTool.Add(d.noting("removed")).Remove()
	outer.BeforeTool.Add(d.noting("stays"))
	guard := outer.Use(denies("work", "guarded"), named("guard"))
	inner := outer.Layer("inner")
	own := inner.Use(onPermission(func(agent.ToolCallRequest) (agent.OnPermissionOutcome, error) {
		return agent.Allow{}, nil
	}), named("guard"))
	fire(t, inner)
	d.want(t, "stays")
	exit, err := inner.OnPermission.Fire(t.Context(), agent.NewRun(nil), agent.ToolCallRequest{Name: "work"})
	if exit != (agent.Deny{Reason: "guarded"}) || err != nil || len(inner.OnPermission.List()) != 2 {
		t.Errorf("%v, %v, hooks %v", exit, err, names(inner.OnPermission.List()))
	}
	if own.Remove(); !guard.Remove() {
		t.Error("the guard was gone")
	}
}

// Invariant 12, generation: the program lists exactly the declared points.
func TestThePointsAreTheDeclaredOnes(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "../../spec/agentspec/points.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	declared := make(map[string]string)
	ast.Inspect(file, func(n ast.Node) bool {
		i, ok := n.(*ast.InterfaceType)
		if !ok {
			return true
		}
		for _, m := range i.Methods.List {
			if f, ok := m.Type.(*ast.FuncType); ok && len(m.Names) == 1 {
				text := types.ExprString(f.Params.List[0].Type) + ":"
				if f.Results != nil {
					for _, r := range f.Results.List {
						text += " " + strings.TrimPrefix(types.ExprString(r.Type), "spec.")
					}
				}
				declared[m.Names[0].Name] = text
				if m.Doc.Text() == "" {
					t.Errorf("%s says nothing of when it fires", m.Names[0].Name)
				}
			}
		}
		return false
	})
	points := new(agent.Hooks).Points()
	for _, p := range points {
		results := strings.NewReplacer("spec.", "", ",", "", "(", "", ")", "").Replace(p.Results)
		if got := strings.TrimSpace(fmt.Sprintf("%s: %s", p.Payload, results)); got != strings.TrimSpace(declared[p.Name]) {
			t.Errorf("%s is %q, declared %q", p.Name, got, declared[p.Name])
		}
	}
	if len(points) != len(declared) || len(points) < 29 {
		t.Errorf("%d points, %d declared", len(points), len(declared))
	}
}

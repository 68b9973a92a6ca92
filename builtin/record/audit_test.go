package record_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/record"
	"github.com/hookgen/hookgen/builtin/redact"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/hooklog"
	"github.com/hookgen/hookgen/hookkit/wire"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// auditEvents returns the events of a log.
func auditEvents(t testing.TB, path string) []hooklog.Event {
	t.Helper()
	var out []hooklog.Event
	for e, err := range hooklog.Read(bytes.NewReader(fixture.ReadFile(t, path))) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, e)
	}
	return out
}

// payloadOf returns the payload of an event as the hooks left it.
func payloadOf[T any](t testing.TB, e hooklog.Event) (v T) {
	t.Helper()
	text := e.Payload
	if e.Final != nil {
		text = e.Final
	}
	if err := json.Unmarshal(text, &v); err != nil {
		t.Errorf("%s: %v", text, err)
	}
	return v
}

func auditPoints(events []hooklog.Event) string {
	var points []string
	for _, e := range events {
		points = append(points, e.Point)
	}
	return strings.Join(points, " ")
}

func auditOf(events []hooklog.Event, point string) (out []hooklog.Event) {
	for _, e := range events {
		if e.Point == point {
			out = append(out, e)
		}
	}
	return out
}

func verified(t testing.TB, path string, check record.AuditCheck) record.AuditState {
	t.Helper()
	state, err := record.VerifyAudit(bytes.NewReader(fixture.ReadFile(t, path)), check)
	if err != nil {
		t.Errorf("the chain is broken: %v", err)
	}
	return state
}

func TestAuditWritesOneLinePerEvent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "made", "audit.jsonl")
	ran := looptest.Harness{
		Agent: &loop.Agent{Name: "clerk"},
		Turns: []looptest.Turn{looptest.Call("read", `{"path":"a.txt"}`),
			looptest.Reply("done").Uses(agent.Usage{Input: 7, Output: 2})},
		Tools: []agent.Tool{&looptest.Tool{Name: "read", Result: "hello"}},
		Hooks: []agent.Hook{&record.Audit{Path: path}},
	}.Run(t, "go")
	records := auditEvents(t, path)
	if got := auditPoints(records); got != "AfterLLM BeforeTool AfterTool AfterLLM OnRunEnd" {
		t.Fatalf("recorded: %s", got)
	}
	for i, line := range strings.Split(strings.TrimSpace(string(fixture.ReadFile(t, path))), "\n") {
		if !json.Valid([]byte(line)) {
			t.Errorf("line %d is no JSON: %s", i+1, line)
		}
	}
	run := records[0].Run.ID
	for i, r := range records {
		if r.Seq != int64(i+1) || r.Run.ID != run || run == "" || r.Run.Parent != "" ||
			time.Since(r.Time).Abs() > time.Hour || r.Time.Location() != time.UTC {
			t.Errorf("record %d: %+v", i, r)
		}
	}
	if r := payloadOf[agent.ToolCallResult](t, records[2]); r.Call.Name != "read" || r.Call.ID != "call_1_1" ||
		string(r.Call.Args) != `{"path":"a.txt"}` || r.Output != "hello" || r.Status != agent.CallSucceeded ||
		r.Call.Step != 1 || r.Attempts != 1 {
		t.Errorf("AfterTool: %+v", r)
	}
	if b := payloadOf[agent.ToolCallRequest](t, records[1]); b.Name != "read" || b.Step != 1 {
		t.Errorf("BeforeTool: %+v", b)
	}
	if l := payloadOf[agent.LLMResponse](t, records[3]); l.Content != "done" || l.Step != 2 || l.Usage.Input != 7 {
		t.Errorf("AfterLLM: %+v", l)
	}
	if e := payloadOf[agent.AgentResult](t, records[4]); e.Reply != "done" || e.Err != "" ||
		e.Stop.Cause != agent.CauseCompleted {
		t.Errorf("OnRunEnd: %+v", e)
	}
	if state := verified(t, path, record.AuditCheck{}); state.Records != 5 || state.Seq != 5 {
		t.Errorf("state: %+v", state)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if ran.Failed != nil {
		t.Error(ran.Failed)
	}
}

func TestAuditNamesHookAndReason(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	cache := agent.BeforeToolFunc(func(_ context.Context, _ *agent.Run,
		call agent.ToolCallRequest) (agent.BeforeToolOutcome, error) {
		switch call.Name {
		case "cached":
			return agent.SkipTool{Result: agent.ToolCallResult{Output: "from the cache"}, Reason: "cache hit"}, nil
		case "wide":
			return agent.ReplaceBeforeTool(agent.ToolCallRequest{Name: "wide", Args: json.RawMessage(`{"n":1}`)}, "clamped"), nil
		case "broken":
			return nil, errors.New("the guard is broken")
		}
		return nil, nil
	})
	var hooks agent.Hooks
	hooks.Use(&record.Audit{Path: path})
	hooks.Use(cache, hookkit.Named("cache"))
	hooks.Use(fixture.DenyTool("rm", "never"), hookkit.Named("guard"))
	hooks.Use(agent.OnPermissionFunc(func(context.Context, *agent.Run, agent.ToolCallRequest) (agent.OnPermissionOutcome,
		error) {
		return agent.Allow{Reason: "all fine"}, nil
	}), hookkit.Named("optimist"))
	hooks.Use(agent.ShouldStopFunc(func(_ context.Context, _ *agent.Run, s agent.Step) ([]agent.EndRun, error) {
		if s.Number == 1 {
			return []agent.EndRun{{Cause: agent.CauseStopRequested, Message: "enough", By: "stopper"}}, nil
		}
		return nil, nil
	}))
	looptest.Harness{
		Agent: &loop.Agent{Hooks: &hooks},
		Turns: []looptest.Turn{looptest.Calls(looptest.Call("cached", nil), looptest.Call("wide", `{"n":100}`),
			looptest.Call("rm", nil), looptest.Call("broken", nil), looptest.Call("failing", nil))},
		Tools: []agent.Tool{&looptest.Tool{Name: "cached"}, &looptest.Tool{Name: "wide"}, &looptest.Tool{Name: "rm"},
			&looptest.Tool{Name: "broken"}, &looptest.Tool{Name: "failing", Err: errors.New("no disk")}},
	}.Run(t, "go")
	records := auditEvents(t, path)
	verified(t, path, record.AuditCheck{})

	before, after := auditOf(records, "BeforeTool"), auditOf(records, "AfterTool")
	if len(before) != 5 || len(after) != 5 {
		t.Fatalf("recorded: %s", auditPoints(records))
	}
	if r := before[0]; r.By != "cache" || r.Decision != "SkipTool" || r.Reason != "cache hit" || r.Site == "" ||
		!strings.Contains(string(r.Value), "from the cache") {
		t.Errorf("skip: %+v", r)
	}
	if r := before[1]; r.Decision != wire.Replace || r.Reason != "clamped" ||
		!strings.Contains(string(r.Final), `{"n":1}`) || !strings.Contains(string(r.Payload), `{"n":100}`) ||
		!strings.Contains(string(r.Payload), "call_1_2") {
		t.Errorf("replace: %+v", r)
	}
	if r := before[3]; len(r.Failures) != 1 || r.Failures[0].By != "cache" ||
		!strings.Contains(r.Error, "the guard is broken") {
		t.Errorf("failure: %+v", r)
	}
	for i, want := range []struct {
		status  agent.CallStatus
		by, why string
	}{
		{agent.CallSkipped, "cache", "cache hit"}, {agent.CallSucceeded, "", ""}, {agent.CallRefused, "guard", "never"},
		{agent.CallRefused, "cache", "the guard is broken"}, {agent.CallFailed, "", ""},
	} {
		if r := payloadOf[agent.ToolCallResult](t, after[i]); r.Status != want.status || r.By != want.by ||
			r.Reason != want.why {
			t.Errorf("result %d: %+v, want %+v", i, r, want)
		}
	}
	votes := auditOf(records, "OnPermission")
	if len(votes) != 4 { // the call with the failing guard was refused earlier
		t.Fatalf("votes: %+v", votes)
	}
	if r := votes[2]; r.By != "guard" || r.Decision != "Deny" || len(r.Ballots) != 2 || r.Ballots[1].By != "optimist" ||
		r.Ballots[1].Reason != "all fine" {
		t.Errorf("vote: %+v", r)
	}
	if d := auditOf(records, "OnPermissionDenied"); len(d) != 1 || payloadOf[agent.Denial](t, d[0]).By != "guard" ||
		payloadOf[agent.Denial](t, d[0]).Reason != "never" {
		t.Errorf("denials: %+v", d)
	}
	if e := auditOf(records, "OnToolError"); len(e) != 1 || payloadOf[agent.ToolFailure](t, e[0]).Err != "no disk" ||
		payloadOf[agent.ToolFailure](t, e[0]).Attempt != 1 {
		t.Errorf("errors: %+v", e)
	}
	if s := auditOf(records, "ShouldStop"); len(s) != 1 || !strings.Contains(string(s[0].Collected), "stopper") {
		t.Errorf("stops: %+v", s)
	}
	if e := auditOf(records, "OnRunEnd"); len(e) != 1 ||
		payloadOf[agent.AgentResult](t, e[0]).Stop.Cause != agent.CauseStopRequested {
		t.Errorf("end: %+v", e)
	}
}

type yesTo string

func (y yesTo) Approve(_ context.Context, q agent.Question) (agent.Approval, error) {
	return agent.Approval{Allow: q.Call.Name == string(y), Reason: "not that one"}, nil
}

func TestAuditRecordsDecisionsOfPeople(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	ask := agent.OnPermissionFunc(func(_ context.Context, _ *agent.Run,
		call agent.ToolCallRequest) (agent.OnPermissionOutcome, error) {
		if call.Name == "free" {
			return nil, nil
		}
		return agent.Ask{Prompt: "may it?", Reason: "risky"}, nil
	})
	var hooks agent.Hooks
	hooks.Use(&record.Audit{Path: path})
	hooks.Use(ask, hookkit.Named("confirm"))
	looptest.Harness{
		Agent: &loop.Agent{Hooks: &hooks, Approver: yesTo("deploy")},
		Turns: []looptest.Turn{looptest.Calls(looptest.Call("deploy", nil), looptest.Call("rm", nil),
			looptest.Call("free", nil)), looptest.Reply("done")},
		Tools: []agent.Tool{&looptest.Tool{Name: "deploy"}, &looptest.Tool{Name: "rm"}, &looptest.Tool{Name: "free"}},
	}.Run(t, "go")
	records := auditEvents(t, path)
	verified(t, path, record.AuditCheck{})
	if q := auditOf(records, "OnPermission"); len(q) != 2 || q[0].By != "confirm" || q[0].Decision != "Ask" ||
		q[0].Reason != "risky" || !strings.Contains(string(q[0].Value), "may it?") {
		t.Errorf("questions: %+v", q)
	}
	if d := auditOf(records, "OnPermissionDenied"); len(d) != 1 {
		t.Errorf("denials: %+v", d)
	} else if r := payloadOf[agent.Denial](t, d[0]); r.Call.Name != "rm" || r.Reason != "not that one" ||
		r.Kind != agent.DeniedByPerson {
		t.Errorf("denial: %+v", r)
	}
	if g := auditOf(records, "OnPermissionGranted"); len(g) != 1 {
		t.Errorf("grants: %+v", g)
	} else if r := payloadOf[agent.Grant](t, g[0]); r.Call.Name != "deploy" || r.Question.By != "confirm" {
		t.Errorf("grant: %+v", r)
	}
}

func TestAuditRecordsModelAndSubRunFailures(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	log := &record.Audit{Path: path}
	helper := &loop.Agent{Name: "helper", Model: looptest.NewScript(looptest.Error(errors.New("no line"))),
		Hooks: loop.Hooks(log)}
	looptest.Harness{
		Turns: []looptest.Turn{looptest.Call("helper", `{"task":"x"}`), looptest.Reply("done")},
		Tools: []agent.Tool{loop.Subagent(helper)},
		Hooks: []agent.Hook{log, log},
	}.Run(t, "go")
	records := auditEvents(t, path)
	verified(t, path, record.AuditCheck{})
	var inner []hooklog.Event
	for _, r := range records {
		if r.Run.Parent != "" {
			inner = append(inner, r)
		}
	}
	if got := auditPoints(inner); got != "OnRunError OnRunEnd" {
		t.Fatalf("of the sub-run: %s", got)
	}
	if r := payloadOf[agent.RunError](t, inner[0]); r.Err != "no line" || inner[0].Run.Parent != records[0].Run.ID {
		t.Errorf("model failure: %+v of %+v", r, inner[0].Run)
	}
	if got := len(auditOf(records, "OnRunEnd")); got != 2 {
		t.Errorf("%d ends of two runs: used three times, a line was doubled: %s", got, auditPoints(records))
	}
}

func TestAuditBoundTwiceRecordsOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	log := &record.Audit{Path: path}
	var hooks agent.Hooks
	first := hooks.Use(log)
	hooks.Use(log)
	run := agent.NewRun(&agent.Env{})
	fire := func(n int) {
		call := agent.ToolCallRequest{ID: fmt.Sprint(n), Name: "x"}
		_, _ = hooks.BeforeTool.Fire(t.Context(), run, &call)
	}
	fire(1)
	fire(2)
	first.Remove()
	fire(3)
	hooks.Use(log, hookkit.Priority(100))
	fire(4)
	hooks.Use(log)
	fire(5)
	var ids []string
	for _, r := range auditEvents(t, path) {
		ids = append(ids, payloadOf[agent.ToolCallRequest](t, r).ID)
	}
	if got := strings.Join(ids, ""); got != "12345" {
		t.Errorf("recorded the calls %s, want each once", got)
	}
}

func TestAuditRedactsBeforeItTruncates(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	var hooks agent.Hooks
	hooks.Use(&record.Audit{Path: path, Points: []string{record.AllPoints}, MaxChars: 40})
	run := agent.NewRun(&agent.Env{Agent: "a"})
	ctx := t.Context()
	long := strings.Repeat("x", 30) + " password=hunter2hunter2 and " + strings.Repeat("y", 100)
	call := agent.ToolCallRequest{ID: "1", Name: "curl", Args: json.RawMessage(
		`{"url":"https://bob:hunter2@h/","deep":[{"Api-Key":"hunter2"}],"body":"{\"password\":\"hunter2\"}","n":3,"long":"` +
			long + `"}`)}
	_, _ = hooks.BeforeTool.Fire(ctx, run, &call)
	bad := agent.ToolCallRequest{ID: "2", Name: "x", Args: json.RawMessage(`{"password":"hunter2"`)}
	_, _ = hooks.BeforeTool.Fire(ctx, run, &bad)
	result := agent.ToolCallResult{Call: call, Output: "bob@example.org " + long, Err: "token=hunter2"}
	_, _ = hooks.AfterTool.Fire(ctx, run, &result)
	hooks.OnRunEnd.Fire(ctx, run,
		agent.AgentResult{Reply: long,
			Stop: agent.EndRun{Cause: agent.CauseUnknown, Detail: map[string]any{"secret": "hunter2"}}})
	big := agent.ToolCallRequest{ID: "3", Name: strings.Repeat("n", 5<<20),
		Args: json.RawMessage(`{"a":"` + strings.Repeat("z", 5<<20) + `"}`)}
	_, _ = hooks.BeforeTool.Fire(ctx, run, &big)
	many := agent.ToolCallRequest{ID: "4", Name: "x",
		Args: json.RawMessage(`[` + strings.Repeat("[1],", 20000) + strings.Repeat("[", 500) + strings.Repeat("]",
			500) + `]`)}
	_, _ = hooks.BeforeTool.Fire(ctx, run, &many)
	pem := agent.ToolCallResult{Output: strings.Repeat("k ",
		15) + "-----BEGIN PRIVATE KEY-----\n" + strings.Repeat("hunter2\n", 100000)}
	_, _ = hooks.AfterTool.Fire(ctx, run, &pem)

	data := fixture.ReadFile(t, path)
	if bytes.Contains(data, []byte("hunter2")) || bytes.Contains(data, []byte("bob")) {
		t.Errorf("a secret is in the file:\n%.2000s", data)
	}
	if len(data) > 100_000 {
		t.Errorf("the file has %d bytes", len(data))
	}
	records := auditEvents(t, path)
	if len(records) != 7 {
		t.Fatalf("%d records: %s", len(records), auditPoints(records))
	}
	want := `{"body":"{\"password\":\"[REDACTED]\"}","deep":[{"Api-Key":"[REDACTED]"}],"long":"` + strings.Repeat("x",
		30) + ` password…","n":3,"url":"https://[REDACTED:url-credentials]@h/"}`
	if got := payloadOf[agent.ToolCallRequest](t, records[0]).Args; string(got) != want {
		t.Errorf("args: %s\nwant  %s", got, want)
	}
	if got := payloadOf[agent.ToolCallRequest](t, records[1]).Args; string(got) != `{"password":"[REDACTED]"` {
		t.Errorf("args that are no JSON: %s", got)
	}
	if r := payloadOf[agent.ToolCallResult](t, records[2]); len([]rune(r.Output)) != 40 || r.Err != "token=[REDACTED]" {
		t.Errorf("result: %q %q", r.Output, r.Err)
	}
	verified(t, path, record.AuditCheck{})
}

func TestAuditCanKeepEverything(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	var hooks agent.Hooks
	hooks.Use(&record.Audit{Path: path, Points: []string{}, MaxChars: limit.None,
		Redact: redact.Redactor{KeepSecrets: true, KeepPersonal: true}})
	long := "password=x " + strings.Repeat("y", 5000)
	hooks.Use(agent.BeforeToolFunc(func(context.Context, *agent.Run, agent.ToolCallRequest) (agent.BeforeToolOutcome,
		error) {
		return agent.EndTurn{Reason: long}, nil
	}))
	run := agent.NewRun(nil)
	call := agent.ToolCallRequest{ID: "1"}
	_, _ = hooks.BeforeTool.Fire(t.Context(), run, &call)
	hooks.OnRunEnd.Fire(t.Context(), run, agent.AgentResult{})
	records := auditEvents(t, path)
	if len(records) != 1 || records[0].Reason != long {
		t.Errorf("decisions alone, uncut: %+v", records)
	}
}

func TestAuditReportsWriteFailures(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "audit.jsonl")
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var reported []error
	log := &record.Audit{Path: path, OnError: func(err error) {
		mu.Lock()
		defer mu.Unlock()
		reported = append(reported, err)
		panic("and the report fails, too")
	}}
	var hooks agent.Hooks
	hooks.Use(log)
	run := agent.NewRun(&agent.Env{})
	fire := func() {
		call := agent.ToolCallRequest{ID: "1", Name: "x"}
		if exit, err := hooks.BeforeTool.Fire(t.Context(), run, &call); exit != nil || err != nil {
			t.Errorf("the run was stopped: %v %v", exit, err)
		}
	}
	fire()
	fire()
	if len(reported) != 2 || !strings.Contains(reported[1].Error(), "2 so far") ||
		!strings.Contains(reported[0].Error(), "no regular file") {
		t.Errorf("reported: %v", reported)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	fire()
	if s := verified(t, path, record.AuditCheck{}); s.Records != 1 || s.Lost != 2 {
		t.Errorf("state: %+v", s)
	}

	notes := filepath.Join(dir, "notes.txt")
	if err := os.WriteFile(notes, []byte("dear diary\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	log.Path = notes // another file is another log
	fire()
	if got := string(fixture.ReadFile(t, notes)); got != "dear diary\n" ||
		!strings.Contains(reported[2].Error(), "no record") {
		t.Errorf("another file was written to: %q, %v", got, reported)
	}
}

func TestInvalidAuditPanicsInBind(t *testing.T) {
	for want, log := range map[string]*record.Audit{
		"Path is empty":                        {},
		"Sync is for a file":                   {Store: new(lineStore), Sync: true},
		"Path and HeadFile are the same file":  {Path: "x", HeadFile: "x"},
		`Points names "BeforTool"`:             {Path: "x", Points: []string{"BeforTool"}},
		"record.Audit: Points names \"after\"": {Path: "x", Points: []string{"after"}},
	} {
		t.Run(want, func(t *testing.T) {
			defer func() {
				if v := fmt.Sprint(recover()); !strings.Contains(v, want) {
					t.Errorf("panicked with %q, want %q", v, want)
				}
			}()
			new(agent.Hooks).Use(log)
		})
	}
}

func TestParallelRunsShareOneAudit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	var hooks agent.Hooks
	hooks.Use(&record.Audit{Path: path})
	a := &loop.Agent{Hooks: &hooks, Tools: []agent.Tool{&looptest.Tool{Name: "x"}},
		Model: looptest.NewScript(looptest.Calls(looptest.Call("x", nil), looptest.Call("x", nil), looptest.Call("x", nil)),
			looptest.Reply("ok")).ForEachRun()}
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			if _, err := a.Run(t.Context(), "go"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if s := verified(t, path, record.AuditCheck{}); s.Records != 10*(2+3+3+1) {
		t.Errorf("state: %+v", s)
	}
}

package record_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/hookgen/hookgen/builtin/record"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/hooklog"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// A run is recorded and then replayed without the model.
func ExampleReplay() {
	dir, err := os.MkdirTemp("", "recorded-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	ask := func(model agent.Model, hooks ...agent.Hook) {
		a := &loop.Agent{Name: "guide", Model: model, Tools: []agent.Tool{&looptest.Tool{Name: "look", Result: "a door"}},
			Hooks: loop.Hooks(hooks...)}
		result, err := a.Run(context.Background(), "where am I?")
		fmt.Println(result.Reply, err)
	}

	ask(looptest.NewScript(looptest.Call("look", nil), looptest.Reply("at a door")),
		&record.Provenance{Dir: dir, OneRun: true})

	again, err := record.Replay(dir)
	if err != nil {
		panic(err)
	}
	ask(again)
	// Output:
	// at a door <nil>
	// at a door <nil>
}

// The steps of a run can be read one by one.
func ExampleReadTrajectory() {
	dir, err := os.MkdirTemp("", "trajectory-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	a := &loop.Agent{
		Name:  "guide",
		Model: looptest.NewScript(looptest.Call("look", nil), looptest.Reply("at a door")),
		Tools: []agent.Tool{&looptest.Tool{Name: "look", Result: "a door"}},
		Hooks: loop.Hooks(&record.Provenance{Dir: dir, OneRun: true}),
	}
	if _, err := a.Run(context.Background(), "where am I?"); err != nil {
		panic(err)
	}

	run, err := record.ReadTrajectory(dir)
	fmt.Println(run.Task, run.Reply, len(run.Steps), err)
	fmt.Println(run.Steps[0].ToolCall.Tool, run.Steps[0].ToolResult.Data)
	// Output:
	// where am I? at a door 2 <nil>
	// look a door
}

func ExampleAudit() {
	dir, _ := os.MkdirTemp("", "audit")
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "audit.jsonl")

	var hooks agent.Hooks
	hooks.Use(&record.Audit{Path: path})
	hooks.OnPermission.Add(agent.OnPermissionFunc(func(_ context.Context, _ *agent.Run,
		call agent.ToolCallRequest) (agent.OnPermissionOutcome, error) {
		return agent.Deny{Reason: "no shell today"}, nil
	}), hookkit.Named("no-shell"))

	run := agent.NewRun(&agent.Env{Agent: "clerk"})
	_, _ = hooks.OnPermission.Fire(context.Background(), run, agent.ToolCallRequest{
		ID: "call_1", Name: "bash", Args: json.RawMessage(`{"command":"deploy --token abc123"}`),
	})

	f, _ := os.Open(path)
	defer f.Close()
	for e, err := range hooklog.Read(f) {
		var call agent.ToolCallRequest
		_ = json.Unmarshal(e.Payload, &call)
		fmt.Println(e.Seq, e.Point, e.By, e.Decision, e.Reason, string(call.Args), err)
	}
	_, _ = f.Seek(0, io.SeekStart)
	state, err := record.VerifyAudit(f, record.AuditCheck{})
	fmt.Println(state.Records, err)
	// Output:
	// 1 OnPermission no-shell Deny no shell today {"command":"deploy --token [REDACTED]"} <nil>
	// 1 <nil>
}

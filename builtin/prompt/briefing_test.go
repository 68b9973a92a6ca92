package prompt_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/prompt"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/loop/looptest"
)

// brief returns the contribution of the hook to one fire of Briefing.
func brief(h agent.Hook, run *agent.Run, step agent.Step) []string {
	var hooks agent.Hooks
	hooks.Use(h)
	return hooks.Briefing.Fire(context.Background(), run, step)
}

func ExampleStatic() {
	hooks := new(agent.Hooks)
	hooks.Use(&prompt.Static{Text: "Prices are in euros."})
	start := agent.RunStart{Instructions: "Sell bicycles."}
	_, err := hooks.OnRunStart.Fire(context.Background(), agent.NewRun(nil), &start)
	fmt.Println(start.Instructions, err)
	// Output:
	// Sell bicycles.
	//
	// Prices are in euros. <nil>
}

func ExampleStaged() {
	h := &prompt.Staged{Stages: map[int]string{
		1: "Start by listing all changed files to understand scope.",
		3: "Focus on security-sensitive patterns: auth, crypto, SQL.",
	}}
	for n := range 3 {
		fmt.Println(n+1, brief(h, agent.NewRun(nil), agent.Step{Number: n + 1}))
	}
	// Output:
	// 1 [Start by listing all changed files to understand scope.]
	// 2 []
	// 3 [Focus on security-sensitive patterns: auth, crypto, SQL.]
}

func ExampleFailureNote() {
	last := &agent.StepResult{Results: []agent.ToolCallResult{
		{Call: agent.ToolCallRequest{Name: "list"}, Output: "a.go"},
		{Call: agent.ToolCallRequest{Name: "read"}, Err: "no such file"},
	}}
	fmt.Println(brief(&prompt.FailureNote{}, agent.NewRun(nil), agent.Step{Number: 2, Last: last}))
	// Output: [⚠ read failed: no such file]
}

func ExampleFailureHint() {
	failed := &agent.StepResult{Results: []agent.ToolCallResult{{Err: "no such file"}}}
	h := &prompt.FailureHint{Text: "List the directory before you read a file."}
	fmt.Println(brief(h, agent.NewRun(nil), agent.Step{Number: 2, Last: failed}))
	fmt.Println(brief(h, agent.NewRun(nil), agent.Step{Number: 3, Last: &agent.StepResult{}}))
	// Output:
	// [List the directory before you read a file.]
	// []
}

func ExampleWorkingTheory() {
	var hooks agent.Hooks
	hooks.Use(&prompt.WorkingTheory{})
	ctx, run := context.Background(), agent.NewRun(nil)
	fmt.Println(hooks.Briefing.Fire(ctx, run, agent.Step{Number: 1}))
	call := agent.ToolCallRequest{Name: "grep", Args: []byte(`{"for":"open(","__theory__":"a file is left open"}`)}
	_, _ = hooks.BeforeTool.Fire(ctx, run, &call)
	fmt.Println(hooks.Briefing.Fire(ctx, run, agent.Step{Number: 2}))
	// Output:
	// [Current working theory: No theory yet]
	// [Current working theory: a file is left open]
}

func TestStaticReadsItsFileOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "briefing.md")
	for content, want := range map[string]string{"line one\nline two\n\n": "line one\nline two", " \n": "", "": "",
		"a\xff": "a\ufffd"} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		var hooks agent.Hooks
		hooks.Use(&prompt.Static{Path: path})
		_ = os.Remove(path) // it was read by Use
		var start agent.RunStart
		if _, err := hooks.OnRunStart.Fire(t.Context(), agent.NewRun(nil), &start); err != nil || start.Instructions != want {
			t.Errorf("the instructions are %q, %v; want %q", start.Instructions, err, want)
		}
	}
}

func TestStaticNeedsTextOrPath(t *testing.T) {
	large := filepath.Join(t.TempDir(), "large")
	if err := os.WriteFile(large, make([]byte, 1<<20+1), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, b := range map[string]prompt.Static{
		"prompt.Static: neither Text nor Path is set": {},
		"Text and Path are both set":                  {Text: "a", Path: "b"},
		"Path cannot be read":                         {Path: filepath.Join(t.TempDir(), "none")},
		"has more than 1048576 bytes":                 {Path: large},
	} {
		t.Run(want, func(t *testing.T) {
			fixture.MustPanic(t, want, func() { new(agent.Hooks).Use(&b) })
		})
	}
	if _, err := os.Stat("/dev/zero"); err == nil { // an endless file
		fixture.MustPanic(t, "not a regular file", func() { new(agent.Hooks).Use(&prompt.Static{Path: "/dev/zero"}) })
	}
}

func TestStagedSkipsStepsWithoutText(t *testing.T) {
	h := &prompt.Staged{Stages: map[int]string{2: " "}}
	for n := range 4 {
		if got := brief(h, agent.NewRun(nil), agent.Step{Number: n}); got != nil {
			t.Errorf("step %d: %q", n, got)
		}
	}
	if got := brief(&prompt.Staged{}, agent.NewRun(nil), agent.Step{Number: 1}); got != nil {
		t.Errorf("got %q", got)
	}
	fixture.MustPanic(t, "prompt.Staged: Stages has a text for step 0", func() {
		new(agent.Hooks).Use(&prompt.Staged{Stages: map[int]string{0: "x"}})
	})
}

func TestFailureNoteShowsOnlyFailures(t *testing.T) {
	broken := &looptest.Tool{Name: "broken", Err: errors.New("disk\nfull " + strings.Repeat("ä", 200))}
	ran := looptest.Harness{
		Turns: []looptest.Turn{
			looptest.Calls(looptest.Call("fine", nil), looptest.Call("broken", nil), looptest.Call("nobody", nil)),
			looptest.Call("fine", nil),
			looptest.Reply("ok"),
		},
		Tools: []agent.Tool{broken, &looptest.Tool{Name: "fine"}},
		Hooks: []agent.Hook{&prompt.FailureNote{}, &prompt.FailureHint{Text: "hint"}, &prompt.FailureHint{}},
	}.Run(t, "x")
	requests := ran.Script.Requests()
	if len(requests) != 3 || fixture.Briefing(requests[0]) != "" || fixture.Briefing(requests[2]) != "" {
		t.Errorf("briefed %q and %q", fixture.Briefing(requests[0]), fixture.Briefing(requests[2]))
	}
	lines := strings.Split(fixture.Briefing(requests[1]), "\n")
	if len(lines) != 4 || lines[0] != "⚠ broken failed: disk full "+strings.Repeat("ä", 89)+"…" ||
		!strings.HasPrefix(lines[1], `⚠ nobody failed: there is no tool "nobody"`) || lines[3] != "hint" {
		t.Errorf("briefed %q", lines)
	}
}

func TestFailureNoteCountsFurtherFailures(t *testing.T) {
	for failures, want := range map[int]string{
		10: "\n⚠ t9 failed: e",
		11: "\n⚠ t9 failed: e\n⚠ 1 more calls failed",
		13: "\n⚠ t9 failed: e\n⚠ 3 more calls failed",
	} {
		t.Run(fmt.Sprint(failures), func(t *testing.T) {
			last := &agent.StepResult{Results: make([]agent.ToolCallResult, failures)}
			for i := range last.Results {
				last.Results[i] = agent.ToolCallResult{Call: agent.ToolCallRequest{Name: fmt.Sprint("t", i)}, Err: "e"}
			}
			got := brief(&prompt.FailureNote{}, agent.NewRun(nil), agent.Step{Last: last})
			if len(got) != 1 || strings.Count(got[0], "\n") != min(failures-1, 10) || !strings.HasSuffix(got[0], want) {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestFailureNoteIsAbsentWithoutFailures(t *testing.T) {
	last := &agent.StepResult{Results: []agent.ToolCallResult{{Call: agent.ToolCallRequest{Name: "fine"}}}}
	if got := brief(&prompt.FailureNote{}, agent.NewRun(nil), agent.Step{Last: last}); len(got) != 0 {
		t.Errorf("got %q", got)
	}
}

func TestWorkingTheoryKeepsLastTheory(t *testing.T) {
	plain := &looptest.Tool{Name: "plain",
		Parameters: `{"type":"object","properties":{"path":{"type":"string"},"line":{}},"additionalProperties":false}`}
	declares := &looptest.Tool{Name: "declares",
		Parameters: `{"type":"object","properties":{"__theory__":{"type":"string"}}}`}
	tested := looptest.Harness{
		Turns: []looptest.Turn{
			looptest.Calls(
				looptest.Call("plain", `{"path" : "a&b", "__theory__":"first", "line":7}`),
				looptest.Call("declares", `{"__theory__":"second\nline"}`),
			),
			looptest.Calls(looptest.Call("plain", `{"path":"c","__theory__":" "}`),
				looptest.Call("plain", `{"__theory__":null}`)),
			looptest.Call("nobody", `{"__theory__":{"a": [1]}}`),
			looptest.Call("plain", `{"__theory__":"broken"} x`),
			looptest.Reply("ok"),
			looptest.Reply("next run"),
		},
		Tools: []agent.Tool{plain, declares},
		Hooks: []agent.Hook{&prompt.WorkingTheory{}},
	}.Make()
	for range 2 {
		if _, err := tested.Agent.Run(t.Context(), "x"); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"No theory yet", "second line", "second line", `{"a": [1]}`, `{"a": [1]}`, "No theory yet"}
	for i, req := range tested.Script.Requests() {
		if got := fixture.Briefing(req); got != "Current working theory: "+want[i] {
			t.Errorf("prompt %d is briefed %q, want %q", i, got, want[i])
		}
	}
	var args []string
	for _, c := range append(plain.Calls(), declares.Calls()...) {
		args = append(args, string(c.Args))
	}
	slices.Sort(args) // calls of one reply run in parallel
	if got := strings.Join(args, " "); got != `{"__theory__":"second\nline"} {"path":"a&b","line":7} {"path":"c"} {}` {
		t.Errorf("the tools got %s", got)
	}
}

func TestWorkingTheoryIsShortened(t *testing.T) {
	var hooks agent.Hooks
	hooks.Use(&prompt.WorkingTheory{})
	run := agent.NewRun(nil)
	call := agent.ToolCallRequest{Args: []byte(`{"__theory__":"` + strings.Repeat("日", 600) + `"}`)}
	_, _ = hooks.BeforeTool.Fire(t.Context(), run, &call)
	got := hooks.Briefing.Fire(t.Context(), run, agent.Step{})
	if want := "Current working theory: " + strings.Repeat("日", 499) + "…"; len(got) != 1 || got[0] != want {
		t.Errorf("got %q", got)
	}
	if !strings.Contains(string(call.Args), "__theory__") {
		t.Error("the argument was taken out although nobody knows the tool")
	}
}

func TestWorkingTheoryReadsRefusedCalls(t *testing.T) {
	ran := looptest.Harness{
		Turns: []looptest.Turn{looptest.Call("work", `{"__theory__":"heard"}`), looptest.Reply("ok")},
		Tools: []agent.Tool{&looptest.Tool{Name: "work"}},
		Hooks: []agent.Hook{&prompt.WorkingTheory{}, refuseFirst{}},
	}.Run(t, "x")
	if got := fixture.Briefing(ran.Script.Requests()[1]); got != "Current working theory: heard" {
		t.Errorf("briefed %q", got)
	}
}

// refuseFirst refuses every call before other hooks run.
type refuseFirst struct{}

func (refuseFirst) Bind(h *agent.Hooks) { h.BeforeTool.Add(refuseFirst{}, hookkit.Priority(1000)) }

func (refuseFirst) BeforeTool(context.Context, *agent.Run, agent.ToolCallRequest) (agent.BeforeToolOutcome, error) {
	return agent.SkipTool{Result: agent.ToolCallResult{Err: "no"}, Reason: "no"}, nil
}

package prompt_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/prompt"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop/looptest"
)

// writing returns the result of a call of the tool.
func writing(t testing.TB, args string) (string, error) {
	t.Helper()
	return prompt.TodoTool{}.Call(t.Context(), agent.ToolCallRequest{Args: json.RawMessage(args)})
}

func TestTaskListIsText(t *testing.T) {
	for args, want := range map[string]string{
		`{"tasks":[{"task":"write","status":"done"},{"task":"test","status":"in_progress"},` +
			`{"task":"ship","status":"pending"}]}`: "1. [x] write\n2. [>] test\n3. [ ] ship",
		`{"tasks":[{"task":"a\n2. [x] b","status":"done"}]}`: "1. [x] a 2. [x] b",
		`{"tasks":[]}`: "The list is empty.",
		`{"tasks":[{"task":"a","status":"new"}]}`:   "task 1 needs a text, and the status",
		`{"tasks":[{"task":"\n","status":"done"}]}`: "task 1 needs a text, and the status",
		`{"tasks":"a"}`: "the arguments cannot be read",
		`{"tasks":[` + strings.Repeat(`{"task":"a","status":"done"},`, 30) + `null]}`: "there are 31 tasks",
	} {
		got, err := writing(t, args)
		var wrong *agent.ToolError
		if errors.As(err, &wrong) {
			got = wrong.Message
		}
		if !strings.HasPrefix(got, want) {
			t.Errorf("%.60s: got %q, %v", args, got, err)
		}
	}
}

func TestPromptsShowTheWrittenList(t *testing.T) {
	ran := looptest.Harness{
		Turns: []looptest.Turn{
			looptest.Call("todo_write", `{"tasks":[{"task":"write","status":"in_progress"}]}`), looptest.Reply("ok"),
		},
		Tools: []agent.Tool{prompt.TodoTool{}}, Hooks: []agent.Hook{&prompt.Todo{Every: 2}},
	}.Run(t, "go")
	got := fixture.Briefing(ran.Script.Requests()[1])
	if !strings.HasPrefix(got, "Current task list:\n1. [>] write") {
		t.Errorf("the briefing is %q", got)
	}
}

// FuzzTodoTool writes any list: it has a line for each task, and fits into a prompt.
func FuzzTodoTool(f *testing.F) {
	f.Add(`{"tasks":[{"task":"write","status":"done"},{"task":"a\nb","status":"pending"}]}`)
	f.Add(`{"tasks":[null]}`)
	f.Fuzz(func(t *testing.T, args string) {
		got, err := writing(t, args)
		if err == nil && (strings.Count(got, "\n") >= 30 || len([]rune(got)) > 4000) {
			t.Errorf("the list has %d characters: %q", len([]rune(got)), got)
		}
	})
}

package prompt

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/generated/agent"
)

// Bounds on a task list. All tasks together fit into maxList.
const (
	maxTasks = 30
	maxTask  = 120 // characters
)

// TodoTool is the tool todo_write, with which the model keeps the list of [Todo]. Give it to the agent and use Todo:
// the tool returns the list, and Todo shows it in later prompts of the run.
//
// Each call has the whole list: at most 30 tasks of one line of at most 120 characters, each pending, in_progress or
// done. The tool keeps nothing itself, so one value serves any number of runs, also concurrently.
type TodoTool struct{}

// Schema implements agent.Tool.
func (TodoTool) Schema() agent.ToolSchema {
	return agent.ToolSchema{
		Name: "todo_write",
		Description: "Write the list of tasks for work of several steps. Give the whole list each time. Have one task in " +
			"progress, and mark a task as done as soon as it is done, not before. Do not use it for a single simple step.",
		Parameters: json.RawMessage(fmt.Sprintf(`{"type":"object","properties":{"tasks":{"type":"array","maxItems":%d,`+
			`"items":{"type":"object","properties":{"task":{"type":"string","minLength":1,"maxLength":%d},`+
			`"status":{"type":"string","enum":["pending","in_progress","done"]}},"required":["task","status"],`+
			`"additionalProperties":false}}},"required":["tasks"],"additionalProperties":false}`, maxTasks, maxTask)),
		ReadOnly: true, Idempotent: true,
	}
}

// Call implements agent.Tool. It returns the list as text.
func (TodoTool) Call(_ context.Context, call agent.ToolCallRequest) (string, error) {
	var args struct {
		Tasks []struct {
			Task   string `json:"task"`
			Status string `json:"status"`
		} `json:"tasks"`
	}
	invalid := func(message string, cause error) error {
		return &agent.ToolError{Kind: agent.FailArguments, Message: message, Cause: cause}
	}
	if err := json.Unmarshal(call.Args, &args); err != nil {
		return "", invalid("the arguments cannot be read: "+err.Error(), err)
	}
	if len(args.Tasks) > maxTasks {
		return "", invalid(fmt.Sprintf("there are %d tasks; give at most %d", len(args.Tasks), maxTasks), nil)
	}
	if len(args.Tasks) == 0 {
		return "The list is empty.", nil
	}
	marks := map[string]string{"pending": " ", "in_progress": ">", "done": "x"}
	var list strings.Builder
	for i, t := range args.Tasks {
		mark, task := marks[t.Status], shorten.Line(t.Task, maxTask)
		if mark == "" || task == "" {
			return "", invalid(fmt.Sprintf("task %d needs a text, and the status pending, in_progress or done", i+1), nil)
		}
		fmt.Fprintf(&list, "%d. [%s] %s\n", i+1, mark, task)
	}
	return strings.TrimSuffix(list.String(), "\n"), nil
}

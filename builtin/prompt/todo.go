package prompt

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// Todo keeps the model working with a task list.
//
// For example, the agent has the tool todo_write ([TodoTool]), or another one that returns a list of tasks. The first
// prompt asks the model to plan with the tool. After 10 steps without a call of the tool, the prompt has a reminder.
// Every 10 steps the prompt shows the list, so that it is not forgotten in a long conversation.
//
// The list is the output of the last successful call in the run, of which at most 4000 characters are shown. If the run
// does not have the tool, the prompts are unchanged.
//
// Todo contributes to Briefing and observes AfterTool. The zero value is ready to use. Todo keeps the list for each run
// and is safe for concurrent use. Bind panics if Every is negative, 0 or None.
type Todo struct {
	Tool  string           // name of the tool; "": todo_write
	Every limit.Bound[int] // steps between two reminders, and between two lists; default 10

	runs hookkit.PerRun[todoState]
}

// todoState is the state of one run.
type todoState struct {
	used int // the step of the last successful call
	list string
}

// maxList bounds a list in characters.
const maxList = 4000

// Bind adds the hook to its points.
func (n *Todo) Bind(h *agent.Hooks) {
	err := n.Every.Check("Every")
	if n.Every == limit.AtMost(0) || n.Every == limit.None {
		err = fmt.Errorf("Every is %v; give the number of steps between two reminders, or leave it out", n.Every)
	}
	kit.MustConfig("prompt.Todo", err)
	h.Briefing.Add(n)
	h.AfterTool.Observe(n)
}

func (n *Todo) tool() string { return cmp.Or(n.Tool, "todo_write") }

// ObserveAfterTool records a successful call of the tool.
func (n *Todo) ObserveAfterTool(_ context.Context, run *agent.Run, fired agent.AfterToolFired[agent.ToolCallResult]) {
	if fired.Payload.Call.Name != n.tool() || !kit.Succeeded(fired.Payload) || fired.Err != nil || fired.Final.Err != "" {
		return
	}
	n.runs.Do(run, func(s *todoState) {
		s.used, s.list = fired.Payload.Call.Step, shorten.To(fired.Final.Output, maxList)
	})
}

// Briefing contributes the request to plan, the reminder and the list.
func (n *Todo) Briefing(_ context.Context, run *agent.Run, step agent.Step) ([]string, error) {
	if _, ok := kit.Schema(run, n.tool()); !ok {
		return nil, nil
	}
	if step.Number <= 1 {
		return []string{fmt.Sprintf("Plan your work with the tool %s before you begin. Update the list whenever a task is "+
			"started or done.", n.tool())}, nil
	}
	at, every := n.runs.Load(run), n.Every.Or(10)
	var texts []string
	if idle := step.Number - at.used; idle%every == 0 {
		texts = append(texts, fmt.Sprintf("You have not used the tool %s for %d steps. Update the list if it is no longer "+
			"correct.", n.tool(), idle))
	}
	if step.Number%every != 0 {
		return texts, nil
	}
	if list := strings.TrimSpace(at.list); list != "" {
		texts = append(texts, "Current task list:\n"+list)
	}
	return texts, nil
}

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

// todoArgs are the arguments of the tool.
type todoArgs struct {
	Tasks []struct {
		Task   string `json:"task"`
		Status string `json:"status"`
	} `json:"tasks"`
}

// Call implements agent.Tool. It returns the list as text.
func (TodoTool) Call(_ context.Context, call agent.ToolCallRequest) (string, error) {
	args, err := kit.ReadArgs[todoArgs](call)
	if err != nil {
		return "", err
	}
	invalid := func(format string, values ...any) error {
		return &agent.ToolError{Kind: agent.FailArguments, Message: fmt.Sprintf(format, values...)}
	}
	if len(args.Tasks) > maxTasks {
		return "", invalid("there are %d tasks; give at most %d", len(args.Tasks), maxTasks)
	}
	if len(args.Tasks) == 0 {
		return "The list is empty.", nil
	}
	marks := map[string]string{"pending": " ", "in_progress": ">", "done": "x"}
	var list strings.Builder
	for i, t := range args.Tasks {
		mark, task := marks[t.Status], shorten.Line(t.Task, maxTask)
		if mark == "" || task == "" {
			return "", invalid("task %d needs a text, and the status pending, in_progress or done", i+1)
		}
		fmt.Fprintf(&list, "%d. [%s] %s\n", i+1, mark, task)
	}
	return strings.TrimSuffix(list.String(), "\n"), nil
}

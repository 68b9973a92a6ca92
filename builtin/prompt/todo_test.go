package prompt_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/prompt"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

func ExampleTodo() {
	model := looptest.NewScript(looptest.Call("todo_write", `{"list":["write","test"]}`), looptest.Reply("ok"))
	ran := looptest.Harness{
		Tools: []agent.Tool{&looptest.Tool{Name: "todo_write", Result: "1. write\n2. test"}},
		Hooks: []agent.Hook{&prompt.Todo{Every: 2}}, Agent: &loop.Agent{Model: model},
	}.Make()
	_, _ = ran.Agent.Run(context.Background(), "go")
	fmt.Println(fixture.Briefing(model.Requests()[1]))
	// Output:
	// Current task list:
	// 1. write
	// 2. test
}

// listing returns the briefings of a run of so many steps, which calls todo_write in the given steps.
func listing(t *testing.T, hook *prompt.Todo, steps int, tools []agent.Tool, calls ...int) (briefings []string) {
	t.Helper()
	var turns []looptest.Turn
	for i := range steps {
		turn := looptest.Call("work", fmt.Sprintf(`{"n":%d}`, i))
		for _, at := range calls {
			if at == i+1 {
				turn = looptest.Call("todo_write", fmt.Sprintf(`{"n":%d}`, i))
			}
		}
		turns = append(turns, turn)
	}
	ran := looptest.Harness{
		Turns: append(turns, looptest.Reply("ok")), Hooks: []agent.Hook{hook},
		Tools: append(tools, &looptest.Tool{Name: "work"}),
	}.Run(t, "go")
	for _, req := range ran.Script.Requests() {
		briefings = append(briefings, fixture.Briefing(req))
	}
	return briefings
}

func TestTaskListIsShownRegularly(t *testing.T) {
	const plan, reminder, list = "Plan your work", "You have not used", "Current task list:\n1. write"
	written := &looptest.Tool{Name: "todo_write", Result: "1. write"}
	for _, c := range []struct {
		name  string
		hook  *prompt.Todo
		tools []agent.Tool
		steps int
		calls []int
		want  map[int]string // the beginning of the briefing of each step
	}{
		{"unused", &prompt.Todo{}, []agent.Tool{written}, 20, nil, map[int]string{1: plan, 10: reminder, 20: reminder}},
		{"used once", &prompt.Todo{}, []agent.Tool{written}, 14, []int{3}, map[int]string{1: plan, 10: list, 13: reminder}},
		{"used often", &prompt.Todo{}, []agent.Tool{written}, 14, []int{3, 8}, map[int]string{1: plan, 10: list}},
		{"often", &prompt.Todo{Every: 2}, []agent.Tool{written}, 4, []int{1}, map[int]string{
			1: plan, 2: list, 3: reminder, 4: list, 5: reminder,
		}},
		{"no tool", &prompt.Todo{Tool: "plan"}, []agent.Tool{written}, 10, nil, nil},
		{"failed", &prompt.Todo{}, []agent.Tool{&looptest.Tool{Name: "todo_write", Err: errors.New("down")}}, 11, []int{5},
			map[int]string{1: plan, 10: reminder}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for i, text := range listing(t, c.hook, c.steps, c.tools, c.calls...) {
				if want := c.want[i+1]; !strings.HasPrefix(text, want) || want == "" && text != "" {
					t.Errorf("step %d: %q, want %q", i+1, text, want)
				}
			}
		})
	}
}

func TestLongTaskListIsShortened(t *testing.T) {
	long := &looptest.Tool{Name: "todo_write", Result: strings.Repeat("task ", 2000)}
	briefings := listing(t, &prompt.Todo{}, 9, []agent.Tool{long}, 4)
	if n := len([]rune(briefings[9])); n > 4100 || n < 3900 {
		t.Errorf("the list has %d characters", n)
	}
}

func TestTodoRefusesInvalidSteps(t *testing.T) {
	for _, every := range []limit.Bound[int]{-1, limit.AtMost(0), limit.None} {
		t.Run(fmt.Sprint(int64(every)), func(t *testing.T) {
			if text := fixture.UsePanic(&prompt.Todo{Every: every}); !strings.Contains(text, "Every is") {
				t.Errorf("panicked with %q", text)
			}
		})
	}
}

package loop_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// An agent with one tool. A script plays the model.
func ExampleAgent_Run() {
	type city struct {
		Name string `json:"name" jsonschema:"the city"`
	}
	weather := loop.Tool("weather", "says how the weather is", func(_ context.Context, c city) (string, error) {
		return "rain in " + c.Name, nil
	})
	a := &loop.Agent{
		Model: looptest.NewScript(
			looptest.Call("weather", city{"Oslo"}),
			looptest.Reply("Take an umbrella."),
		),
		Tools: []agent.Tool{weather},
	}
	result, err := a.Run(context.Background(), "What do I need in Oslo?")
	fmt.Println(result.Reply, err)
	fmt.Println(result.Calls[0].Call.Name, string(result.Calls[0].Call.Args), result.Calls[0].Output)
	fmt.Println(result.Steps, result.Stop.Cause)
	// Output:
	// Take an umbrella. <nil>
	// weather {"name":"Oslo"} rain in Oslo
	// 2 completed
}

// Stream yields a reply while the model is still writing it.
func ExampleAgent_Stream() {
	a := &loop.Agent{Model: looptest.NewScript(looptest.Reply("one word after the other"))}
	for e, err := range a.Stream(context.Background(), loop.Request{Task: "count"}) {
		switch e.Kind {
		case loop.EventChunk:
			fmt.Printf("[%s]", e.Chunk.Delta.Content)
		case loop.EventEnd:
			fmt.Println("", e.End.Stop.Cause, err)
		}
	}
	// Output: [one ][word ][after ][the ][other] completed <nil>
}

// An agent takes over with typed input, and without the calls of tools before.
func ExampleAgent_handoff() {
	type refund struct {
		Order int `json:"order" jsonschema:"the number on the invoice"`
	}
	billing := &loop.Agent{
		Name:  "billing",
		Model: looptest.NewScript(looptest.Reply("The money is on its way.")),
		Input: loop.Tool("refund", "", func(_ context.Context, in refund) (string, error) {
			return fmt.Sprintf("Refund order %d.", in.Order), nil
		}),
		InputFilter: func(messages []agent.Message) []agent.Message {
			return slices.DeleteFunc(messages, func(m agent.Message) bool {
				return m.Role == agent.RoleTool || len(m.ToolCalls) > 0 // calls and their results
			})
		},
	}
	desk := &loop.Agent{
		Model:    looptest.NewScript(looptest.Call("transfer_to_billing", refund{Order: 7})),
		Handoffs: []*loop.Agent{billing},
	}
	result, err := desk.Run(context.Background(), "The lamp came broken.")
	for _, m := range result.Messages {
		fmt.Printf("%s %q\n", m.Role, m.Content)
	}
	fmt.Println(result.HandedOffTo, err)
	// Output:
	// user "The lamp came broken."
	// assistant ""
	// tool "control goes to billing"
	// user "Refund order 7."
	// assistant "The money is on its way."
	// billing <nil>
}

// Subagent makes an agent a tool of another agent.
func ExampleSubagent() {
	researcher := &loop.Agent{
		Name: "researcher", Description: "looks things up",
		Model: looptest.NewScript(looptest.Reply("It is 8849 m high.")),
	}
	a := &loop.Agent{
		Model: looptest.NewScript(
			looptest.Call("researcher", `{"task":"How high is Mount Everest?"}`),
			looptest.Reply("8849 m."),
		),
		Tools: []agent.Tool{loop.Subagent(researcher)},
	}
	result, err := a.Run(context.Background(), "How high is it?")
	fmt.Println(result.Calls[0].Output, result.Reply, err)
	// Output: It is 8849 m high. 8849 m. <nil>
}

// atDesk is an approver that sends each question to a person, who answers later.
type atDesk struct{}

func (atDesk) Approve(context.Context, agent.Question) (agent.Approval, error) {
	return agent.Approval{Pending: true}, nil
}

// A run waits for a person, and another process continues it with the answer.
func ExampleAgent_Resume() {
	model := looptest.NewScript(looptest.Call("pay", `{"euro":1200}`), looptest.Reply("It is paid."))
	process := func() *loop.Agent { // the agent of each process
		pay := loop.Tool("pay", "pays", func(_ context.Context, in map[string]int) (string, error) {
			return fmt.Sprint("paid ", in["euro"]), nil
		})
		a := &loop.Agent{
			Name: "clerk", Model: model, Tools: []agent.Tool{pay}, Approver: atDesk{}, Hooks: new(agent.Hooks),
		}
		a.Hooks.OnPermission.AddFunc(func(
			context.Context, *agent.Run, agent.ToolCallRequest,
		) (agent.OnPermissionOutcome, error) {
			return agent.Ask{Prompt: "Is this payment right?"}, nil
		})
		return a
	}
	result, _ := process().Run(context.Background(), "Pay the rent.")
	question := result.Suspended.Questions[0]
	fmt.Println(result.Stop.Cause, question.Prompt, string(question.Call.Args))

	stored, _ := json.Marshal(result.Suspended) // until the person has answered

	var state agent.Suspension
	_ = json.Unmarshal(stored, &state)
	result, err := process().Resume(context.Background(), state,
		loop.AnswerTo(state.Questions[0], agent.Approval{Allow: true, By: "ann"}))
	fmt.Println(result.Calls[0].Output, result.Reply, err)
	// Output:
	// suspended Is this payment right? {"euro":1200}
	// paid 1200 It is paid. <nil>
}

// RunAs reads the answer of a model as a value.
func ExampleRunAs() {
	type invoice struct {
		Number string  `json:"number" jsonschema:"as printed"`
		Total  float64 `json:"total"`
	}
	a := &loop.Agent{Model: looptest.NewScript(
		looptest.Reply("The total is 9.50."), // rejected, because it is not JSON
		looptest.Reply(`{"number":"A1","total":9.5}`),
	)}
	got, result, err := loop.RunAs[invoice](context.Background(), a, loop.Request{Task: "Read this invoice: ..."})
	fmt.Println(got.Number, got.Total, result.Steps, err)
	// Output: A1 9.5 2 <nil>
}

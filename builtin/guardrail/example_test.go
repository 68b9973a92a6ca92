package guardrail_test

import (
	"context"
	"fmt"

	"github.com/hookgen/hookgen/builtin/guardrail"
	"github.com/hookgen/hookgen/builtin/redact"
	"github.com/hookgen/hookgen/generated/agent"
)

// The e-mail address does not reach the model.
func ExampleOutput() {
	var hooks agent.Hooks
	hooks.Use(&guardrail.Output{Validators: []guardrail.Validator{guardrail.RedactPersonal(), guardrail.LengthCap(40)}})

	result := agent.ToolCallResult{Output: "ask jane@example.org"}
	hooks.AfterTool.Fire(context.Background(), agent.NewRun(nil), &result)
	fmt.Println(result.Output)
	// Output: ask [REDACTED:email]
}

// The e-mail address is neither in the reply nor in the stored conversation.
func ExampleReply() {
	var hooks agent.Hooks
	hooks.Use(&guardrail.Reply{Validators: []guardrail.Validator{guardrail.RedactPersonal()}})

	answer := agent.DoneRequest{Answer: "write to jane@example.org"}
	hooks.CheckDone.Fire(context.Background(), agent.NewRun(nil), &answer)
	fmt.Println(answer.Answer)
	// Output: write to [REDACTED:email]
}

// The key that a tool printed does not reach the model.
func ExampleRedact() {
	var hooks agent.Hooks
	hooks.Use(&guardrail.Output{Validators: []guardrail.Validator{guardrail.Redact(redact.Redactor{KeepPersonal: true})}})

	result := agent.ToolCallResult{Output: "user=jane@example.org password=hunter22"}
	hooks.AfterTool.Fire(context.Background(), agent.NewRun(nil), &result)
	fmt.Println(result.Output)
	// Output: user=jane@example.org password=[REDACTED]
}

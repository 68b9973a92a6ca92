package builtin

import (
	"context"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// lastPriority is that of hooks which come after those that have none.
const lastPriority = -100

// Functions as observers of one point.
type (
	anyObserver           func(context.Context, *agent.Run, hookkit.AnyFired)
	afterLLMObserver      func(context.Context, *agent.Run, agent.AfterLLMFired[agent.LLMResponse])
	beforeLLMObserver     func(context.Context, *agent.Run, agent.BeforeLLMFired[agent.LLMRequest])
	afterToolObserver     func(context.Context, *agent.Run, agent.AfterToolFired[agent.ToolCallResult])
	afterStepObserver     func(context.Context, *agent.Run, agent.AfterStepFired[agent.StepResult])
	runStartObserver      func(context.Context, *agent.Run, agent.OnRunStartFired[agent.RunStart])
	briefingObserver      func(context.Context, *agent.Run, agent.BriefingFired[agent.Step])
	beforeStepObserver    func(context.Context, *agent.Run, agent.BeforeStepFired[agent.Step])
	checkDoneObserver     func(context.Context, *agent.Run, agent.CheckDoneFired[agent.DoneRequest])
	subagentStartObserver func(context.Context, *agent.Run, agent.OnSubagentStartFired[agent.Subagent])
	subagentStopObserver  func(context.Context, *agent.Run, agent.OnSubagentStopFired[agent.SubagentDone])
	runEndObserver        func(context.Context, *agent.Run, agent.OnRunEndFired[agent.AgentResult])
)

// Observe calls f.
func (f anyObserver) Observe(ctx context.Context, run *agent.Run, fired hookkit.AnyFired) {
	f(ctx, run, fired)
}

// ObserveAfterLLM calls f.
func (f afterLLMObserver) ObserveAfterLLM(ctx context.Context, run *agent.Run, fired agent.AfterLLMFired[agent.LLMResponse]) {
	f(ctx, run, fired)
}

// ObserveBeforeLLM calls f.
func (f beforeLLMObserver) ObserveBeforeLLM(ctx context.Context, run *agent.Run, fired agent.BeforeLLMFired[agent.LLMRequest]) {
	f(ctx, run, fired)
}

// ObserveAfterTool calls f.
func (f afterToolObserver) ObserveAfterTool(ctx context.Context, run *agent.Run, fired agent.AfterToolFired[agent.ToolCallResult]) {
	f(ctx, run, fired)
}

// ObserveAfterStep calls f.
func (f afterStepObserver) ObserveAfterStep(ctx context.Context, run *agent.Run, fired agent.AfterStepFired[agent.StepResult]) {
	f(ctx, run, fired)
}

// ObserveOnRunEnd calls f.
func (f runEndObserver) ObserveOnRunEnd(ctx context.Context, run *agent.Run, fired agent.OnRunEndFired[agent.AgentResult]) {
	f(ctx, run, fired)
}

// ObserveOnRunStart calls f.
func (f runStartObserver) ObserveOnRunStart(ctx context.Context, run *agent.Run, fired agent.OnRunStartFired[agent.RunStart]) {
	f(ctx, run, fired)
}

// ObserveBriefing calls f.
func (f briefingObserver) ObserveBriefing(ctx context.Context, run *agent.Run, fired agent.BriefingFired[agent.Step]) {
	f(ctx, run, fired)
}

// ObserveBeforeStep calls f.
func (f beforeStepObserver) ObserveBeforeStep(ctx context.Context, run *agent.Run, fired agent.BeforeStepFired[agent.Step]) {
	f(ctx, run, fired)
}

// ObserveCheckDone calls f.
func (f checkDoneObserver) ObserveCheckDone(ctx context.Context, run *agent.Run, fired agent.CheckDoneFired[agent.DoneRequest]) {
	f(ctx, run, fired)
}

// ObserveOnSubagentStart calls f.
func (f subagentStartObserver) ObserveOnSubagentStart(ctx context.Context, run *agent.Run, fired agent.OnSubagentStartFired[agent.Subagent]) {
	f(ctx, run, fired)
}

// ObserveOnSubagentStop calls f.
func (f subagentStopObserver) ObserveOnSubagentStop(ctx context.Context, run *agent.Run, fired agent.OnSubagentStopFired[agent.SubagentDone]) {
	f(ctx, run, fired)
}

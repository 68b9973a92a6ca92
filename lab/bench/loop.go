package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/observe"
	"github.com/hookgen/hookgen/builtin/permission"
	"github.com/hookgen/hookgen/builtin/prompt"
	"github.com/hookgen/hookgen/builtin/record"
	"github.com/hookgen/hookgen/builtin/repair"
	"github.com/hookgen/hookgen/builtin/window"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
)

// loopSteps are the lengths of the scripted run. In each step the model calls one tool three times, with arguments of
// 1 KB that differ from call to call, and the tool returns 1 KB. After the last step the model answers without a call.
var loopSteps = []int{5, 20, 80, 320}

const (
	loopCalls = 3
	loopBytes = 1000
)

// The contestants that run the script.
const (
	nameLoop       = "loop"
	nameLoopHooks  = "loop, eight hooks"
	nameLoopTwelve = "loop, twelve hooks"
	nameChatModel  = "eino ChatModelAgent"
)

var loopOutput = strings.Repeat("o", loopBytes)

const loopParameters = `{"type":"object","properties":{"n":{"type":"integer"},"text":{"type":"string"}},` +
	`"required":["n","text"]}`

// loopArgs returns the arguments of a call.
func loopArgs(step, call int) string {
	return fmt.Sprintf(`{"n":%d,"text":"%s"}`, step*loopCalls+call, strings.Repeat("a", loopBytes))
}

// grownSteps are the lengths at which a run with twelve hooks is compared with itself.
var grownSteps = []int{5, 300}

// A loopRound holds the timings of the script at one length, per step.
type loopRound struct {
	steps               int
	plain, hooked, eino timing
}

func (l loopRound) runs() []timing { return []timing{l.plain, l.hooked, l.eino} }

// label names the length of the script.
func (l loopRound) label() string { return fmt.Sprintf("%d steps", l.steps) }

// loopContestants returns the contestants at one length.
func loopContestants(steps int) []contestant {
	return []contestant{
		{name: nameLoop, loop: runLoop(steps)},
		{name: nameLoopHooks, loop: runLoop(steps, ordinaryHooks()...)},
		{name: nameChatModel, loop: runChatModel(steps)},
	}
}

// loops measures the script at every length, in processor time. Wall time depends on whether the goroutines of a
// step run on one processor or on two, which varies. All lengths share the rounds, because one bound compares two
// lengths.
//
// It also returns the timings of a run with twelve hooks at each of grownSteps.
func (p pace) loops() (rounds []loopRound, grown []timing) {
	var all []contestant
	for _, steps := range grownSteps {
		all = append(all, contestant{name: nameLoopTwelve, loop: runLoop(steps, twelveHooks()...)})
	}
	for _, steps := range loopSteps {
		all = append(all, loopContestants(steps)...)
	}
	timings := p.measureBy(all, processorTime)
	for i, steps := range grownSteps {
		grown = append(grown, timings[i].per(steps))
	}
	timings = timings[len(grownSteps):]
	for _, steps := range loopSteps {
		rounds = append(rounds, loopRound{
			steps:  steps,
			plain:  timings[0].per(steps),
			hooked: timings[1].per(steps),
			eino:   timings[2].per(steps),
		})
		timings = timings[3:]
	}
	return rounds, grown
}

// per returns the timing of one of n parts that each call consists of.
func (t timing) per(n int) timing {
	each := timing{name: t.name, allocs: t.allocs / float64(n)}
	for _, ns := range t.rounds {
		each.rounds = append(each.rounds, ns/float64(n))
	}
	return each
}

// loopClaims compares the agent loop with its bounds.
func loopClaims(rounds []loopRound, grown []timing) []claim {
	over := claim{what: "loop without hooks, each step, over eino's ChatModelAgent on the same script", bound: 1}
	growth := claim{what: "loop without hooks, each step, 320 steps over 20 steps", bound: 1.3}
	hooks := claim{what: "what eight built-in hooks add to each step of loop", bound: 25, unit: " %"}
	byLength := make(map[int]loopRound)
	for _, r := range rounds {
		byLength[r.steps] = r
		over.cases = append(over.cases, held{r.label(), r.plain.over(r.eino)})
		hooks.cases = append(hooks.cases, held{r.label(), r.hooked.percentMore(r.plain)})
	}
	growth.cases = []held{{"", byLength[320].plain.over(byLength[20].plain)}}
	twelve := one("loop with twelve built-in hooks, each step, 300 steps over 5 steps", grown[1].over(grown[0]), 1.2)
	return []claim{over, growth, hooks, twelve}
}

// percentMore returns how many percent more t takes than floor.
func (t timing) percentMore(floor timing) ratio {
	return compare(min(len(t.rounds), len(floor.rounds)), func(best func(timing) float64) float64 {
		return 100 * (best(t)/best(floor) - 1)
	})
}

// ordinaryHooks returns eight hooks that an agent usually has.
func ordinaryHooks() []agent.Hook {
	return []agent.Hook{
		&limit.Steps{Max: limit.AtMost(1000)},
		&limit.Tokens{Max: limit.AtMost(1 << 40)},
		&limit.Time{Max: limit.AtMost(time.Hour)},
		&repair.LoopDetector{},
		&limit.Tools{Default: limit.AtMost(10000)},
		&permission.Rules{
			List:    []permission.Rule{{Tool: "work", Decision: permission.Allow, Reason: "it only reads"}},
			Default: permission.Deny,
		},
		&window.TruncateOutput{},
		&record.Metrics{Log: slog.New(slog.DiscardHandler)},
	}
}

// twelveHooks returns the ordinary hooks, and four that look at the prompt or add to it.
func twelveHooks() []agent.Hook {
	return append(ordinaryHooks(), &observe.Cost{Prices: map[string]observe.Price{"": {Input: 1, Output: 4}}},
		&prompt.Static{Text: "Answer in one sentence."}, &limit.Warning{},
		&window.Auto{Compactor: &window.Default{}, Window: 1 << 30})
}

// runLoop runs the script with package loop.
func runLoop(steps int, hooks ...agent.Hook) func(n int) {
	script := make(loopScript, steps)
	for i := range script {
		for c := range loopCalls {
			script[i] = append(script[i], agent.ToolCallRequest{
				ID: fmt.Sprintf("call_%d_%d", i, c), Name: "work", Args: json.RawMessage(loopArgs(i, c)),
			})
		}
	}
	a := &loop.Agent{
		Instructions: "Do the work.", Model: script, Tools: []agent.Tool{loopTool{}},
		Hooks: loop.Hooks(hooks...), Limits: loop.Limits{Steps: steps + 1},
	}
	return func(n int) {
		for range n {
			result, err := a.Run(context.Background(), "work")
			if err != nil || result.Reply != "done" || result.Steps != steps+1 {
				panic(fmt.Sprintf("the loop made %d of %d steps: %v", result.Steps, steps, err))
			}
		}
	}
}

// A loopScript is a model that makes the tool calls of each step.
type loopScript [][]agent.ToolCallRequest

// Generate finds the step by the length of the conversation: system, task, and four messages for each step.
func (s loopScript) Generate(_ context.Context, req agent.LLMRequest) (agent.LLMResponse, error) {
	if step := (len(req.Messages) - 2) / (1 + loopCalls); step < len(s) {
		return agent.LLMResponse{ToolCalls: s[step]}, nil
	}
	return agent.LLMResponse{Content: "done"}, nil
}

type loopTool struct{}

func (loopTool) Schema() agent.ToolSchema {
	return agent.ToolSchema{Name: "work", Parameters: json.RawMessage(loopParameters)}
}

func (loopTool) Call(context.Context, agent.ToolCallRequest) (string, error) { return loopOutput, nil }

// runChatModel runs the script with eino.
func runChatModel(steps int) func(n int) {
	script := make(einoScript, steps)
	for i := range script {
		for c := range loopCalls {
			script[i] = append(script[i], schema.ToolCall{
				ID: fmt.Sprintf("call_%d_%d", i, c), Type: "function", Function: schema.FunctionCall{
					Name: "work", Arguments: loopArgs(i, c),
				},
			})
		}
	}
	ctx := context.Background()
	a, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{
		Name: "agent", Description: "works", Instruction: "Do the work.", Model: script, MaxIterations: steps + 1,
		ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{einoTool{}}}},
	})
	if err != nil {
		panic(err)
	}
	runner := adk.NewRunner(ctx, adk.RunnerConfig{Agent: a})
	return func(n int) {
		for range n {
			events := runner.Query(ctx, "work")
			last := ""
			for {
				e, ok := events.Next()
				if !ok {
					break
				}
				if e.Err != nil {
					panic(e.Err)
				}
				if e.Output != nil && e.Output.MessageOutput != nil {
					last = e.Output.MessageOutput.Message.Content
				}
			}
			if last != "done" {
				panic("eino did not finish the script")
			}
		}
	}
}

// An einoScript is the same model for eino.
type einoScript [][]schema.ToolCall

func (s einoScript) Generate(_ context.Context, in []*schema.Message, _ ...model.Option) (*schema.Message, error) {
	if step := (len(in) - 2) / (1 + loopCalls); step < len(s) {
		return schema.AssistantMessage("", s[step]), nil
	}
	return schema.AssistantMessage("done", nil), nil
}

func (s einoScript) Stream(
	ctx context.Context, in []*schema.Message, opts ...model.Option,
) (*schema.StreamReader[*schema.Message], error) {
	m, err := s.Generate(ctx, in, opts...)
	return schema.StreamReaderFromArray([]*schema.Message{m}), err
}

func (s einoScript) WithTools([]*schema.ToolInfo) (model.ToolCallingChatModel, error) { return s, nil }

type einoTool struct{}

func (einoTool) Info(context.Context) (*schema.ToolInfo, error) {
	return &schema.ToolInfo{Name: "work", Desc: "",
		ParamsOneOf: schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{
			"n": {Type: schema.Integer, Required: true}, "text": {Type: schema.String, Required: true},
		})}, nil
}

func (einoTool) InvokableRun(context.Context, string, ...tool.Option) (string, error) {
	return loopOutput, nil
}

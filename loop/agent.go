package loop

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/hookgen/hookgen/generated/agent"
)

// An Agent answers tasks with a model, tools and hooks. Only Model is required. An Agent is used by pointer,
// may run any number of tasks at once, and must not be changed after its first run.
type Agent struct {
	Name         string // in payloads and records; "agent" if empty
	Description  string // for the models of agents that can call it or hand over to it
	Instructions string // the system message that begins each prompt; none if empty
	Model        agent.Model
	Tools        []agent.Tool
	Handoffs     []*Agent // agents that the model can hand control to

	// Hooks are the hooks of runs that no other run started; nil: none. More may be added and removed at any
	// time. A run started by another run fires the hooks of that one instead; an agent with other Hooks cannot
	// be started by it, since they could not stand within those.
	Hooks *agent.Hooks
	// Use are the hooks of this agent wherever it runs, bound to a layer inside Hooks or inside the hooks of
	// the run that started it, unless that run fires them already.
	Use []agent.Hook

	Limits    Limits
	Compactor agent.Compactor    // nil: compactions fail and are reported at AfterCompact
	Approver  agent.Approver     // nil: that of the run that started this one; without one, Ask denies
	Tokens    agent.TokenCounter // nil: Model if it is one, else the estimate
	Clock     agent.Clock        // nil: that of the run that started this one, else the system's

	// Done is a tool whose call is the answer; empty Name: there is none. Its arguments must fit its
	// Parameters. The answer is the argument "answer" if it is a text, else all arguments as JSON.
	Done agent.ToolSchema

	// Request is what every request begins with: Model, ToolChoice, ResponseFormat, MaxTokens, Temperature,
	// Seed and Extra. Its other fields are the loop's.
	Request agent.LLMRequest

	// Fallback is the reply of a run that was stopped before it had one; empty: a sentence that says that
	// the request could not be completed. A run that used up its rejections replies with the last rejected
	// answer instead. A run that failed or was cancelled has no reply.
	Fallback string

	// ToolsDisabled reports whether tools are switched off. It is asked before each prompt and for each
	// call; nil: they are on. In runs that this one starts they are off, too.
	ToolsDisabled func() bool

	mu      sync.Mutex
	layers  map[*agent.Hooks]*agent.Hooks
	schemas map[string]*jsonschema.Resolved // by the text of the parameters
}

// DefaultFallback is the reply of a run that was stopped before it had one, where Agent.Fallback is empty.
const DefaultFallback = "Sorry, I couldn't complete that request."

// A Request is a task and what the run starts from. Only Task is usual.
type Request struct {
	Task         string
	Messages     []agent.Message // the conversation before the task; calls left open at its end are answered as not run
	Conversation string          // the identity of the conversation, for hooks that store it
	Seed         uint64          // of Env.Random, of requests to the model, and of the runs that it starts; 0: one is drawn
	Resume       Resume          // counters of an interrupted run to go on with
}

// Resume is how far an interrupted run was. The zero value starts anew.
type Resume struct {
	Steps      int
	ModelCalls int
	Usage      agent.Usage
	Rejections int
}

// Run works on the task until it is done or stopped. The error is not nil if the run failed or was cancelled;
// the result is complete all the same. An error beside a zero result says why the agent cannot run at all, and
// then no point was fired. A run that was stopped by a limit or a hook returns no error: its result says so.
func (a *Agent) Run(ctx context.Context, task string) (agent.AgentResult, error) {
	return a.Do(ctx, Request{Task: task})
}

// Do is Run with a conversation to continue.
func (a *Agent) Do(ctx context.Context, req Request) (agent.AgentResult, error) {
	r, err := newRun(ctx, a, req, nil, nil)
	if err != nil {
		return agent.AgentResult{}, err
	}
	return r.execute()
}

func (a *Agent) name() string {
	if a.Name == "" {
		return "agent"
	}
	return a.Name
}

func (a *Agent) fallback() string {
	if a.Fallback == "" {
		return DefaultFallback
	}
	return a.Fallback
}

// check reports what would keep the agent from running under the given run, nil for none.
func (a *Agent) check(parent *run) error {
	var errs []error
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("agent %q: "+format, append([]any{a.name()}, args...)...))
	}
	if isNil(a.Model) && parent == nil {
		bad("there is no model; set Model")
	}
	for i, t := range a.Tools {
		if isNil(t) {
			bad("Tools[%d] is nil; leave it out", i)
		}
	}
	for i, h := range a.Handoffs {
		if h == nil {
			bad("Handoffs[%d] is nil; leave it out", i)
		}
	}
	for i, h := range a.Use {
		if isNil(h) {
			bad("Use[%d] is nil; leave it out", i)
		}
	}
	if parent != nil && a.Hooks != nil && !parent.stands(a.Hooks) {
		bad("it has Hooks of its own, which cannot stand within the hooks of the run that starts it; put its hooks in Use")
	}
	return errors.Join(errs...)
}

// toolName makes a name that models accept for a tool.
func toolName(prefix, name string) string {
	return prefix + strings.Map(func(c rune) rune {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '-':
			return c
		}
		return '_'
	}, name)
}

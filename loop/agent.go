package loop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

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

	// Input makes the task of what the model of another agent sends if it hands over to this agent, or calls it as a
	// [Subagent]; nil: that model writes the task in words. For example, a tool of [Tool] that takes a struct: the model
	// gets its parameters, they are decoded strictly, and its output is the task. An error is the result of the call, and
	// the model can try again. Input is called when the call is permitted, before OnHandoff. Its name and its description
	// are not used.
	Input agent.Tool
	// InputFilter returns what the agent gets of a conversation that it takes over, before the task; nil: all. For
	// example, it removes the calls of tools, always with their results. It gets a copy. The stored conversation keeps
	// the removed messages, unless a compaction or a hook of the agent changes the others. If the filter panics, or if
	// the messages cannot be continued, the run fails.
	InputFilter func([]agent.Message) []agent.Message

	// Hooks are the hooks of the agent's runs; nil means no hooks. [Hooks] makes them in a literal. Hooks can be added
	// and removed at any time, and several agents may have the same. A run that another run started, for example of a
	// sub-agent, fires the hooks of that run first, whatever the priorities, and then these. Hooks and layers that both
	// have fire once. A hook here sees no other run than those of the agent and those that they start.
	Hooks *agent.Hooks

	// Pinned fixes the hooks of a run, and of the runs that it starts, at its start. For example, an operator replaces a
	// plug-in, and no run has the end of a hook whose beginning it did not have. By default a run fires what is registered
	// at the moment, so that an operator's new denial reaches the runs that are working.
	Pinned bool

	Limits    Limits
	Compactor agent.Compactor    // nil: compactions fail and are reported at AfterCompact
	Approver  agent.Approver     // nil: the approver of the run that started this one; without any, Ask denies
	Tokens    agent.TokenCounter // nil: Model if it counts tokens, else an estimate
	Clock     agent.Clock        // nil: the clock of the run that started this one, else the system clock

	// Runs stores the agent's suspended runs until they have ended, for Answer; nil: the program stores
	// AgentResult.Suspended itself. For example, session.Runs of package builtin keeps them in memory, in files or in a
	// database. Only the outermost run is stored, with the runs that it started.
	Runs agent.RunStore

	// Done is a tool whose call is the answer; an empty Name disables it. The arguments must match Parameters. The
	// answer is the argument "answer" if it is a string, else all arguments as JSON.
	Done agent.ToolSchema

	// Request has the defaults of every request: Model, ToolChoice, ResponseFormat, MaxTokens, Temperature, Seed
	// and Extra. The loop sets the other fields.
	Request agent.LLMRequest

	// Fallback is the reply of a run that was stopped before it had a reply; empty means DefaultFallback. A run
	// that used up its rejections replies with the last rejected answer instead. A run has no reply if it failed, was
	// cancelled or suspended, or if a hook declared it completed before there was a reply.
	Fallback string

	// ToolsDisabled reports whether tools are switched off; nil means they are enabled. It is called before each
	// prompt and for each call. It also applies to the runs that this agent's runs start.
	ToolsDisabled func() bool

	mu      sync.Mutex
	running []*run // the outermost runs, for Send
	layers  map[*agent.Hooks]*agent.Hooks
	schemas map[string]*jsonschema.Resolved // keyed by the text of the parameters
}

// DefaultFallback is the reply of a run that was stopped before it had a reply, if Agent.Fallback is empty.
const DefaultFallback = "Sorry, I couldn't complete that request."

// A Request is a task with its starting state. Most callers set only Task.
//
// Set Conversation, User and Tenant if an agent serves more than one of them. They are in Env, and so the hooks of the
// run and of the runs that it starts can keep the data of different owners apart.
type Request struct {
	Task         string
	Parts        []agent.Part    // content of the task other than text, for example an image
	Messages     []agent.Message // the conversation before the task; open calls at its end are answered as not run
	Conversation string          // the name of the conversation, in UTF-8; "": it has none and is not stored
	User         string          // the person that the run works for, in UTF-8; "": unknown
	Tenant       string          // the customer or organization of the user, in UTF-8; "": there is only one
	Seed         uint64          // for Env.Random, model requests and the runs that it starts; 0: random
	Resume       Resume          // counters of an interrupted run that continues

	// Data is JSON of the program for its hooks and tools, in Env.Data: for example, the customer that the task is about.
	// A suspended run keeps it, and the runs that the run starts get it, except for those with Data of their own. It is
	// never sent to the model.
	Data json.RawMessage

	// Events receives the events of the run and of the runs that it starts, in order and one at a time; nil: nobody. It
	// is the stream of [Agent.Stream] for a caller that wants the result of Do or [RunAs]: the last event of the run is
	// EventEnd. The run waits until Events returns. A resumed run needs it again.
	Events func(Event)

	// Use are hooks of this run and of the runs that it starts, for example the guard of one tenant. They are bound to a
	// layer inside the hooks of the agent, which is gone after the run. Each run needs hooks of its own if they keep
	// state that other runs must not see.
	Use []agent.Hook

	// Answers are the answers to the questions of a suspended run, which continues; see [Agent.Answer]. Its state is
	// Suspended, or the one that Agent.Runs has for the ID. Such a request has no other starting state: only Use,
	// Events, Continue and Dispatch may be set in addition.
	Suspended *agent.Suspension
	Answers   []Answer

	// Continue reports whether a resumed run calls a deferred call again, of this run or of one that it has started; nil:
	// all. The others wait on. For example, an engine makes each call of a reply in a process of its own.
	Continue func(run string, call agent.ToolCallRequest) bool

	// Dispatch carries out the permitted calls of the run, and of the runs that its calls start; nil: the loop does. For
	// example, an engine makes each call in a process of its own, and gives the run that has suspended meanwhile its
	// result. A resumed run needs it again.
	Dispatch Dispatch

	// ID identifies the run in records and to hooks, for example by the request that a server answers. It must be
	// unique, and have 1 to 64 letters, digits, "-" and "_", because hooks use it in names of files. "": random.
	ID string
}

// A Dispatch returns the result of a call, or true: then the run is suspended with the call deferred. fire fires
// AroundTool, which calls the tool, and returns the same two values. It may be left out, and is called at most once.
// Calls that may run in parallel are dispatched concurrently. ctx is that of the run, which has the values of the call
// that started it. A run that cannot wait, for example because a hook has started it, makes its calls itself.
type Dispatch func(
	ctx context.Context, run *agent.Run, call agent.ToolCallRequest, fire func() (made Made, waits bool),
) (made Made, waits bool)

// Made is the result of a dispatched call, before AfterTool.
type Made struct {
	Result  agent.ToolCallResult
	StopRun bool // see agent.ToolError
}

// Resume carries the counters of an interrupted run. The zero value starts a new run.
type Resume struct {
	Steps      int
	ModelCalls int
	ToolCalls  int
	Tools      map[string]int // answered calls by tool
	Usage      agent.Usage
	Models     map[string]agent.Usage `json:",omitempty"` // Usage by model
	Elapsed    time.Duration          // counts towards Limits.Time
	Rejections int
}

// Run works on the task until it is done or stopped. The error is nil exactly if the model has answered or a hook gave
// the reply with EndTurn. Otherwise it says what happened: a [*StoppedError] if a limit or a hook stopped the run,
// [ErrSuspended] if it waits for a person, the error of the context if it was cancelled, or a failure. The result is
// complete in each case, except if the run could not start; then the error matches [ErrNotStarted].
func (a *Agent) Run(ctx context.Context, task string) (agent.AgentResult, error) {
	return a.Do(ctx, Request{Task: task})
}

// Do is like Run and accepts more than a task, for example a conversation to continue.
func (a *Agent) Do(ctx context.Context, req Request) (agent.AgentResult, error) {
	r, err := newRun(ctx, a, req, origin{})
	if err != nil {
		return agent.AgentResult{}, err
	}
	return r.execute()
}

func (a *Agent) name() string { return orElse(a.Name, "agent") }

// check returns the configuration errors that prevent the agent from running under parent, which may be nil.
func (a *Agent) check(parent *run) error {
	var errs []error
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("agent %q: "+format, append([]any{a.name()}, args...)...))
	}
	if isNil(a.Model) && parent == nil {
		bad("the model is missing; set Model")
	}
	if math.IsNaN(a.Limits.Cost) || math.IsInf(a.Limits.Cost, 0) {
		bad("Limits.Cost is %v; give a cost, or 0 for no limit", a.Limits.Cost)
	}
	for i, t := range a.Tools {
		if isNil(t) {
			bad("Tools[%d] is nil; remove it", i)
		}
	}
	for i, h := range a.Handoffs {
		if h == nil {
			bad("Handoffs[%d] is nil; remove it", i)
		}
	}
	return errors.Join(errs...)
}

// toolName returns prefix and name with every character replaced by "_" that model providers reject in tool names.
func toolName(prefix, name string) string {
	return prefix + strings.Map(func(c rune) rune {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '-':
			return c
		}
		return '_'
	}, name)
}

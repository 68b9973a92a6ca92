package record

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/redact"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// A Model writes every prompt and every reply of a run to files, from which [Replay] plays the run again.
//
// It stands at AroundLLM, behind the hooks that have a priority of their own, so that it sees each request as it is
// sent, retries one by one; at OnRunStart, before all others, it gets to know the run, and at AroundTool which tool
// runs; it observes OnRunEnd. It decides nothing. An error of the model is recorded and passed on.
//
// Each run has a directory of its own under Dir, named after the run's identity; one that a run started has its
// under "runs" in there. With OneRun, Dir is the directory of the only run. It holds:
//
//   - manifest.jsonl, a [ModelCall] per line;
//   - call_NN_prompt.txt and call_NN_response.txt, for people;
//   - call_NN_response.json, the whole reply or the error, for Replay.
//
// A program that is killed leaves each of the call's files whole or not at all, the reply before its text; a line of
// the manifest that was not finished is no JSON, and the next one begins behind it.
//
// NN counts the run's calls from 00. Texts have at most MaxChars characters; what is cut says so at its end. All of
// them are redacted before they are kept anywhere. What cannot be written is reported and does not touch the run.
//
// Calls that hooks and tools make themselves fire no point; they are recorded if the agent's Model is what [Wrap]
// returned, with "hook" or "tool:name" as their scope.
type Model struct {
	Dir          string
	OneRun       bool
	MaxChars     limit.Bound[int] // default 200,000
	Redact       redact.Redactor
	SendRedacted SendRedacted
	OnError      func(error) // gets what could not be written; nil: it is logged by slog

	runs   hookkit.PerRun[recordedRun]
	failed kit.Reporter

	mu   sync.Mutex
	live map[string]*agent.Run // runs under way, for Wrap
}

// SendRedacted says what of a prompt is taken out before the model gets it.
type SendRedacted int

// The zero value leaves alone what nobody asked to take out: a model that reads a file to change it must see
// what is in there.
const (
	RedactOwn     SendRedacted = iota // what the Keys, Patterns and Extra of the Redactor take out
	RedactAll                         // all that is taken out of the record
	RedactNothing                     // nothing
)

const recordChars = 200_000

// A ModelCall is one call to a model as the manifest has it.
type ModelCall struct {
	Index          int            `json:"index"`     // of the run's calls, from 0
	Timestamp      float64        `json:"timestamp"` // seconds since 1970, when it began
	DurationMS     float64        `json:"duration_ms"`
	Method         string         `json:"method"`          // generate or generate_with_tools
	PromptChars    int            `json:"prompt_chars"`    // before anything was cut or taken out
	ResponseChars  int            `json:"response_chars"`  // the same
	ResponseBlocks int            `json:"response_blocks"` // the text and each tool call
	Temperature    *float64       `json:"temperature"`
	MaxTokens      int            `json:"max_tokens"`
	ToolCount      int            `json:"tool_count"`
	StepNum        int            `json:"step_num"`
	Error          *string        `json:"error"`
	Scope          string         `json:"scope"` // "" for the loop's own calls, "hook", or "tool:" and its name
	Metadata       map[string]any `json:"metadata"`
}

// recordedRun is what is known of a run.
type recordedRun struct {
	calls []ModelCall
}

type (
	recordedKey struct{} // in the context of a call that a hook records
	toolKey     struct{} // in the context of a tool
)

// Bind adds the hooks.
func (m *Model) Bind(h *agent.Hooks) {
	kit.MustConfig("record.Model", m.MaxChars.Check("MaxChars"))
	if m.Dir == "" {
		kit.MustConfig("record.Model", errors.New("Dir is empty; name the directory to write to"))
	}
	name := hookkit.Named("record.Model")
	h.OnRunStart.Add(agent.OnRunStartFunc(m.follow), name, hookkit.Priority(hookkit.Safety+1)) // before a hook can call the model
	h.AroundLLM.Add(agent.AroundLLMFunc(m.around), name, hookkit.Priority(kit.LastPriority))
	h.AroundTool.Add(agent.AroundToolFunc(noteTool), name, hookkit.Priority(kit.LastPriority))
	h.OnRunEnd.ObserveFunc(func(_ context.Context, run *agent.Run, _ agent.OnRunEndFired[agent.AgentResult]) {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.live, run.ID())
	}, name)
}

func (m *Model) follow(_ context.Context, run *agent.Run, _ agent.RunStart) (agent.OnRunStartOutcome, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.live == nil {
		m.live = make(map[string]*agent.Run)
	}
	m.live[run.ID()] = run
	return nil, nil
}

// noteTool lets calls to the model from inside a tool say which it was.
func noteTool(ctx context.Context, _ *agent.Run, call agent.ToolCallRequest, next agent.AroundToolNext) (hookkit.Answer[agent.ToolCallResult], error) {
	return next.Call(context.WithValue(ctx, toolKey{}, call.Name), call)
}

func (m *Model) around(ctx context.Context, run *agent.Run, req agent.LLMRequest, next agent.AroundLLMNext) (hookkit.Answer[agent.LLMResponse], error) {
	if ctx.Value(recordedKey{}) == any(m) { // used twice: the outer one records
		return next.Call(ctx, req)
	}
	ctx = context.WithValue(ctx, recordedKey{}, m)
	var answer hookkit.Answer[agent.LLMResponse]
	_, err := m.record(run, "", req, func(req agent.LLMRequest) (agent.LLMResponse, error) {
		var err error
		answer, err = next.Call(ctx, req)
		return answer.Value(), err
	})
	return answer, err
}

// record makes one call and writes it down.
func (m *Model) record(run *agent.Run, scope string, req agent.LLMRequest, call func(agent.LLMRequest) (agent.LLMResponse, error)) (agent.LLMResponse, error) {
	chars := promptChars(req)
	if r := m.upstream(); !idle(r) {
		req = r.Request(req)
	}
	started := kit.Env(run).Now()
	index := m.next(run)
	returned := false
	var reply agent.LLMResponse
	var err error
	write := func() {
		if !returned {
			err = errors.New("the call panicked")
		}
		c := modelCall{req: req, reply: reply, err: err}
		c.PromptChars = chars
		c.Index, c.Timestamp, c.DurationMS, c.Scope = index, kit.UnixSeconds(started), kit.Milliseconds(kit.Env(run).Now().Sub(started)), scope
		m.write(run, &c)
	}
	defer write()
	reply, err = call(req)
	returned = true
	return reply, err
}

func (m *Model) upstream() *redact.Redactor {
	switch m.SendRedacted {
	case RedactAll:
		return &m.Redact
	case RedactNothing:
		return &redact.Redactor{KeepSecrets: true, KeepPersonal: true}
	}
	return own(&m.Redact)
}

// next returns the index of a call that begins.
func (m *Model) next(run *agent.Run) (index int) {
	m.runs.Do(run, func(r *recordedRun) {
		index = len(r.calls)
		r.calls = append(r.calls, ModelCall{Index: index})
	})
	return index
}

// Calls returns the calls of a run so far, in the order in which they began.
func (m *Model) Calls(run *agent.Run) (calls []ModelCall) {
	m.runs.Do(run, func(r *recordedRun) { calls = append(calls, r.calls...) })
	return calls
}

// RunDir returns the directory of a run.
func (m *Model) RunDir(run *agent.Run) string { return runDir(m.Dir, m.OneRun, run) }

func runDir(dir string, oneRun bool, run *agent.Run) string {
	if !oneRun {
		dir = filepath.Join(dir, run.Root())
	}
	if run.Parent() != "" {
		dir = filepath.Join(dir, "runs", run.ID())
	}
	return dir
}

// Wrap returns a model that records what the loop does not call itself: calls by hooks and tools. It streams if
// the model does. The recorder must be bound, too: a call in a run that it does not know is reported and not
// recorded.
func (m *Model) Wrap(model agent.Model) agent.Model {
	w := recordedModel{m, model}
	if streams, ok := model.(agent.StreamingModel); ok {
		return streamedModel{w, streams}
	}
	return w
}

type recordedModel struct {
	recorder *Model
	model    agent.Model
}

// Generate calls the model.
func (w recordedModel) Generate(ctx context.Context, req agent.LLMRequest) (agent.LLMResponse, error) {
	return w.call(ctx, req, func(req agent.LLMRequest) (agent.LLMResponse, error) { return w.model.Generate(ctx, req) })
}

// ContextWindow is that of the model, 0 if it does not say.
func (w recordedModel) ContextWindow() int {
	if c, ok := w.model.(agent.ContextWindow); ok {
		return c.ContextWindow()
	}
	return 0
}

// CountTokens counts as the model does, or estimates.
func (w recordedModel) CountTokens(messages []agent.Message) int {
	if c, ok := w.model.(agent.TokenCounter); ok {
		return c.CountTokens(messages)
	}
	return agentspec.EstimateTokens(messages)
}

func (w recordedModel) call(ctx context.Context, req agent.LLMRequest, call func(agent.LLMRequest) (agent.LLMResponse, error)) (agent.LLMResponse, error) {
	m := w.recorder
	if ctx.Value(recordedKey{}) == any(m) {
		return call(req)
	}
	id := agentspec.RunID(ctx)
	m.mu.Lock()
	run := m.live[id]
	m.mu.Unlock()
	if run == nil {
		m.report(fmt.Errorf("a call to the model in the run %q is not recorded: bind the record.Model to the hooks of its agent", id))
		return call(req)
	}
	scope := "hook"
	if tool, ok := ctx.Value(toolKey{}).(string); ok {
		scope = "tool:" + m.Redact.CutText(tool, shorten.SummaryChars)
	}
	return m.record(run, scope, req, call)
}

func (m *Model) report(err error) { m.failed.Report("record.Model", m.OnError, err) }

type streamedModel struct {
	recordedModel
	streams agent.StreamingModel
}

// Stream calls the model.
func (w streamedModel) Stream(ctx context.Context, req agent.LLMRequest, emit func(agent.Delta)) (agent.LLMResponse, error) {
	return w.call(ctx, req, func(req agent.LLMRequest) (agent.LLMResponse, error) { return w.streams.Stream(ctx, req, emit) })
}

// own is the part of a redactor that was configured: without the forms that it knows by itself.
func own(r *redact.Redactor) *redact.Redactor {
	return &redact.Redactor{KeepSecrets: true, KeepPersonal: true, Keys: r.Keys, Patterns: r.Patterns, Extra: r.Extra}
}

// idle reports whether there is nothing to take out.
func idle(r *redact.Redactor) bool {
	return r.KeepSecrets && r.KeepPersonal && len(r.Keys) == 0 && len(r.Patterns) == 0 && r.Extra == nil
}

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

// Model writes every prompt and reply of a run to files, from which [Replay] can repeat the run.
//
// For example, to find out why an agent chose the wrong tool, read call_03_prompt.txt in the directory of the run. Each
// run has a directory below Dir with the name of the run's ID. A sub-run has a directory below "runs" in the directory
// of its root run. With OneRun, Dir itself is the directory. It contains, where NN counts the calls from 00:
//
//   - manifest.jsonl with a [ModelCall] on each line
//   - call_NN_prompt.txt and call_NN_response.txt for people
//   - call_NN_response.json with the complete reply or error, for Replay
//
// Files are replaced atomically, the reply before its text. If a crash leaves an incomplete line in the manifest, the
// next line starts after it. Texts are redacted, then truncated to MaxChars characters with a mark at the end. A
// failure to write is reported and does not affect the run. An error of the model is recorded and returned.
//
// Model wraps AroundLLM after hooks with other priorities, so it records each request as it is sent, and each retry. It
// also uses OnRunStart and AroundTool and observes OnRunEnd. Calls made by hooks and tools themselves fire no point. To
// record them, give the agent the model returned by [Model.Wrap]; their scope is "hook" or "tool:" and the tool's name.
//
// Model is safe for concurrent use. Bind panics on an empty Dir and on a negative bound.
type Model struct {
	Dir          string           // required
	OneRun       bool             // Dir is the directory of the only run
	MaxChars     limit.Bound[int] // characters of each text; default 200,000
	Redact       redact.Redactor
	SendRedacted SendRedacted
	OnError      func(error) // receives write failures; nil: they are logged

	runs   hookkit.PerRun[recordedRun]
	failed kit.Reporter

	mu   sync.Mutex
	live map[string]*agent.Run // current runs by ID, for Wrap
}

// SendRedacted selects the texts to remove from a prompt before it is sent to the model.
type SendRedacted int

// The zero value removes only texts that the Redactor was configured for. For example, a model that edits a file must
// see the e-mail addresses in that file.
const (
	RedactOwn     SendRedacted = iota // remove matches of the Keys, Patterns and Extra of the Redactor
	RedactAll                         // remove everything that is removed from the record
	RedactNothing                     // remove nothing
)

const recordChars = 200_000

// ModelCall is a line of the manifest: one model call.
type ModelCall struct {
	Run string `json:"run"`
	agent.Identity
	Index          int            `json:"index"`     // number of the call in its run, from 0
	Timestamp      float64        `json:"timestamp"` // start, in seconds since 1970
	DurationMS     float64        `json:"duration_ms"`
	Method         string         `json:"method"`          // generate or generate_with_tools
	PromptChars    int            `json:"prompt_chars"`    // before redaction and truncation
	ResponseChars  int            `json:"response_chars"`  // before redaction and truncation
	ResponseBlocks int            `json:"response_blocks"` // the text, each part and each tool call
	Temperature    *float64       `json:"temperature"`
	MaxTokens      int            `json:"max_tokens"`
	ToolCount      int            `json:"tool_count"`
	StepNum        int            `json:"step_num"`
	Error          *string        `json:"error"`
	Scope          string         `json:"scope"` // "" for calls of the loop, "hook", or "tool:" and a name
	Metadata       map[string]any `json:"metadata"`
}

// recordedRun holds the calls of a run.
type recordedRun struct {
	calls []ModelCall
}

type (
	recordedKey struct{} // in the context of a call that is being recorded
	toolKey     struct{} // in the context of a tool: its name
)

// Bind adds the hook to its points.
func (m *Model) Bind(h *agent.Hooks) {
	kit.MustConfig("record.Model", m.MaxChars.Check("MaxChars"))
	if m.Dir == "" {
		kit.MustConfig("record.Model", errors.New("Dir is empty; name the directory to write to"))
	}
	name := hookkit.Named("record.Model")
	// Before any hook can call the model.
	h.OnRunStart.Add(agent.OnRunStartFunc(m.follow), name, hookkit.Priority(hookkit.Safety+1))
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

// noteTool stores the name of the tool in the context, for model calls inside the tool.
func noteTool(
	ctx context.Context, _ *agent.Run, call agent.ToolCallRequest, next agent.AroundToolNext,
) (hookkit.Answer[agent.ToolCallResult], error) {
	return next.Call(context.WithValue(ctx, toolKey{}, call.Name), call)
}

func (m *Model) around(
	ctx context.Context, run *agent.Run, req agent.LLMRequest, next agent.AroundLLMNext,
) (hookkit.Answer[agent.LLMResponse], error) {
	if ctx.Value(recordedKey{}) == any(m) { // bound twice: the outer one records
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

// record makes a call and writes it to the files.
func (m *Model) record(
	run *agent.Run, scope string, req agent.LLMRequest, call func(agent.LLMRequest) (agent.LLMResponse, error),
) (agent.LLMResponse, error) {
	chars := promptChars(req)
	if r := m.sendRedactor(); !isNoop(r) {
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
		c.PromptChars, c.Index, c.Timestamp, c.Scope = chars, index, kit.UnixSeconds(started), scope
		c.DurationMS = kit.Milliseconds(kit.Env(run).Now().Sub(started))
		m.write(run, &c)
	}
	defer write()
	reply, err = call(req)
	returned = true
	return reply, err
}

func (m *Model) sendRedactor() *redact.Redactor {
	switch m.SendRedacted {
	case RedactAll:
		return &m.Redact
	case RedactNothing:
		return &redact.Redactor{KeepSecrets: true, KeepPersonal: true}
	}
	return configured(&m.Redact)
}

// next returns the index of a new call.
func (m *Model) next(run *agent.Run) (index int) {
	m.runs.Do(run, func(r *recordedRun) {
		index = len(r.calls)
		r.calls = append(r.calls, ModelCall{Index: index})
	})
	return index
}

// Calls returns a copy of the calls of a run so far, in the order in which they began.
func (m *Model) Calls(run *agent.Run) []ModelCall { return m.callsAfter(run, 0) }

// callsAfter is Calls without the first ones.
func (m *Model) callsAfter(run *agent.Run, without int) (calls []ModelCall) {
	m.runs.Do(run, func(r *recordedRun) { calls = append(calls, r.calls[without:]...) })
	return calls
}

// RunDir returns the directory of a run. A run that is resumed has one more directory for each part.
func (m *Model) RunDir(run *agent.Run) string { return runDir(m.Dir, m.OneRun, liveEvent(run)) }

func runDir(dir string, oneRun bool, of event) string {
	if !oneRun {
		dir = filepath.Join(dir, of.root)
	}
	if of.parent != "" {
		dir = filepath.Join(dir, "runs", of.run)
	}
	if of.resumed != "" { // the numbers of the files begin anew
		dir = filepath.Join(dir, "resumed", of.resumed)
	}
	return dir
}

// Wrap returns a model that also records calls made by hooks and tools. It streams if model does. The receiver must be
// bound too: a call in a run that it does not know is reported and not recorded.
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

// Generate calls the model and records the call.
func (w recordedModel) Generate(ctx context.Context, req agent.LLMRequest) (agent.LLMResponse, error) {
	return w.call(ctx, req, func(req agent.LLMRequest) (agent.LLMResponse, error) { return w.model.Generate(ctx, req) })
}

// ContextWindow returns the window of the model in tokens, or 0 if the model does not report it.
func (w recordedModel) ContextWindow() int {
	if c, ok := w.model.(agent.ContextWindow); ok {
		return c.ContextWindow()
	}
	return 0
}

// CountTokens counts with the model, or estimates if the model cannot count.
func (w recordedModel) CountTokens(messages []agent.Message) int {
	if c, ok := w.model.(agent.TokenCounter); ok {
		return c.CountTokens(messages)
	}
	return agentspec.EstimateTokens(messages)
}

func (w recordedModel) call(
	ctx context.Context, req agent.LLMRequest, call func(agent.LLMRequest) (agent.LLMResponse, error),
) (agent.LLMResponse, error) {
	m := w.recorder
	if ctx.Value(recordedKey{}) == any(m) {
		return call(req)
	}
	id := agentspec.RunID(ctx)
	m.mu.Lock()
	run := m.live[id]
	m.mu.Unlock()
	if run == nil {
		m.report(fmt.Errorf("a model call in the run %q is not recorded: bind the record.Model to the hooks of its agent",
			id))
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

// Stream calls the model and records the call.
func (w streamedModel) Stream(
	ctx context.Context, req agent.LLMRequest, emit func(agent.Delta),
) (agent.LLMResponse, error) {
	return w.call(ctx, req, func(req agent.LLMRequest) (agent.LLMResponse, error) {
		return w.streams.Stream(ctx, req, emit)
	})
}

// configured returns a redactor that applies only the configured Keys, Patterns and Extra.
func configured(r *redact.Redactor) *redact.Redactor {
	return &redact.Redactor{
		KeepSecrets: true, KeepPersonal: true, Network: r.Network, Keys: r.Keys, Patterns: r.Patterns, Extra: r.Extra,
		Mark: r.Mark,
	}
}

// isNoop reports whether a redactor removes nothing.
func isNoop(r *redact.Redactor) bool {
	return r.KeepSecrets && r.KeepPersonal && !r.Network && len(r.Keys) == 0 && len(r.Patterns) == 0 && r.Extra == nil
}

package record

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/hookgen/hookgen/builtin/internal/jsonx"
	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/memory"
	"github.com/hookgen/hookgen/builtin/redact"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/internal/atomicfile"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// Episodes is a [View] that stores each tool call and its outcome as an episode, so that later runs can learn from
// them.
//
// For example, memory.Injector shows the model "[tool_call] name=deploy -> failed" in the next run. Set Store, Path, or
// both.
//
// In Store, an episode has the kind tool_call and a payload with name, args, result and error. Its outcome is ok,
// failed, refused, skipped (a hook answered the call), unrun (the run ended first) or handed_off. The outcome is that
// of the tool, even if a hook changed the result at AfterTool. The episodes are stored at the end of the run, the last
// 500 of it.
//
// The episodes belong to the owner of the run. The option Share of memory.Facts says who shares them.
//
// In the file at Path, each call of any run is one JSON line: run, tenant, user and conversation, time, tool_name,
// result_summary, success, error_signal, turn_index and duration_ns. The summary has at most 200 characters; turn_index
// counts the calls of the run from 1; error_signal is null for a success. If a crash leaves an incomplete line, the
// next line starts after it.
//
// Secrets and personal data are removed first, then texts are truncated. A failure to store is reported and does not
// stop the run. Episodes reads AfterTool and OnRunEnd. Bind panics if neither Store nor Path is set.
type Episodes struct {
	Store    memory.Store
	Path     string
	MaxChars limit.Bound[int] // characters of each text of an episode; default 2000
	Redact   redact.Redactor
	// Classify finds failures that a tool reports only in its output. It returns the text that indicates the failure,
	// or "" for a success; see [FailureSignal]. If Classify is nil or panics, the outcome of the tool counts.
	Classify func(output string) (signal string)
	OnError  func(error) // receives failures to store; nil: they are logged

	watch
	runs   map[string]*episodesOf // by the ID of a run that has not ended
	failed kit.Reporter
}

// episodesOf has the calls of a run so far.
type episodesOf struct {
	turns int
	facts []memory.Fact // for the Store
}

const (
	episodeKind  = "tool_call"
	episodeValue = 2000
	maxEpisodes  = 500 // of a run; a store keeps no more
)

// Bind adds the view to its points.
func (e *Episodes) Bind(h *agent.Hooks) {
	kit.MustConfig("record.Episodes", e.MaxChars.Check("MaxChars"))
	if e.Store == nil && e.Path == "" {
		kit.MustConfig("record.Episodes", errors.New("Store and Path are both empty; set the one to store episodes in"))
	}
	e.bind(h, "record.Episodes", e)
}

func (e *Episodes) points() []string { return []string{"AfterTool", "OnRunEnd"} }

func (e *Episodes) see(ctx context.Context, ev event) {
	switch p := ev.payload.(type) {
	case agent.ToolCallResult:
		e.remember(ev, p)
	case agent.AgentResult:
		e.mu.Lock()
		of := e.runs[ev.run]
		delete(e.runs, ev.run)
		e.mu.Unlock()
		if of != nil && e.Store != nil {
			e.report(e.Store.Put(agentspec.WithIdentity(ctx, ev.Identity), of.facts...))
		}
	}
}

func (e *Episodes) report(err error) { e.failed.Report("record.Episodes", e.OnError, err) }

// remember stores a call in the file, and notes it for the store.
func (e *Episodes) remember(ev event, r agent.ToolCallResult) {
	outcome, signal := e.outcome(r)
	var facts []memory.Fact
	if e.Store != nil {
		facts = append(facts, e.episode(ev, r, outcome).Fact())
	}
	e.mu.Lock()
	if e.runs == nil {
		e.runs = make(map[string]*episodesOf)
	}
	if e.runs[ev.run] == nil {
		e.runs[ev.run] = new(episodesOf)
	}
	of := e.runs[ev.run]
	of.turns++
	turn := of.turns
	if of.facts = append(of.facts, facts...); len(of.facts) == 2*maxEpisodes {
		of.facts = slices.Clone(of.facts[maxEpisodes:])
	}
	e.mu.Unlock()
	if e.Path != "" {
		e.report(e.observation(ev, r, outcome, signal, turn))
	}
}

func (e *Episodes) episode(ev event, r agent.ToolCallResult, outcome string) memory.Episode {
	most := e.MaxChars.Or(episodeValue)
	args := e.Redact.CutJSON(r.Call.Args, most)
	if args == nil {
		args = []byte("{}")
	}
	payload := map[string]any{
		"name": e.Redact.CutText(r.Call.Name, most), "args": args,
		"result": e.Redact.CutText(r.Output, most), "error": nil,
	}
	if r.Err != "" {
		payload["error"] = e.Redact.CutText(r.Err, most)
	}
	return memory.Episode{
		Kind: episodeKind, Payload: jsonx.Encode(payload), Outcome: outcome, Time: ev.at,
		Agent: e.Redact.CutText(ev.agent, most), Run: ev.run, Identity: ev.Identity,
	}
}

// outcome returns the outcome of a call, and the text that indicates a failure.
func (e *Episodes) outcome(r agent.ToolCallResult) (outcome, signal string) {
	switch {
	case kit.Succeeded(r):
		if signal = e.classify(r.Output); signal != "" {
			return "failed", signal
		}
		return "ok", ""
	case r.Status == "" || r.Status == agent.CallSucceeded:
		outcome = "failed" // an error without a status, or with a contradicting one
	default:
		outcome = e.Redact.CutText(string(r.Status), 40)
	}
	if r.Err == "" {
		return outcome, outcome
	}
	if signal = FailureSignal(r.Err); signal == "" {
		signal = e.Redact.CutText(string(r.Kind), 40)
	}
	if signal == "" {
		signal = outcome
	}
	return outcome, signal
}

func (e *Episodes) classify(output string) (signal string) {
	if e.Classify == nil {
		return ""
	}
	defer func() {
		if v := recover(); v != nil {
			signal = ""
			e.report(errors.New("Classify panicked; the tool's own outcome counts"))
		}
	}()
	return e.Redact.CutText(e.Classify(output), shorten.SummaryChars)
}

type observation struct {
	Run string `json:"run"`
	agent.Identity
	Time          time.Time     `json:"time"`
	ToolName      string        `json:"tool_name"`
	ResultSummary string        `json:"result_summary"`
	Success       bool          `json:"success"`
	ErrorSignal   *string       `json:"error_signal"`
	TurnIndex     int           `json:"turn_index"`
	Duration      time.Duration `json:"duration_ns"`
}

func (e *Episodes) observation(
	ev event, r agent.ToolCallResult, outcome, signal string, turn int,
) error {
	o := observation{
		Run: ev.run, Identity: ev.Identity,
		Time: ev.at.UTC(), Success: outcome == "ok", Duration: r.Elapsed,
		TurnIndex:     turn,
		ToolName:      e.Redact.CutText(r.Call.Name, shorten.SummaryChars),
		ResultSummary: e.Redact.CutText(r.Content(), shorten.SummaryChars),
	}
	if signal != "" {
		o.ErrorSignal = &signal
	}
	return atomicfile.AppendLine(e.Path, jsonx.Encode(o))
}

// maxSignalJSON bounds the bytes of an output that are decoded as JSON.
const maxSignalJSON = 256 << 10

// signals indicate a failure in the output of a tool.
var signals = []string{
	"error:", "traceback", "exception:", "failed:", "command not found", "permission denied", "errno",
	"filenotfounderror", "modulenotfounderror", "no such file", "connectionerror", "timeout",
}

// signalWithin bounds the characters of an output that are searched.
const signalWithin = 4000

// FailureSignal returns the text that indicates a failure in the output of a tool, or "". It searches the first 4000
// characters for one of twelve signals such as "error:", "traceback" or "command not found", ignoring case. If the
// output is a JSON object with a boolean "success", only that value counts.
func FailureSignal(output string) string {
	if trimmed := strings.TrimSpace(output); strings.HasPrefix(trimmed, "{") && len(trimmed) <= maxSignalJSON {
		if v, err := jsonx.Decode([]byte(trimmed)); err == nil {
			switch success := v.(map[string]any)["success"]; success {
			case true:
				return ""
			case false:
				return "success: false"
			}
		}
	}
	head := strings.ToLower(shorten.Runes(output, signalWithin))
	for _, s := range signals {
		if strings.Contains(head, s) {
			return s
		}
	}
	return ""
}

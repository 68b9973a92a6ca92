package record

import (
	"cmp"
	"context"
	"encoding/json"
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
	"github.com/hookgen/hookgen/spec/agentspec"
)

// Episodes is a [View] that stores each tool call and its outcome as an episode, so that later runs can learn from
// them.
//
// For example, memory.Injector shows the model "[tool_call] name=deploy, args={}, result= → failed" in the next run.
//
// An episode has the kind tool_call. Its payload has the name, args, result and error of the call, its turn among the
// calls of the run, counted from 1, its duration_ns, and the signal, which indicates a failure. Its outcome is ok,
// failed, refused, skipped (a hook answered the call), unrun (the run ended first) or handed_off. The outcome is that
// of the tool, even if a hook changed the result at AfterTool. The episodes are stored at the end of the run, the last
// 500 of it.
//
// The episodes belong to the owner of the run. The option Share of memory.Facts says who shares them.
//
// Secrets and personal data are removed first, then texts are truncated. A failure to store is reported and does not
// stop the run. Episodes reads AfterTool and OnRunEnd. Bind panics if Store is nil.
type Episodes struct {
	Store    memory.Store     // required
	MaxChars limit.Bound[int] // characters of each text of an episode; default 2000
	Redact   redact.Redactor
	// Classify finds failures that a tool reports only in its output. It returns the text that indicates the failure,
	// or "" for a success; see [FailureSignal]. If Classify is nil or panics, the outcome of the tool counts.
	Classify func(output string) (signal string)
	OnError  func(error) // receives failures to store; nil: they are logged

	watch
	runs   byRun[episodesOf]
	failed kit.Reporter
}

// episodesOf has the calls of a run so far.
type episodesOf struct {
	turns int
	facts []memory.Fact
}

const (
	episodeKind  = "tool_call"
	episodeValue = 2000
	maxEpisodes  = 500 // of a run; a store keeps no more
)

// Bind adds the view to its points.
func (e *Episodes) Bind(h *agent.Hooks) {
	err := e.MaxChars.Check("MaxChars")
	if e.Store == nil {
		err = errors.New("Store is nil; give it a memory.Facts or your own")
	}
	kit.MustConfig("record.Episodes", err)
	e.bind(h, "record.Episodes", e)
}

func (e *Episodes) points() []string { return []string{"AfterTool", "OnRunEnd"} }

func (e *Episodes) see(ctx context.Context, ev event) {
	if call, ok := ev.payload.(agent.ToolCallResult); ok {
		e.add(ev, call)
		return
	}
	e.mu.Lock()
	of := e.runs.take(ev.run)
	e.mu.Unlock()
	if of.turns > 0 {
		e.report(e.Store.Put(agentspec.WithIdentity(ctx, ev.Identity), of.facts...))
	}
}

// add keeps the episode of a call until the run ends.
func (e *Episodes) add(ev event, call agent.ToolCallResult) {
	episode, payload := e.episode(ev, call)
	e.mu.Lock()
	defer e.mu.Unlock()
	of := e.runs.of(ev.run)
	of.turns++
	payload.Turn = of.turns
	episode.Payload = jsonx.Encode(payload)
	if of.facts = append(of.facts, episode.Fact()); len(of.facts) == 2*maxEpisodes {
		of.facts = slices.Clone(of.facts[maxEpisodes:])
	}
}

func (e *Episodes) report(err error) { e.failed.Report("record.Episodes", e.OnError, err) }

// An episodePayload is the payload of an episode.
type episodePayload struct {
	Name     string          `json:"name"`
	Args     json.RawMessage `json:"args"`
	Result   string          `json:"result"`
	Error    *string         `json:"error"`
	Signal   string          `json:"signal,omitempty"` // of a failure
	Turn     int             `json:"turn"`
	Duration time.Duration   `json:"duration_ns"`
}

// episode returns the episode of a call, and its payload without the turn.
func (e *Episodes) episode(ev event, r agent.ToolCallResult) (memory.Episode, episodePayload) {
	most := e.MaxChars.Or(episodeValue)
	p := episodePayload{
		Name: e.Redact.CutText(r.Call.Name, most), Args: e.Redact.CutJSON(r.Call.Args, most),
		Result: e.Redact.CutText(r.Output, most), Duration: r.Elapsed,
	}
	if p.Args == nil {
		p.Args = []byte("{}")
	}
	if r.Err != "" {
		text := e.Redact.CutText(r.Err, most)
		p.Error = &text
	}
	episode := memory.Episode{
		Kind: episodeKind, Time: ev.at, Agent: e.Redact.CutText(ev.agent, most), Run: ev.run, Identity: ev.Identity,
	}
	episode.Outcome, p.Signal = e.outcome(r)
	return episode, p
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
	return outcome, cmp.Or(FailureSignal(r.Err), e.Redact.CutText(string(r.Kind), 40), outcome)
}

func (e *Episodes) classify(output string) string {
	if e.Classify == nil {
		return ""
	}
	signal, err := kit.Recover(func() (string, error) { return e.Classify(output), nil })
	if err != nil {
		e.report(errors.New("Classify panicked; the tool's own outcome counts"))
	}
	return e.Redact.CutText(signal, shorten.SummaryChars)
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

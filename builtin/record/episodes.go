package record

import (
	"context"
	"errors"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/jsonx"
	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/memory"
	"github.com/hookgen/hookgen/builtin/redact"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/internal/atomicfile"
)

// An Episodes remembers what tools were called for and what came of it.
//
// It observes AfterTool and OnRunEnd, at tier Observability. Each call becomes an episode of kind tool_call in
// Memory, with the payload {name, args, result, error} and the outcome ok, failed or refused; a call that a hook
// answered in the tool's place is skipped, one that the end of the run left undispatched unrun, a handoff
// handed_off. What counts is the tool's own outcome, whatever hooks made of it at AfterTool. At the end of a run the
// memory is flushed.
//
// With Path each call also becomes a line of JSON in that file: {timestamp, tool_name, result_summary, success,
// error_signal, turn_index, elapsed_ms}; turn_index counts the calls of the run from 1, result_summary has at most
// 200 characters, error_signal is null for a success. A line is written at once; one that a kill left unfinished is no
// JSON, and the next one begins behind it.
//
// Either Memory or Path is required. Secrets and personal data are taken out before anything is stored, then texts
// are cut. What cannot be stored is reported and does not stop the run. One Episodes serves any number of runs
// at once, and remembers each call once however often it is used.
type Episodes struct {
	Memory   memory.Store
	Path     string
	MaxValue limit.Bound[int] // characters of a text of an episode; default 2000
	Redact   redact.Redactor
	// Classify finds failures that a tool only reports in its output: it returns what gave a failure away, ""
	// for none. [FailureSignal] is one; nil: the tool's outcome counts. If it panics, that outcome counts, too.
	Classify func(output string) (signal string)
	OnError  func(error) // gets what could not be stored; nil: it is logged by slog

	once   kit.OnceObserver
	turns  hookkit.PerRun[int]
	failed kit.Reporter
}

const (
	episodeKind  = "tool_call"
	episodeValue = 2000
)

// Bind adds the observers.
func (e *Episodes) Bind(h *agent.Hooks) {
	kit.MustConfig("record.Episodes", e.MaxValue.Check("MaxValue"))
	if e.Memory == nil && e.Path == "" {
		kit.MustConfig("record.Episodes", errors.New("Memory and Path are both empty; set the one to store episodes in"))
	}
	as := new(kit.Binding)
	name := hookkit.Named("record.Episodes")
	h.AfterTool.ObserveFunc(func(ctx context.Context, run *agent.Run, f agent.AfterToolFired[agent.ToolCallResult]) {
		if e.once.First(run, as, "AfterTool", f.Verdict) {
			e.remember(ctx, run, f.Payload)
		}
	}, name)

	if e.Memory != nil {
		h.OnRunEnd.ObserveFunc(func(ctx context.Context, _ *agent.Run, _ agent.OnRunEndFired[agent.AgentResult]) {
			e.report(e.Memory.Flush(ctx))
		}, name)
	}
}

func (e *Episodes) report(err error) { e.failed.Report("record.Episodes", e.OnError, err) }

func (e *Episodes) remember(ctx context.Context, run *agent.Run, r agent.ToolCallResult) {
	outcome, signal := e.outcome(r)
	env := kit.Env(run)
	if e.Memory != nil {
		most := e.MaxValue.Or(episodeValue)
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
		e.report(e.Memory.AddEpisode(ctx, memory.Episode{
			Kind: episodeKind, Payload: jsonx.Encode(payload), Outcome: outcome, Time: env.Now(), Agent: kit.Agent(run),
		}))
	}
	if e.Path != "" {
		e.report(e.observation(run, r, outcome, signal))
	}
}

// outcome is what came of a call, and what gave a failure away.
func (e *Episodes) outcome(r agent.ToolCallResult) (outcome, signal string) {
	switch {
	case kit.Succeeded(r):
		if signal = e.classify(r.Output); signal != "" {
			return "failed", signal
		}
		return "ok", ""
	case r.Status == "" || r.Status == agent.CallSucceeded:
		outcome = "failed" // an error beside no status, or beside a wrong one
	default:
		outcome = shorten.To(string(r.Status), 40)
	}
	if r.Err == "" {
		return outcome, outcome
	}
	if signal = FailureSignal(r.Err); signal == "" {
		signal = shorten.To(string(r.Kind), 40)
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
	return shorten.To(e.Classify(output), shorten.SummaryChars)
}

type observation struct {
	Timestamp     float64 `json:"timestamp"` // seconds since 1970
	ToolName      string  `json:"tool_name"`
	ResultSummary string  `json:"result_summary"`
	Success       bool    `json:"success"`
	ErrorSignal   *string `json:"error_signal"`
	TurnIndex     int     `json:"turn_index"`
	ElapsedMS     float64 `json:"elapsed_ms"`
}

func (e *Episodes) observation(run *agent.Run, r agent.ToolCallResult, outcome, signal string) error {
	o := observation{
		Timestamp: kit.UnixSeconds(kit.Env(run).Now()), ToolName: e.Redact.CutText(r.Call.Name, shorten.SummaryChars),
		ResultSummary: e.Redact.CutText(r.Content(), shorten.SummaryChars), Success: outcome == "ok", ElapsedMS: kit.Milliseconds(r.Elapsed),
	}
	if signal != "" {
		o.ErrorSignal = &signal
	}
	if run != nil {
		e.turns.Do(run, func(n *int) { *n++; o.TurnIndex = *n })
	}
	return atomicfile.AppendLine(e.Path, jsonx.Encode(o))
}

// maxSignalJSON is how many bytes of an output are decoded as JSON.
const maxSignalJSON = 256 << 10

// signals are what failures begin with in the output of tools.
var signals = []string{
	"error:", "traceback", "exception:", "failed:", "command not found", "permission denied", "errno",
	"filenotfounderror", "modulenotfounderror", "no such file", "connectionerror", "timeout",
}

// signalWithin is how many characters of an output are looked at.
const signalWithin = 4000

// FailureSignal returns what in the output of a tool says that it failed, "" if nothing does: one of twelve
// signals (error:, traceback, command not found, ...) in its first 4000 characters, in any case of letters. If
// the output is a JSON object with a boolean "success", that alone decides.
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

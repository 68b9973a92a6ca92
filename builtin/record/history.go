package record

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/redact"
	"github.com/hookgen/hookgen/generated/agent"
)

// History is a [View] that lists runs: how they ended, how long they took, and how many tokens they used.
//
// For example, a dashboard shows the last runs of the agent "writer" with [History.Runs]. Sub-runs are listed under
// their own agent. After a restart, [Read] fills a History from the record.
//
// History reads AfterTool and OnRunEnd. Bind panics if Keep is negative.
type History struct {
	Keep limit.Bound[int] // the last runs of all agents and owners; default 10,000

	watch
	entries []HistoryEntry
	numbers map[string]int // of the last run, by agent
	failed  byRun[int]     // calls
}

const keepRuns = 10_000

// A HistoryEntry is one run in the list.
type HistoryEntry struct {
	Run string `json:"run"` // its ID
	agent.Identity
	Agent    string        `json:"agent"`
	Number   int           `json:"number"` // among the agent's runs, from 1
	Status   string        `json:"status"` // failed, suspended, stopped or completed
	Steps    int           `json:"steps"`
	Usage    agent.Usage   `json:"usage"`
	Time     time.Time     `json:"time"` // when it ended
	Duration time.Duration `json:"duration_ns"`
	Stop     string        `json:"stop"`    // cause of the strongest signal
	Message  string        `json:"message"` // of that signal
	Errors   int           `json:"errors"`  // failed calls, plus one if the run failed
}

// Bind adds the view to its points.
func (r *History) Bind(h *agent.Hooks) {
	kit.MustConfig("record.History", r.Keep.Check("Keep"))
	r.bind(h, "record.History", r)
}

func (r *History) points() []string { return []string{"AfterTool", "OnRunEnd"} }

func (r *History) see(_ context.Context, e event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.numbers == nil {
		r.numbers = make(map[string]int)
	}
	if call, ok := e.payload.(agent.ToolCallResult); ok && call.Status == agent.CallFailed {
		*r.failed.of(e.run)++
	}
	result, ok := e.payload.(agent.AgentResult)
	if !ok {
		return
	}
	var redactor redact.Redactor
	entry := HistoryEntry{
		Run: e.run, Identity: e.Identity, Agent: cmp.Or(e.agent, result.Agent), Status: "completed",
		Steps: result.Steps, Usage: result.Usage, Time: e.at, Duration: result.Elapsed,
		Stop:    redactor.CutText(string(result.Stop.Cause), shorten.SummaryChars),
		Message: redactor.CutText(result.Stop.Message, shorten.SummaryChars), Errors: *r.failed.take(e.run),
	}
	switch {
	case result.Err != "":
		entry.Status = "failed"
		entry.Errors++
	case result.Suspended != nil:
		entry.Status = "suspended"
	case result.Forced():
		entry.Status = "stopped"
	}
	r.numbers[entry.Agent]++
	entry.Number = r.numbers[entry.Agent]
	if keep := r.Keep.Or(keepRuns); len(r.entries)-keep >= keep/10 { // in blocks, so that a run costs no copy of the list
		r.entries = slices.Delete(r.entries, 0, len(r.entries)-keep)
	}
	r.entries = append(r.entries, entry)
}

// Runs returns the runs of an agent, oldest first; "" means every agent. Only runs with all names that the owner has
// are listed: with a user and a tenant, those of one customer; with a zero owner, the runs of everybody.
func (r *History) Runs(owner agent.Identity, agentName string) (runs []HistoryEntry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	same := func(want, have string) bool { return want == "" || want == have }
	for _, e := range r.entries[max(0, len(r.entries)-r.Keep.Or(keepRuns)):] {
		if same(agentName, e.Agent) && same(owner.Tenant, e.Tenant) && same(owner.User, e.User) &&
			same(owner.Conversation, e.Conversation) {
			runs = append(runs, e)
		}
	}
	return runs
}

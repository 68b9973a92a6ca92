package record

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/internal/storekey"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/redact"
	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// History keeps a list of the runs of each agent: how they ended, how long they took, and how many tokens they used.
//
// For example, a dashboard calls [History.Runs] to show the last runs of the agent "writer". Each run is a
// [HistoryEntry] in Store, under a key that begins with "history/". Sub-runs are listed under their own agent. An agent
// keeps its last Keep runs; numbers continue when older runs are dropped.
//
// Each conversation has its own lists. For the dashboard of an operator, set Share to share.Everyone, and for one that
// a customer sees, to share.Tenant. A run without a named conversation is not listed, unless Share is wider.
//
// History uses OnRunEnd, after hooks with other priorities. A list that cannot be read is not overwritten. A failure is
// reported as a failure of the hook and does not affect the run. History is safe for concurrent use, but runs that
// share a store must share one History. Bind panics if Store is nil.
type History struct {
	Store agent.Store
	Keep  limit.Bound[int] // runs of each agent; default 1000
	Share share.Scope      // the runs that are in one list

	mu   sync.Mutex // held while a list is read and written
	seen hookkit.PerRun[bool]
}

const keepRuns = 1000

// HistoryEntry is one run in the list of an agent.
type HistoryEntry struct {
	ExecutionID string `json:"execution_id"` // ID of the run
	agent.Identity
	ExecutionNumber int         `json:"execution_number"` // number among the agent's runs, from 1
	Status          string      `json:"status"`           // failed, stopped or completed
	StepCount       int         `json:"step_count"`
	Usage           agent.Usage `json:"usage"`
	Duration        float64     `json:"duration"`   // seconds
	StartedAt       float64     `json:"started_at"` // seconds since 1970
	CompletedAt     float64     `json:"completed_at"`
	StopReason      string      `json:"stop_reason"` // cause of the strongest signal
	StopMessage     string      `json:"stop_message"`
	ErrorCount      int         `json:"error_count"` // failed calls, plus one if the run failed
}

// Bind adds the hook to OnRunEnd.
func (r *History) Bind(h *agent.Hooks) {
	if r.Store == nil {
		kit.MustConfig("record.History", errors.New("Store is nil; give it a store, such as session.Dir{Path: ...}"))
	}
	kit.MustConfig("record.History", errors.Join(r.Keep.Check("Keep"), r.Share.Check()))
	h.OnRunEnd.Add(r, hookkit.Priority(kit.LastPriority))
}

// OnRunEnd adds the run to the list.
func (r *History) OnRunEnd(ctx context.Context, run *agent.Run, result agent.AgentResult) error {
	var again bool
	r.seen.Do(run, func(seen *bool) { again, *seen = *seen, true })
	if again || !r.Share.Lasting(run) {
		return nil
	}
	now := kit.Env(run).Now()
	var redactor redact.Redactor
	entry := HistoryEntry{
		ExecutionID: run.ID(), Identity: kit.Owner(run), Status: "completed", StepCount: result.Steps, Usage: result.Usage,
		Duration: kit.Milliseconds(result.Elapsed) / 1000, CompletedAt: kit.UnixSeconds(now),
		StartedAt:   kit.UnixSeconds(now.Add(-result.Elapsed)),
		StopReason:  redactor.CutText(string(result.Stop.Cause), shorten.SummaryChars),
		StopMessage: redactor.CutText(result.Stop.Message, shorten.SummaryChars),
	}
	for _, c := range result.Calls {
		if c.Status == agent.CallFailed || c.Status == "" && c.Err != "" {
			entry.ErrorCount++
		}
	}
	switch {
	case result.Err != "":
		entry.Status = "failed"
		entry.ErrorCount++
	case result.Suspended != nil:
		entry.Status = "suspended"
	case result.Forced():
		entry.Status = "stopped"
	}
	key := historyKey(r.Share.Owner(run), cmp.Or(kit.Agent(run), result.Agent))
	r.mu.Lock()
	defer r.mu.Unlock()
	entries, err := r.read(ctx, key)
	if err != nil {
		return fmt.Errorf("the run is not added to the history: %w", err)
	}
	entry.ExecutionNumber = 1
	if n := len(entries); n > 0 {
		entry.ExecutionNumber = entries[n-1].ExecutionNumber + 1
	}
	entries = append(entries, entry)
	if keep := r.Keep.Or(keepRuns); len(entries) > keep {
		entries = slices.Delete(entries, 0, len(entries)-keep)
	}
	data, err := json.Marshal(entries)
	if err == nil {
		err = r.Store.Put(ctx, key, data)
	}
	if err != nil {
		return fmt.Errorf("the run is not added to the history: %w", err)
	}
	return nil
}

func historyKey(owner agent.Identity, agentName string) string {
	return storekey.Of("history", owner, agentName)
}

// Runs returns the runs of an agent for an owner, oldest first. The owner needs the names that Share asks for, for
// example the tenant for share.Tenant, and none for share.Everyone. Runs returns nil for an agent without runs, and an
// error if the list is corrupt.
func (r *History) Runs(ctx context.Context, owner agent.Identity, agentName string) ([]HistoryEntry, error) {
	owner, err := r.Share.Address(owner)
	if err != nil {
		return nil, err
	}
	return r.read(ctx, historyKey(owner, agentName))
}

func (r *History) read(ctx context.Context, key string) ([]HistoryEntry, error) {
	data, err := r.Store.Get(ctx, key)
	if errors.As(err, new(*agent.NotFound)) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var entries []HistoryEntry
	if err := json.Unmarshal(data, &entries); err != nil {
		return nil, fmt.Errorf("the value of %q is not a list of runs: %w; repair it or delete it",
			shorten.To(key, shorten.SummaryChars), err)
	}
	return entries, nil
}

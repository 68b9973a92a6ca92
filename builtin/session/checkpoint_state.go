package session

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/storekey"
	"github.com/hookgen/hookgen/generated/agent"
)

// CheckpointState is the progress of a run after a step.
type CheckpointState struct {
	StepNumber       int                    `json:"step_number"`
	SessionLog       CheckpointLog          `json:"session_log_data"`
	Conversation     CheckpointConversation `json:"conversation_data"`
	Config           CheckpointConfig       `json:"config_snapshot"`
	ToolResultsStore map[string]string      `json:"tool_results_store"` // by call ID; since the last compaction
	Counters         CheckpointCounters     `json:"counters"`
	Metadata         map[string]string      `json:"metadata"`   // keys: run, agent, task
	CreatedAt        float64                `json:"created_at"` // seconds since 1970
}

// CheckpointLog describes the last 1000 steps so far, one line for each step.
type CheckpointLog struct {
	Entries       []string `json:"entries"`
	CurrentTheory string   `json:"current_theory"` // the last value of the argument __theory__ of a call
}

// CheckpointConversation is the stored conversation.
type CheckpointConversation struct {
	agent.Identity
	Messages []agent.Message `json:"messages"`
}

// CheckpointConfig holds the limits and settings of the run.
type CheckpointConfig struct {
	MaxSteps        int      `json:"max_steps"`
	MaxTokens       int      `json:"max_tokens"`
	Temperature     *float64 `json:"temperature"`
	SystemPrompt    string   `json:"system_prompt"`
	QueriesUsed     int      `json:"queries_used"`     // calls of the model
	BudgetRemaining *int     `json:"budget_remaining"` // tokens; null: no limit
}

// CheckpointCounters are the counters of the run, with which the next run continues.
type CheckpointCounters struct {
	Steps      int            `json:"steps"`
	ModelCalls int            `json:"model_calls"`
	ToolCalls  int            `json:"tool_calls"`
	Tools      map[string]int `json:"tools,omitempty"` // answered calls by tool
	Usage      agent.Usage    `json:"usage"`
	Elapsed    time.Duration  `json:"elapsed_ns"`
	Rejections int            `json:"rejections"`
}

// countersOf returns the counters of a run.
func countersOf(run *agent.Run) CheckpointCounters {
	c := kit.Env(run).Count()
	return CheckpointCounters{c.Step, c.ModelCalls, c.ToolCalls, c.Tools, c.Usage, c.Elapsed, c.Rejections}
}

// A checkpointPart is a stored checkpoint. Its state has only the messages, entries and results since the part before
// it, and a text only if it changed.
type checkpointPart struct {
	CheckpointState
	Chain string `json:"chain"`
	First bool   `json:"first,omitempty"` // of its chain
	From  int    `json:"from"`            // the number of messages in the parts before it
}

// savedCounters are the counters that are stored in each step.
type savedCounters struct {
	Chain    string             `json:"chain"`
	Task     string             `json:"task_sha256"`
	Counters CheckpointCounters `json:"counters"`
}

func hashOf(task string) string {
	sum := sha256.Sum256([]byte(task))
	return hex.EncodeToString(sum[:])
}

func partKey(owner agent.Identity, step int) string {
	return storekey.Of(checkpointKind, owner, "step", strconv.Itoa(step))
}

func countersKey(owner agent.Identity) string { return storekey.Of(checkpointKind, owner, "counters") }

package record

import (
	"encoding/json"

	"github.com/hookgen/hookgen/generated/agent"
)

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

// TrajectoryStep is one step. If the step has exactly one call, it is in ToolCall and ToolResult, otherwise in
// ToolCalls and ToolResults.
type TrajectoryStep struct {
	Run string `json:"run"`
	agent.Identity
	StepNum        int                `json:"step_num"`
	Timestamp      float64            `json:"timestamp"` // start, in seconds since 1970
	DurationMS     float64            `json:"duration_ms"`
	Pretty         string             `json:"pretty"` // the step in one line
	Reply          string             `json:"reply,omitempty"`
	Rejected       string             `json:"rejected,omitempty"` // feedback or reason if the answer was rejected
	Error          string             `json:"error,omitempty"`
	ToolCall       *TrajectoryCall    `json:"tool_call"`
	ToolResult     *TrajectoryResult  `json:"tool_result"`
	ToolCalls      []TrajectoryCall   `json:"tool_calls,omitempty"` // calls of a step with several, in order
	ToolResults    []TrajectoryResult `json:"tool_results,omitempty"`
	ContextBefore  string             `json:"context_before"` // the briefing in the step's prompt
	LLMCallIndices []int              `json:"llm_call_indices"`
	Metadata       map[string]any     `json:"metadata"`
}

// TrajectoryRun is the content of trajectory.json.
type TrajectoryRun struct {
	RunID string `json:"run_id"`
	agent.Identity
	Parent            string           `json:"parent,omitempty"` // the run that started this run
	Agent             string           `json:"agent,omitempty"`
	StartedAt         float64          `json:"started_at"` // seconds since 1970
	EndedAt           float64          `json:"ended_at"`
	Task              string           `json:"task"`
	Reply             string           `json:"reply"`
	TerminationReason string           `json:"termination_reason"` // cause and message of the strongest signal
	Error             string           `json:"error,omitempty"`
	Summary           string           `json:"summary"`          // for example "5 steps, 2 failed, done, 12.3s"
	SessionLogText    string           `json:"session_log_text"` // the steps, one line each
	Metadata          map[string]any   `json:"metadata"`
	Snapshot          *Snapshot        `json:"snapshot,omitempty"`
	StepCount         int              `json:"step_count"`
	LLMCallCount      int              `json:"llm_call_count"`
	Steps             []TrajectoryStep `json:"steps"`
	LLMCalls          []ModelCall      `json:"llm_calls"`
}

// TrajectoryCall is a tool call.
type TrajectoryCall struct {
	Tool      string          `json:"tool"`
	Args      json.RawMessage `json:"args"`
	Reasoning string          `json:"reasoning"` // text of the model in the same reply
	CallID    string          `json:"call_id"`
	Metadata  map[string]any  `json:"metadata"`
}

// TrajectoryResult is the result of a tool call.
type TrajectoryResult struct {
	Tool       string          `json:"tool"`
	Args       json.RawMessage `json:"args"`
	DurationMS float64         `json:"duration_ms"`
	Data       string          `json:"data,omitempty"`    // output for the model
	Context    []string        `json:"context,omitempty"` // texts of hooks for the model, after Data
	Error      string          `json:"error,omitempty"`
	Status     string          `json:"status,omitempty"`     // succeeded, failed, refused and so on
	DecidedBy  string          `json:"decided_by,omitempty"` // the hook that answered or refused the call
}

// Snapshot describes the configuration of a run.
type Snapshot struct {
	SchemaVersion int            `json:"schema_version"` // 2
	SystemPrompt  string         `json:"system_prompt"`  // truncated to 4000 characters
	Limits        map[string]any `json:"limits"`
	Tools         []ToolSnapshot `json:"tools"`
	Hooks         []string       `json:"hooks"` // sorted names, without duplicates
	Model         string         `json:"model"`
}

// ToolSnapshot is a tool as offered to the model.
type ToolSnapshot struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

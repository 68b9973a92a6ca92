package agentspec

import "context"

// A ContextUse is how much of the context window the next prompt would take.
type ContextUse struct {
	Step     int       `json:"step"`
	Tokens   int       `json:"tokens"`   // of system prompt, tools, the last briefing and the stored conversation
	Window   int       `json:"window"`   // of the model; 0: not known
	Messages []Message `json:"messages"` // the stored conversation
}

// A Compaction is a compaction of the stored conversation that is about to run.
type Compaction struct {
	Step     int              `json:"step"`
	Reason   CompactionReason `json:"reason"`
	Detail   string           `json:"detail,omitempty"` // the reason that the asker gave
	By       string           `json:"by,omitempty"`     // the hook that asked, if one did
	Messages []Message        `json:"messages"`
	Tokens   int              `json:"tokens"` // of Messages
}

// A CompactionReason says what asked for a compaction.
type CompactionReason string

// The reasons.
const (
	CompactProactive CompactionReason = "proactive"       // ShouldCompact
	CompactTooLong   CompactionReason = "prompt_too_long" // the model refused the prompt
	CompactRequested CompactionReason = "requested"       // through Env
)

// A Compacted is what a compaction did.
type Compacted struct {
	Step       int              `json:"step"`
	Reason     CompactionReason `json:"reason"`
	Before     Size             `json:"before"`
	After      Size             `json:"after"`
	StepRange  StepRange        `json:"step_range"` // whose messages were compacted
	Summary    string           `json:"summary,omitempty"`
	Messages   []Message        `json:"messages"` // the conversation that is left
	ModelCalls int              `json:"model_calls,omitempty"`
	Cleared    int              `json:"cleared,omitempty"` // messages whose content was dropped
	Err        string           `json:"err,omitempty"`     // why the compaction was undone
}

// Effective reports whether the compaction made the conversation smaller.
func (c Compacted) Effective() bool {
	return c.After.Messages < c.Before.Messages || c.After.Tokens < c.Before.Tokens
}

// A Size is the size of a conversation.
type Size struct {
	Messages int `json:"messages"`
	Tokens   int `json:"tokens"`
}

// A StepRange is a range of steps, both ends included; zero if it is not known.
type StepRange struct {
	From int `json:"from"`
	To   int `json:"to"`
}

// A Compactor makes a conversation shorter. It returns the new Messages, and Summary, StepRange, ModelCalls
// and Cleared where they apply; the loop fills in the rest. It must not change the messages it is given,
// never keep a tool result without its call or a call without its result, and return when ctx is done.
// Model calls go through env.Model, so that they count towards the run.
type Compactor interface {
	Compact(ctx context.Context, env *Env, c Compaction) (Compacted, error)
}

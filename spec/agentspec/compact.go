package agentspec

import "context"

// A ContextUse describes how much of the context window the next prompt takes.
type ContextUse struct {
	Step     int       `json:"step"`
	Tokens   int       `json:"tokens"`   // of the system prompt, the tools, the last briefing and the stored conversation
	Window   int       `json:"window"`   // of the model; 0: unknown
	Messages []Message `json:"messages"` // the stored conversation
}

// A Compaction is a planned compaction of the stored conversation.
type Compaction struct {
	Step     int              `json:"step"`
	Reason   CompactionReason `json:"reason"`
	Detail   string           `json:"detail,omitempty"` // the reason that the requester gave
	By       string           `json:"by,omitempty"`     // the hook that requested it, or ""
	Messages []Message        `json:"messages"`
	Tokens   int              `json:"tokens"` // of Messages
}

// A CompactionReason names the trigger of a compaction.
type CompactionReason string

// The reasons.
const (
	CompactProactive CompactionReason = "proactive"       // ShouldCompact
	CompactTooLong   CompactionReason = "prompt_too_long" // the model refused the prompt
	CompactRequested CompactionReason = "requested"       // through Env
	CompactRewrite   CompactionReason = "rewrite"         // a hook changes the conversation through Env
)

// A Compacted is the result of a compaction.
type Compacted struct {
	Step       int              `json:"step"`
	Reason     CompactionReason `json:"reason"`
	Before     Size             `json:"before"`
	After      Size             `json:"after"`
	StepRange  StepRange        `json:"step_range"` // the steps whose messages were compacted
	Summary    string           `json:"summary,omitempty"`
	Messages   []Message        `json:"messages"` // the new conversation
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

// A StepRange is a range of steps, both ends included. The zero value means that the range is unknown.
type StepRange struct {
	From int `json:"from"`
	To   int `json:"to"`
}

// A Compactor shortens a conversation. It returns the new Messages and, if they apply, Summary, StepRange,
// ModelCalls and Cleared; the loop sets the other fields. It must not change its input, and must keep tool calls
// and their results together. It must return when ctx is done. It makes model calls through env.Model, so that
// they count towards the run.
type Compactor interface {
	Compact(ctx context.Context, env *Env, c Compaction) (Compacted, error)
}

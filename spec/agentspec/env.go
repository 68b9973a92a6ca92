package agentspec

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"time"
)

// Env is available to every hook as run.Env, in addition to the payload. One Env belongs to one run. The loop sets
// its fields before OnRunStart and does not change them; they are safe for concurrent use. After the run, calls of
// Model and additions to Tools fail. In tests of single points use a nil Env or the zero value: all methods of Env
// work without any field.
type Env struct {
	Agent        string          // the name of the running agent
	Root         string          // the ID of the outermost run: of this one, unless another run started it
	Tenant       string          // the customer or organization of the run; "" if the caller gave none
	User         string          // the person that the run works for; "" if the caller gave none
	Data         json.RawMessage // Request.Data of package loop, for the program's hooks and tools; do not change it
	Resumed      string          // the ID of the Suspension that the run continues; "" for a new run
	Model        Model           // its calls count towards the run and fire no point
	Tools        ToolTable       // the tools of this run
	Conversation Conversation    // the stored conversation
	Tokens       TokenCounter    // nil: the estimate. Counts of stored messages are cached
	Random       rand.Source     // seeded by Seed; for rand.New
	Seed         uint64
	Clock        Clock // nil: the system clock

	// Counters returns the counters of the run; nil means all zero.
	Counters func() Counters
	// Exceeded fires OnBudgetExceeded for a budget that a hook enforces; nil means a no-op.
	Exceeded func(ctx context.Context, b BudgetExceeded)
	// RequestCompaction requests a compaction before the next prompt; nil means a no-op.
	RequestCompaction func(reason string)
	// RewriteConversation changes the stored conversation before the next prompt, for example to delete a file from it
	// that the user has withdrawn. The rewrite counts as a compaction with the reason "rewrite", which may make the
	// conversation longer, so BeforeCompact and AfterCompact fire. The function f gets a copy of the messages; it must
	// return at least one, and must keep tool calls and their results together. Nil means a no-op.
	RewriteConversation func(reason string, f func(messages []Message) []Message)
	// Send adds a message of the user to the conversation before the next prompt, and to AgentResult.Unread if none
	// follows. A run that is about to end because the model has answered goes on with it. For example, a hook has received
	// a correction from a chat. The error says why the message is refused; nil means a host that takes none.
	Send func(m Message) error
	// UseCompactor replaces the compactor of the host by c for the rest of the run; nil means a no-op.
	UseCompactor func(c Compactor)
	// UsePricer sets the cost of all later model calls of the run, also of those that hooks and sub-runs make. Limits
	// on the cost then count it. Call it at OnRunStart, because a run with such a limit makes no call without a price.
	// Nil means a no-op.
	UsePricer func(p Pricer)
	// Restore raises the counters of the run to those of an interrupted run that it continues, so that its limits
	// apply to both together. It sets Step, ModelCalls, ToolCalls, Tools, Usage, Elapsed and Rejections. Call it at
	// OnRunStart; nil means a no-op.
	Restore func(c Counters)
}

// Identity names the owner of a run: the conversation that it continues, and the user and tenant of that conversation.
// A run that another run started, as a sub-agent or by a handoff, has the identity of that run. Hooks use it to keep
// what belongs to one owner apart from what belongs to another, for example memories and budgets.
//
// Names of users need to be unique only within a tenant, and names of conversations only within a user. For example,
// the conversation "1" of the user "ann" is not the conversation "1" of the user "bob". An empty Tenant or User means
// that the caller gave no name. If the caller gave the conversation no name, Conversation is "run " and the ID of the
// outermost run, so that the unnamed conversations of two runs differ.
type Identity struct {
	Tenant       string `json:"tenant,omitempty"`
	User         string `json:"user,omitempty"`
	Conversation string `json:"conversation,omitempty"`
}

// Named reports whether the identity has the name of a conversation, so that another run can have it too. It is false
// for the conversation of a run whose caller gave it no name.
func (id Identity) Named() bool {
	root, unnamed := strings.CutPrefix(id.Conversation, unnamedPrefix)
	return id.Conversation != "" && !(unnamed && len(root) == 16 && strings.Trim(root, "0123456789abcdef") == "")
}

const unnamedPrefix = "run "

// Counters are a snapshot of the progress of a run.
type Counters struct {
	Step       int            // started steps
	MaxSteps   int            // 0: no limit
	ModelCalls int            // of the run, its hooks and its sub-runs
	ToolCalls  int            // answered
	Tools      map[string]int // answered calls by tool, without refused ones and unknown tools; do not change the map
	Usage      Usage
	Models     map[string]Usage // Usage by model, see AgentResult.UsageByModel; do not change the map
	MaxTokens  int              // of Usage.Total; 0: no limit
	Elapsed    time.Duration
	MaxTime    time.Duration // 0: no limit
	Rejections int           // of answers
	Depth      int           // 0 for a run that no run started
}

// A Conversation is the stored conversation of a run.
type Conversation interface {
	// ID returns the name of the conversation, or "" if the caller gave none. A sub-agent has a conversation of its own
	// and the name of the conversation that it works for.
	ID() string

	// Messages returns the messages so far, without the system prompt of the agent. They are shared and must not
	// be changed; appending to them is safe. The cost of the call does not depend on their number.
	Messages() []Message
}

// A TokenCounter counts the tokens of messages, including their tool calls. If the Model implements it, the loop
// uses its exact counts; otherwise the loop uses [EstimateTokens].
//
// The count of several messages must be the sum of their counts, because a loop counts each message once and adds
// up the counts. Do not include tokens that a provider adds per request, for example three tokens that start the
// reply.
type TokenCounter interface {
	CountTokens(messages []Message) int
}

// A Clock provides the time. Sleep returns nil after d, or the context's error if ctx is done before.
type Clock interface {
	Now() time.Time
	Sleep(ctx context.Context, d time.Duration) error
}

// SystemClock is the clock of the machine. The zero value is ready to use.
type SystemClock struct{}

// Now returns the current time, with its monotonic reading.
func (SystemClock) Now() time.Time { return time.Now() }

// Sleep waits for d or until ctx is done.
func (SystemClock) Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Now returns the time of the run's clock.
func (e *Env) Now() time.Time { return e.clock().Now() }

// Sleep waits on the run's clock.
func (e *Env) Sleep(ctx context.Context, d time.Duration) error { return e.clock().Sleep(ctx, d) }

func (e *Env) clock() Clock {
	if e == nil || e.Clock == nil {
		return SystemClock{}
	}
	return e.Clock
}

// Identity returns the owner of the run.
func (e *Env) Identity() Identity {
	if e == nil {
		return Identity{}
	}
	id := Identity{Tenant: e.Tenant, User: e.User}
	if e.Conversation != nil {
		id.Conversation = e.Conversation.ID()
	}
	if id.Conversation == "" && e.Root != "" {
		id.Conversation = unnamedPrefix + e.Root
	}
	return id
}

// WireLabels returns the owner of the run under the names tenant, user and conversation, for requests to other
// processes and for records. Empty names are left out.
func (e *Env) WireLabels() map[string]string {
	id := e.Identity()
	if id == (Identity{}) {
		return nil
	}
	labels := map[string]string{}
	for name, value := range map[string]string{"tenant": id.Tenant, "user": id.User, "conversation": id.Conversation} {
		if value != "" {
			labels[name] = value
		}
	}
	return labels
}

// CountTokens uses the run's counter, or an estimate without one.
func (e *Env) CountTokens(messages []Message) int {
	if e == nil || e.Tokens == nil {
		return EstimateTokens(messages)
	}
	return e.Tokens.CountTokens(messages)
}

// Count returns the counters of the run.
func (e *Env) Count() Counters {
	if e == nil || e.Counters == nil {
		return Counters{}
	}
	return e.Counters()
}

// ReportBudget fires OnBudgetExceeded for a budget that the caller enforces.
func (e *Env) ReportBudget(ctx context.Context, b BudgetExceeded) {
	if e != nil && e.Exceeded != nil {
		e.Exceeded(ctx, b)
	}
}

package memory

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hookgen/hookgen/builtin/internal/jsonx"
	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/redact"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// Archive stores the messages of the user and the replies of the agent, so that later runs can recall them.
//
// For example, a user asks in March for the plan that was made in January. The conversation of January was compacted
// since then, but the archive still has the question and the plan. The tool recall of [Tools]
// finds them: they are the facts of TurnScope in Store.
//
// The value of such a fact is a JSON object with the fields user and reply, and its key is a hash of both. A pair is
// archived if both texts together have at least 40 characters. Together they are truncated to 4000. The last 3 pairs of
// a run are archived: those that a compaction is about to remove, and those of the conversation at the end of the run.
// A pair that is in Store already is not stored again. While a run is suspended, its newest message is not answered and
// not archived.
//
// Secrets are removed. Personal data stay unless Redact says otherwise, because users want them remembered. Sub-runs
// are ignored. A pair that cannot be stored is reported as a failure of the hook and does not affect the run.
//
// Archive observes BeforeCompact and uses OnRunEnd. An Archive is safe for concurrent use if its Store is. Bind panics
// if Store is nil.
type Archive struct {
	Store  Store
	Redact *redact.Redactor // nil: remove secrets, keep personal data

	runs hookkit.PerRun[[]turn] // found before compactions
}

// A turn is a message of a user and the last reply to it.
type turn struct {
	User  string `json:"user"`
	Reply string `json:"reply"`
}

const (
	minTurnChars = 40
	maxTurnChars = 4000
	maxTurns     = 3 // of one run
)

// Bind adds the hook to its points.
func (m *Archive) Bind(h *agent.Hooks) {
	mustHaveStore("memory.Archive", m.Store)
	h.BeforeCompact.Observe(m)
	h.OnRunEnd.Add(m, hookkit.Priority(hookkit.Observability))
}

// ObserveBeforeCompact remembers the turns that the compaction may remove. They are stored at the end of the run.
func (m *Archive) ObserveBeforeCompact(
	_ context.Context, run *agent.Run, fired agent.BeforeCompactFired[agent.Compaction],
) {
	if fired.Exit != nil || fired.Err != nil || run.Parent() != "" {
		return
	}
	found := m.turns(fired.Payload.Messages)
	m.runs.Do(run, func(removed *[]turn) { *removed = lastTurns(*removed, found) })
}

// OnRunEnd stores the last turns of the run.
func (m *Archive) OnRunEnd(ctx context.Context, run *agent.Run, result agent.AgentResult) error {
	if run.Parent() != "" {
		return nil
	}
	messages := kit.Conversation(run, result)
	if result.Suspended != nil {
		messages = answered(messages)
	}
	var facts []Fact
	for _, t := range lastTurns(m.runs.Load(run), m.turns(messages)) {
		value := jsonx.Encode(t)
		sum := sha256.Sum256(value)
		facts = append(facts, Fact{
			Scope: TurnScope, Key: hex.EncodeToString(sum[:8]), Value: string(value), Source: "run " + run.ID(),
		})
	}
	if err := m.Store.Put(kit.For(ctx, run), facts...); err != nil {
		return fmt.Errorf("the conversation is not archived: %w", err)
	}
	return nil
}

// answered returns the messages before the newest one of the user. The run works on that one and has not answered it.
func answered(messages []agent.Message) []agent.Message {
	for i, message := range slices.Backward(messages) {
		if message.Role == agent.RoleUser {
			return messages[:i]
		}
	}
	return nil
}

// lastTurns returns the last turns of both lists, each once.
func lastTurns(earlier, later []turn) []turn {
	var all []turn
	for _, t := range slices.Concat(earlier, later) {
		if !slices.Contains(all, t) {
			all = append(all, t)
		}
	}
	return all[max(0, len(all)-maxTurns):]
}

// turns returns the last turns of a conversation that are long enough, redacted and truncated.
func (m *Archive) turns(messages []agent.Message) (found []turn) {
	redactor := cmp.Or(m.Redact, storable)
	reply := ""
	for i := len(messages) - 1; i >= 0 && len(found) < maxTurns; i-- {
		switch message := messages[i]; {
		case message.Role == agent.RoleAssistant && reply == "":
			reply = strings.TrimSpace(message.Content)
		case message.Role == agent.RoleUser && message.Name != agent.InterruptionName:
			user := strings.TrimSpace(message.Content)
			if reply != "" && user != "" && utf8.RuneCountInString(user+reply) >= minTurnChars {
				t := turn{User: redactor.CutText(user, maxTurnChars/4)}
				t.Reply = redactor.CutText(reply, maxTurnChars-utf8.RuneCountInString(t.User))
				found = append(found, t)
			}
			reply = ""
		}
	}
	slices.Reverse(found)
	return found
}

package state

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// Persist saves the conversation at the end of every run, also of one that failed, was cancelled or was
// handed over, so that another run can continue it.
//
// It stands at OnRunEnd, at tier Observability. Only Store is required: [Sessions] over a [Dir] keeps a file
// per conversation. What is saved is the stored conversation, with the reply, and a state. It is saved under ID, or
// where that is empty under the identity that the caller gave the conversation; without either the run is reported
// as not saved. ID is meant for runs that no run started: one started by a run has a conversation of its own, which
// is saved only if it has an identity.
//
// State gives the state to save; keys that begin with two underscores are left out, and what cannot be encoded is
// saved as text. Without State, what was saved before stays. A failure to save is reported as the hook's, and does
// not touch the run.
type Persist struct {
	Store agent.SessionStore
	ID    string
	State func(run *agent.Run) map[string]any // nil: the state in the store stays

	saved hookkit.PerRun[bool]
}

// Bind adds the hook.
func (p *Persist) Bind(h *agent.Hooks) {
	if p.Store == nil {
		kit.MustConfig("state.Persist", errors.New("Store is nil; give it a store, such as Sessions{Store: state.Dir{Path: ...}}"))
	}
	h.OnRunEnd.Add(p, hookkit.Priority(hookkit.Observability))
}

// OnRunEnd saves the conversation, once per run.
func (p *Persist) OnRunEnd(ctx context.Context, run *agent.Run, result agent.AgentResult) error {
	var again bool
	p.saved.Do(run, func(saved *bool) { again, *saved = *saved, true })
	if again {
		return nil
	}
	id := kit.ConversationID(run)
	if p.ID != "" && run.Parent() == "" {
		id = p.ID
	}
	switch {
	case id != "":
	case run.Parent() != "":
		return nil
	default:
		return errors.New("the conversation is not saved: it has no identity; set ID, or name the conversation of the run")
	}
	messages := kit.Messages(run)
	if messages == nil {
		messages = result.Messages
	}
	state, problem := p.state(ctx, run, id)
	return errors.Join(p.Store.Save(ctx, agent.Session{ID: id, Messages: messages, State: state}), problem)
}

// state is what to save beside the messages. An error does not keep the messages from being saved.
func (p *Persist) state(ctx context.Context, run *agent.Run, id string) (map[string]json.RawMessage, error) {
	if p.State == nil {
		old, err := p.Store.Load(ctx, id)
		if err != nil && !errors.As(err, new(*agent.NotFound)) {
			return nil, fmt.Errorf("the state that was saved before is not kept: %w", err)
		}
		return old.State, nil
	}
	state := make(map[string]json.RawMessage)
	values, err := p.values(run)
	for key, value := range values {
		if strings.HasPrefix(key, "__") {
			continue
		}
		raw, err := json.Marshal(value)
		if err != nil {
			raw, _ = json.Marshal(fmt.Sprint(value))
		}
		state[key] = raw
	}
	return state, err
}

func (p *Persist) values(run *agent.Run) (values map[string]any, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("State panicked, so the session has none: %v", v)
		}
	}()
	return p.State(run), nil
}

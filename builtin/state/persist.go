package state

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// Persist saves the conversation at the end of every run, so that a later run can continue it. It also saves runs that
// failed, were cancelled, or were handed over.
//
// For example, Persist{Store: Sessions{Store: Dir{Path: "sessions"}}} keeps one file for each conversation. The session
// is saved under ID, or under the identity that the caller gave the conversation if ID is empty. A run without either
// is reported as not saved. Sub-runs are not saved; the messages of a run that took over are part of the run before it.
//
// State returns additional values to save. Keys that begin with two underscores are skipped, and values that cannot be
// encoded as JSON are saved as text. If State is nil, the state that was saved before stays.
//
// Persist uses OnRunEnd. A failure to save is reported as a failure of the hook and does not affect the run. Persist is
// safe for concurrent use if its Store is. Bind panics if Store is nil.
type Persist struct {
	Store agent.SessionStore
	ID    string                              // "": the identity of the conversation
	State func(run *agent.Run) map[string]any // nil: keep the saved state

	saved hookkit.PerRun[bool]
}

// Bind adds the hook to OnRunEnd.
func (p *Persist) Bind(h *agent.Hooks) {
	if p.Store == nil {
		kit.MustConfig("state.Persist",
			errors.New("Store is nil; give it a store, such as Sessions{Store: state.Dir{Path: ...}}"))
	}
	h.OnRunEnd.Add(p, hookkit.Priority(hookkit.Observability))
}

// OnRunEnd saves the conversation once for each run.
func (p *Persist) OnRunEnd(ctx context.Context, run *agent.Run, result agent.AgentResult) error {
	var again bool
	p.saved.Do(run, func(saved *bool) { again, *saved = *saved, true })
	if again {
		return nil
	}
	if run.Parent() != "" {
		return nil
	}
	id := cmp.Or(p.ID, kit.ConversationID(run))
	if id == "" {
		return errors.New("the conversation is not saved: it has no identity; set ID, or name the conversation of the run")
	}
	messages := kit.Messages(run)
	if messages == nil {
		messages = result.Messages
	}
	state, problem := p.state(ctx, run, id)
	return errors.Join(p.Store.Save(ctx, agent.Session{ID: id, Messages: messages, State: state}), problem)
}

// state returns the state to save. The messages are saved even if it returns an error.
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

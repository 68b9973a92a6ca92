package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// Persist continues conversations: a run begins with the messages that the earlier runs of its conversation saved, and
// saves them with its own at its end. This includes runs that failed, were cancelled, or were handed over.
//
// For example, Persist{Store: Sessions{Store: Dir{Path: "sessions"}}} keeps one file for each conversation. A user asks
// twice with the same Conversation, User and Tenant in the request; the second run continues where the first ended.
//
// The conversation is the one that the request names. Conversations of different users or tenants are different,
// whatever their names. A run without a name is not saved, which is reported. Sub-runs are not saved; the messages of a
// run that took over are part of the run before it.
//
// If the request has messages, they replace the saved ones. If another run has saved messages in the meantime, both
// runs' messages are kept: first those that were saved first. If the saved conversation cannot be loaded, the run
// fails, because it would continue without its history. Persist does not lock a conversation against other processes.
//
// A suspended run saves its conversation without the calls that wait for an answer. They are saved with their results
// when the run is resumed, and messages that another run has saved in the meantime are kept. The conversation can
// therefore be continued at any time, also if nobody ever answers.
//
// State returns additional values to save. Keys that begin with two underscores are skipped, and values that cannot be
// encoded as JSON are saved as text. If State is nil, the state that was saved before stays.
//
// Persist uses OnRunStart, after a [Checkpoint] that continues an interrupted run, and OnRunEnd. A failure to save is
// reported as a failure of the hook and does not affect the run. Persist is safe for concurrent use if its Store is.
// Bind panics if Store is nil.
type Persist struct {
	Store agent.SessionStore
	State func(run *agent.Run) map[string]any // nil: keep the saved state

	runs hookkit.PerRun[persisted]
}

// persisted is the state of one run.
type persisted struct {
	loaded bool
	before []agent.Message // saved when the run started; nil if a hook ended the run before Persist loaded them
	start  []agent.Message // the conversation at the start of the run
	saved  bool            // or must not be saved
}

// Bind adds the hook to its points.
func (p *Persist) Bind(h *agent.Hooks) {
	if p.Store == nil {
		kit.MustConfig("session.Persist",
			errors.New("Store is nil; give it a store, such as Sessions{Store: session.Dir{Path: ...}}"))
	}
	name := hookkit.Named("session.Persist")
	h.OnRunStart.AddFunc(p.load, name, hookkit.Priority(hookkit.InputShape-10))
	h.OnRunStart.ObserveFunc(func(_ context.Context, run *agent.Run, f agent.OnRunStartFired[agent.RunStart]) {
		p.runs.Do(run, func(r *persisted) {
			if r.start = f.Final.Messages; f.Final.Resumed != "" {
				r.start = withoutOpen(r.start)
				r.before = r.start // as the suspended run has saved them
			}
		})
	}, name)
	h.OnRunEnd.AddFunc(p.save, name, hookkit.Priority(hookkit.Observability))
}

// ownerOf returns the identity of the conversation of a run, and whether the run is to be saved.
func ownerOf(run *agent.Run) (agent.Identity, bool) {
	owner := kit.Env(run).Identity()
	owner.Conversation = kit.ConversationID(run)
	return owner, owner.Conversation != "" && run.Parent() == ""
}

// load begins the run with the saved messages.
func (p *Persist) load(ctx context.Context, run *agent.Run, start agent.RunStart) (agent.OnRunStartOutcome, error) {
	owner, ok := ownerOf(run)
	if !ok || start.Resumed != "" {
		return nil, nil
	}
	session, err := p.Store.Load(ctx, owner)
	switch {
	case errors.As(err, new(*agent.NotFound)):
	case err != nil:
		p.runs.Do(run, func(r *persisted) { r.saved = true }) // a save would hide the earlier messages
		return nil, fmt.Errorf("the conversation cannot be continued: %w", err)
	}
	p.runs.Do(run, func(r *persisted) {
		if !r.loaded {
			r.loaded, r.before = true, session.Messages
		}
	})
	if len(start.Messages) > 0 || len(session.Messages) == 0 {
		return nil, nil
	}
	start.Messages = session.Messages
	return agent.ReplaceOnRunStart(start, fmt.Sprintf("continues after %d messages", len(session.Messages))), nil
}

// saving are the locks of conversations while they are saved, shared by all hooks of the program.
var (
	saving   [64]sync.Mutex
	saveSeed = maphash.MakeSeed()
)

// save saves the conversation, once for each run.
func (p *Persist) save(ctx context.Context, run *agent.Run, result agent.AgentResult) error {
	var r persisted
	p.runs.Do(run, func(state *persisted) { r, state.saved = *state, true })
	if r.saved || run.Parent() != "" {
		return nil
	}
	owner, ok := ownerOf(run)
	if !ok {
		return errors.New("the conversation is not saved: it has no name; name it in the request")
	}
	messages := kit.Conversation(run, result)
	if result.Suspended != nil {
		messages = withoutOpen(messages)
	}
	lock := &saving[maphash.Comparable(saveSeed, owner)%uint64(len(saving))]
	lock.Lock()
	defer lock.Unlock()
	stored, err := p.Store.Load(ctx, owner)
	switch {
	case errors.As(err, new(*agent.NotFound)):
		err = nil
	case err != nil:
		return fmt.Errorf("the conversation is not saved, because the one before it cannot be read: %w", err)
	}
	messages = merged(stored.Messages, r.before, r.start, messages)
	state := stored.State
	if p.State != nil {
		state, err = p.state(run)
	}
	return errors.Join(p.Store.Save(ctx, agent.Session{Identity: owner, Messages: messages, State: state}), err)
}

// withoutOpen returns the messages without the last reply and what follows it, if calls of the reply have no result.
func withoutOpen(messages []agent.Message) []agent.Message {
	if agentspec.CheckPairs(messages, false) == nil {
		return messages
	}
	for i, m := range slices.Backward(messages) {
		if len(m.ToolCalls) > 0 {
			return messages[:i]
		}
	}
	return messages
}

// merged returns the conversation to save. A run began with the messages start and ended with now. When it began,
// before was saved, and since then other runs may have saved stored.
func merged(stored, before, start, now []agent.Message) []agent.Message {
	switch {
	case hasPrefix(stored, before) && len(stored) == len(before): // no other run has saved
		return now
	case hasPrefix(now, start):
		return slices.Concat(stored, now[len(start):])
	case hasPrefix(stored, before): // the run has compacted its conversation
		return slices.Concat(now, stored[len(before):])
	}
	return slices.Concat(stored, now)
}

func hasPrefix(messages, prefix []agent.Message) bool {
	return len(messages) >= len(prefix) && slices.EqualFunc(messages[:len(prefix)], prefix,
		func(a, b agent.Message) bool { return reflect.DeepEqual(a, b) })
}

// state returns the state to save. The messages are saved even if it returns an error.
func (p *Persist) state(run *agent.Run) (map[string]json.RawMessage, error) {
	state := make(map[string]json.RawMessage)
	values, err := kit.Recover(func() (map[string]any, error) { return p.State(run), nil })
	if err != nil {
		err = fmt.Errorf("State failed, so the session has none: %w", err)
	}
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

package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/internal/storekey"
	"github.com/hookgen/hookgen/generated/agent"
)

// Sessions stores conversations in another store: in files with a [Dir], or in memory with a [Map]. Each conversation
// is a JSON object with its names, messages and state, and the time of the last Save. Its key begins with "session/",
// so that other hooks can use the same store. Sessions is safe for concurrent use if its Store is.
type Sessions struct {
	Store agent.Store
}

var _ agent.SessionStore = Sessions{}

const sessionKind = "session"

func sessionKey(id agent.Identity) string { return storekey.Of(sessionKind, id) }

var errUnnamed = errors.New("the conversation has no name; give it one")

// nameOf describes a conversation in errors.
func nameOf(id agent.Identity) string {
	text := fmt.Sprintf("%q", shorten.To(id.Conversation, 80))
	if id.User != "" {
		text += fmt.Sprintf(" of the user %q", shorten.To(id.User, 80))
	}
	if id.Tenant != "" {
		text += fmt.Sprintf(" of the tenant %q", shorten.To(id.Tenant, 80))
	}
	return text
}

// Save stores a conversation and replaces the earlier one of the same identity, even one that Load cannot read: it does
// not read the earlier value. [Persist] does, and fails. If the program is killed during Save, the earlier conversation
// remains. A conversation without a name is an error.
func (s Sessions) Save(ctx context.Context, session agent.Session) error {
	if session.Conversation == "" {
		return fmt.Errorf("a session cannot be saved: %w", errUnnamed)
	}
	if session.Messages == nil {
		session.Messages = []agent.Message{}
	}
	stored := storedSession{SavedAt: time.Now().UTC(), Session: session}
	if err := put(ctx, s.Store, sessionKey(session.Identity), stored); err != nil {
		return fmt.Errorf("the session %s cannot be saved: %w", nameOf(session.Identity), err)
	}
	return nil
}

// A storedSession is the value of a conversation.
type storedSession struct {
	SavedAt time.Time `json:"saved_at"` // zero if an earlier version of this package saved it
	agent.Session
}

// Load returns a conversation. If it does not exist, the error is a *agent.NotFound. A value that is not a session is
// an error.
func (s Sessions) Load(ctx context.Context, id agent.Identity) (agent.Session, error) {
	if id.Conversation == "" {
		return agent.Session{}, fmt.Errorf("a session cannot be loaded: %w", errUnnamed)
	}
	data, err := s.Store.Get(ctx, sessionKey(id))
	if err != nil {
		return agent.Session{}, err
	}
	var stored struct {
		Messages *[]agent.Message           `json:"messages"`
		State    map[string]json.RawMessage `json:"state"`
	}
	err = json.Unmarshal(data, &stored)
	if err == nil && stored.Messages == nil {
		err = errors.New("it has no messages")
	}
	if err != nil {
		return agent.Session{}, fmt.Errorf("the stored value of session %s is corrupt: %w; repair it or delete it",
			nameOf(id), err)
	}
	return agent.Session{Identity: id, Messages: *stored.Messages, State: stored.State}, nil
}

// Delete removes a conversation. A missing conversation is not an error.
func (s Sessions) Delete(ctx context.Context, id agent.Identity) error {
	return s.Store.Delete(ctx, sessionKey(id))
}

// List returns the identities of all conversations. The one that was saved last is first, by the clocks of the programs
// that saved them. List reads all values, because only they have the times. Values that are not sessions come last.
func (s Sessions) List(ctx context.Context) ([]agent.Identity, error) {
	keys, err := s.Store.Keys(ctx, storekey.Prefix(sessionKind))
	if err != nil {
		return nil, err
	}
	type saved struct {
		id agent.Identity
		at time.Time
	}
	var all []saved
	for _, key := range keys {
		id, parts, ok := storekey.Parse(sessionKind, key)
		if !ok || len(parts) > 0 {
			continue
		}
		value, err := s.Store.Get(ctx, key)
		if _, deleted := errors.AsType[*agent.NotFound](err); deleted {
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, saved{id, savedAt(value)})
	}
	slices.SortStableFunc(all, func(a, b saved) int { return b.at.Compare(a.at) })
	var ids []agent.Identity
	for _, one := range all {
		ids = append(ids, one.id)
	}
	return ids, nil
}

// savedAt returns the time in a stored value, or the zero time.
func savedAt(value []byte) time.Time {
	var stored struct {
		SavedAt time.Time `json:"saved_at"`
	}
	if json.Unmarshal(value, &stored) != nil {
		return time.Time{}
	}
	return stored.SavedAt
}

package state

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/internal/storekey"
	"github.com/hookgen/hookgen/generated/agent"
)

// Sessions stores conversations in another store: in files with a [Dir], or in memory with a [Map]. Each conversation
// is a JSON object with its names, messages and state. Its key begins with "session/", so that other hooks can use the
// same store. Sessions is safe for concurrent use if its Store is.
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

// Save stores a conversation and replaces the earlier one of the same identity. If the earlier value in a [Dir] is
// corrupt, Save first copies it to a file next to it. If the program is killed during Save, the earlier conversation
// remains. A conversation without a name is an error.
func (s Sessions) Save(ctx context.Context, session agent.Session) error {
	if session.Conversation == "" {
		return fmt.Errorf("a session cannot be saved: %w", errUnnamed)
	}
	if session.Messages == nil {
		session.Messages = []agent.Message{}
	}
	fail := func(err error) error {
		return fmt.Errorf("the session %s cannot be saved: %w", nameOf(session.Identity), err)
	}
	data, err := json.Marshal(session)
	if err != nil {
		return fail(err)
	}
	if err := s.keepCorrupt(ctx, session.Identity); err != nil {
		return fail(fmt.Errorf("the corrupt session there cannot be kept: %w", err))
	}
	if err := s.Store.Put(ctx, sessionKey(session.Identity), data); err != nil {
		return fail(err)
	}
	return nil
}

// keepCorrupt makes a backup of a stored value that is not a session.
func (s Sessions) keepCorrupt(ctx context.Context, id agent.Identity) error {
	files, ok := s.Store.(Dir)
	if !ok {
		return nil
	}
	stored, err := files.Get(ctx, sessionKey(id))
	if err != nil {
		return nil // there is no value, or Put will report the problem
	}
	if _, err := decodeSession(id, stored); err == nil {
		return nil
	}
	return files.keepBackup(ctx, sessionKey(id), stored)
}

type corruptSession struct {
	id  agent.Identity
	err error
}

func (e *corruptSession) Error() string {
	return fmt.Sprintf("the stored value of session %s is corrupt: %v; repair it or delete it", nameOf(e.id), e.err)
}

func (e *corruptSession) Unwrap() error { return e.err }

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
	return decodeSession(id, data)
}

func decodeSession(id agent.Identity, data []byte) (agent.Session, error) {
	var stored struct {
		Messages *[]agent.Message           `json:"messages"`
		State    map[string]json.RawMessage `json:"state"`
	}
	err := json.Unmarshal(data, &stored)
	if err == nil && stored.Messages == nil {
		err = errors.New("it has no messages")
	}
	if err != nil {
		return agent.Session{}, &corruptSession{id, err}
	}
	return agent.Session{Identity: id, Messages: *stored.Messages, State: stored.State}, nil
}

// Delete removes a conversation. A missing conversation is not an error.
func (s Sessions) Delete(ctx context.Context, id agent.Identity) error {
	return s.Store.Delete(ctx, sessionKey(id))
}

// List returns the identities of all conversations, sorted by their keys.
func (s Sessions) List(ctx context.Context) ([]agent.Identity, error) {
	keys, err := s.Store.Keys(ctx, storekey.Prefix(sessionKind))
	var ids []agent.Identity
	for _, key := range keys {
		if id, parts, ok := storekey.Parse(sessionKind, key); ok && len(parts) == 0 {
			ids = append(ids, id)
		}
	}
	return ids, err
}

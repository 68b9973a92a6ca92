package state

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/generated/agent"
)

// Sessions stores conversations in another store: in files with a [Dir], or in memory with a [Map]. Each conversation
// is a JSON object with id, messages and state. Sessions is safe for concurrent use if its Store is.
type Sessions struct {
	Store agent.Store
}

var _ agent.SessionStore = Sessions{}

// Save stores a conversation and replaces the earlier one with the same ID. If the earlier value in a [Dir] is corrupt,
// Save first copies it to a file next to it. If the program is killed during Save, the earlier conversation remains. A
// session without an ID is an error.
func (s Sessions) Save(ctx context.Context, session agent.Session) error {
	if session.ID == "" {
		return fmt.Errorf("a session cannot be saved: %w", errNoID)
	}
	if session.Messages == nil {
		session.Messages = []agent.Message{}
	}
	data, err := json.Marshal(session)
	if err != nil {
		return fmt.Errorf("the session %q cannot be saved: %w", shorten.To(session.ID, 80), err)
	}
	if err := s.keepCorrupt(ctx, session.ID); err != nil {
		return fmt.Errorf("the session %q cannot be saved: the corrupt session there cannot be kept: %w",
			shorten.To(session.ID, 80), err)
	}
	if err := s.Store.Put(ctx, session.ID, data); err != nil {
		return fmt.Errorf("the session %q cannot be saved: %w", shorten.To(session.ID, 80), err)
	}
	return nil
}

// keepCorrupt makes a backup of a stored value that is not a session.
func (s Sessions) keepCorrupt(ctx context.Context, id string) error {
	files, ok := s.Store.(Dir)
	if !ok {
		return nil
	}
	stored, err := files.Get(ctx, id)
	if err != nil {
		return nil // there is no value, or Put will report the problem
	}
	if _, err := decodeSession(id, stored); err == nil {
		return nil
	}
	return files.keepBackup(ctx, id, stored)
}

type corruptSession struct {
	id  string
	err error
}

func (e *corruptSession) Error() string {
	return fmt.Sprintf("the stored value of session %q is corrupt: %v; repair it or delete it", shorten.To(e.id, 80),
		e.err)
}

func (e *corruptSession) Unwrap() error { return e.err }

// Load returns a conversation. If it does not exist, the error is a *agent.NotFound. A value that is not a session is
// an error.
func (s Sessions) Load(ctx context.Context, id string) (agent.Session, error) {
	if id == "" {
		return agent.Session{}, fmt.Errorf("a session cannot be loaded: %w", errNoID)
	}
	data, err := s.Store.Get(ctx, id)
	if err != nil {
		return agent.Session{}, err
	}
	return decodeSession(id, data)
}

func decodeSession(id string, data []byte) (agent.Session, error) {
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
	return agent.Session{ID: id, Messages: *stored.Messages, State: stored.State}, nil
}

// Delete removes a conversation. A missing conversation is not an error.
func (s Sessions) Delete(ctx context.Context, id string) error { return s.Store.Delete(ctx, id) }

// List returns the IDs of all conversations, sorted.
func (s Sessions) List(ctx context.Context) ([]string, error) { return s.Store.Keys(ctx, "") }

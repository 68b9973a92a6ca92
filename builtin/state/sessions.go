package state

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/generated/agent"
)

// Sessions keeps conversations in a store: in files with a [Dir], or for as long as the program runs with
// a [Map]. Each one is JSON: {id, messages, state}. It is safe for concurrent use.
type Sessions struct {
	Store agent.Store
}

var _ agent.SessionStore = Sessions{}

// Save stores a conversation in the place of the one with the same identity. A file there that is no session is
// copied to one beside it first, so that nothing is lost. A program that is killed meanwhile leaves the file as
// it was.
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
		return fmt.Errorf("the session %q cannot be saved: what is there cannot be kept: %w", shorten.To(session.ID, 80), err)
	}
	if err := s.Store.Put(ctx, session.ID, data); err != nil {
		return fmt.Errorf("the session %q cannot be saved: %w", shorten.To(session.ID, 80), err)
	}
	return nil
}

// keepCorrupt copies a file that is no session to one beside it.
func (s Sessions) keepCorrupt(ctx context.Context, id string) error {
	files, ok := s.Store.(Dir)
	if !ok {
		return nil
	}
	is, err := files.Get(ctx, id)
	if err != nil {
		return nil // there is none, or Put says what is wrong
	}
	if _, err := decodeSession(id, is); err == nil {
		return nil
	}
	return files.keepBeside(ctx, id, is)
}

type corruptSession struct {
	id  string
	err error
}

func (e *corruptSession) Error() string {
	return fmt.Sprintf("what is stored as session %q is none: %v; mend it or delete it", shorten.To(e.id, 80), e.err)
}

func (e *corruptSession) Unwrap() error { return e.err }

// Load returns a conversation, a *agent.NotFound if there is none.
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

// Delete removes a conversation.
func (s Sessions) Delete(ctx context.Context, id string) error { return s.Store.Delete(ctx, id) }

// List returns the identities of all conversations, sorted.
func (s Sessions) List(ctx context.Context) ([]string, error) { return s.Store.Keys(ctx, "") }

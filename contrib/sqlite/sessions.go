package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hookgen/hookgen/generated/agent"
)

// Sessions is an [agent.SessionStore] in a file. It is safe for concurrent use, also by several processes.
type Sessions struct {
	DB *DB
}

var _ agent.SessionStore = Sessions{}

var errUnnamed = errors.New("the conversation has no name; give it one")

// Save stores a conversation and replaces the earlier one of the same identity. A conversation without a name is an
// error.
func (s Sessions) Save(ctx context.Context, session agent.Session) error {
	if session.Conversation == "" {
		return fmt.Errorf("a session cannot be saved: %w", errUnnamed)
	}
	if session.Messages == nil {
		session.Messages = []agent.Message{}
	}
	messages, err := json.Marshal(session.Messages)
	var state []byte
	if err == nil && session.State != nil {
		state, err = json.Marshal(session.State)
	}
	if err == nil {
		err = s.DB.fits("the session", len(messages), len(state), len(session.Tenant), len(session.User),
			len(session.Conversation))
	}
	if err != nil {
		return fmt.Errorf("the session %.80q cannot be saved: %w", session.Conversation, err)
	}
	return s.DB.change(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO sessions (tenant, user, conversation, messages, state, rank)
			VALUES (?, ?, ?, ?, ?, (SELECT coalesce(max(rank), 0) + 1 FROM sessions))
			ON CONFLICT (tenant, user, conversation) DO UPDATE
			SET messages = excluded.messages, state = excluded.state, rank = excluded.rank`,
			session.Tenant, session.User, session.Conversation, messages, state)
		return err
	})
}

// Load returns a conversation. If it does not exist, the error is a *agent.NotFound. A value that is not a session is
// an error.
func (s Sessions) Load(ctx context.Context, id agent.Identity) (agent.Session, error) {
	if id.Conversation == "" {
		return agent.Session{}, fmt.Errorf("a session cannot be loaded: %w", errUnnamed)
	}
	var messages, state []byte
	err := s.DB.row(ctx, []any{&messages, &state},
		"SELECT messages, state FROM sessions WHERE tenant = ? AND user = ? AND conversation = ?",
		id.Tenant, id.User, id.Conversation)
	if errors.Is(err, sql.ErrNoRows) {
		return agent.Session{}, &agent.NotFound{Key: id.Conversation}
	}
	if err != nil {
		return agent.Session{}, err
	}
	return decodeSession(id, messages, state)
}

func decodeSession(id agent.Identity, messages, state []byte) (agent.Session, error) {
	session := agent.Session{Identity: id}
	err := json.Unmarshal(messages, &session.Messages)
	if err == nil && state != nil {
		err = json.Unmarshal(state, &session.State)
	}
	if err != nil {
		return agent.Session{}, fmt.Errorf("the stored session %.80q is corrupt: %w; repair it or delete it",
			id.Conversation, err)
	}
	return session, nil
}

// Delete removes a conversation. A missing conversation is not an error.
func (s Sessions) Delete(ctx context.Context, id agent.Identity) error {
	return s.DB.change(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM sessions WHERE tenant = ? AND user = ? AND conversation = ?",
			id.Tenant, id.User, id.Conversation)
		return err
	})
}

// List returns the identities of all conversations. The one that was saved last is first.
func (s Sessions) List(ctx context.Context) (ids []agent.Identity, err error) {
	err = s.DB.rows(ctx, func() { ids = nil }, func(scan func(...any) error) error {
		var id agent.Identity
		err := scan(&id.Tenant, &id.User, &id.Conversation)
		ids = append(ids, id)
		return err
	}, "SELECT tenant, user, conversation FROM sessions ORDER BY rank DESC")
	return ids, err
}

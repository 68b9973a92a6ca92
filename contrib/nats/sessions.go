package nats

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/hookgen/hookgen/generated/agent"
)

// Sessions is an [agent.SessionStore] in a bucket, for session.Persist. It is safe for concurrent use, also by several
// processes.
type Sessions struct {
	Bucket *Bucket
}

var _ agent.SessionStore = Sessions{}

const sessionKeys = "session"

var errUnnamed = errors.New("the conversation has no name; give it one")

// storedSession is the value of a session. Its key has the identity.
type storedSession struct {
	Messages []agent.Message            `json:"messages"`
	State    map[string]json.RawMessage `json:"state,omitempty"`
}

// Save stores a conversation and replaces the earlier one of the same identity. A conversation without a name is an
// error.
func (s Sessions) Save(ctx context.Context, session agent.Session) error {
	if session.Conversation == "" {
		return fmt.Errorf("a session cannot be saved: %w", errUnnamed)
	}
	text, err := json.Marshal(storedSession{session.Messages, session.State})
	if err == nil {
		_, err = s.Bucket.Put(ctx, ownerKey(sessionKeys, session.Identity), text)
	}
	if err != nil {
		return fmt.Errorf("the session %.80q cannot be saved: %w", session.Conversation, err)
	}
	return nil
}

// Load returns a conversation. If it does not exist, the error is a *agent.NotFound. A value that is not a session is
// an error.
func (s Sessions) Load(ctx context.Context, id agent.Identity) (agent.Session, error) {
	if id.Conversation == "" {
		return agent.Session{}, fmt.Errorf("a session cannot be loaded: %w", errUnnamed)
	}
	e, err := s.Bucket.Get(ctx, ownerKey(sessionKeys, id))
	if err != nil {
		return agent.Session{}, missing(err, id.Conversation)
	}
	var stored storedSession
	if err := json.Unmarshal(e.Value, &stored); err != nil {
		return agent.Session{}, fmt.Errorf("the stored session %.80q is corrupt: %w; repair it or delete it",
			id.Conversation, err)
	}
	return agent.Session{Identity: id, Messages: stored.Messages, State: stored.State}, nil
}

// Delete removes a conversation. A missing conversation is not an error.
func (s Sessions) Delete(ctx context.Context, id agent.Identity) error {
	return s.Bucket.Delete(ctx, ownerKey(sessionKeys, id))
}

// List returns the identities of all conversations. The one that was saved last is first. It reads their keys and not
// the conversations.
func (s Sessions) List(ctx context.Context) (ids []agent.Identity, err error) {
	revisions, err := s.Bucket.revisions(ctx, sessionKeys+"/")
	for _, key := range slices.Backward(byRevision(revisions)) {
		if id, parts, ok := ownerOf(key); ok && len(parts) == 0 {
			ids = append(ids, id)
		}
	}
	return ids, err
}

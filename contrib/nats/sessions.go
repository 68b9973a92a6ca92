package nats

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/generated/agent"
)

// Sessions is an [agent.SessionStore] in a bucket, for session.Persist. It is safe for concurrent use, also by several
// processes.
type Sessions struct {
	Bucket *Bucket
}

var _ agent.SessionStore = Sessions{}

const sessionKeys = "session"

func sessionKey(id agent.Identity) string {
	return Key(sessionKeys, id.Tenant, id.User, id.Conversation)
}

// identityOf returns the identity in a key that sessionKey returned.
func identityOf(key string) (id agent.Identity, ok bool) {
	parts := strings.Split(key, "/")
	for i, escaped := range parts {
		part, err := url.PathUnescape(escaped)
		if err != nil {
			return id, false
		}
		parts[i] = part
	}
	if len(parts) != 4 {
		return id, false
	}
	id = agent.Identity{Tenant: parts[1], User: parts[2], Conversation: parts[3]}
	return id, sessionKey(id) == key
}

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
		_, err = s.Bucket.Put(ctx, sessionKey(session.Identity), text)
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
	e, err := s.Bucket.Get(ctx, sessionKey(id))
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
	return s.Bucket.Delete(ctx, sessionKey(id))
}

// List returns the identities of all conversations. The one that was saved last is first. It reads their keys and not
// the conversations.
func (s Sessions) List(ctx context.Context) (ids []agent.Identity, err error) {
	revisions, err := s.Bucket.revisions(ctx, sessionKeys+"/")
	newest := func(a, b string) int { return cmp.Compare(revisions[b], revisions[a]) }
	for _, key := range slices.SortedFunc(maps.Keys(revisions), newest) {
		if id, ok := identityOf(key); ok {
			ids = append(ids, id)
		}
	}
	return ids, err
}

package agentspec

import (
	"context"
	"encoding/json"
	"fmt"
)

// A Store keeps values under keys. It is safe for concurrent use; a Put is done whole or not at all. A key
// is any text: it is never taken for a path.
type Store interface {
	Get(ctx context.Context, key string) ([]byte, error) // a *NotFound if there is none
	Put(ctx context.Context, key string, value []byte) error
	Delete(ctx context.Context, key string) error // of what is not there: no error
	Keys(ctx context.Context, prefix string) ([]string, error)
}

// A SessionStore keeps conversations by their identity. Conversations of the same name but of other users or tenants
// are other conversations. It is safe for concurrent use.
type SessionStore interface {
	Save(ctx context.Context, s Session) error
	Load(ctx context.Context, id Identity) (Session, error) // a *NotFound if there is none
	Delete(ctx context.Context, id Identity) error
	// List returns the identities of the conversations of all users and tenants. The one that was saved last is first.
	List(ctx context.Context) ([]Identity, error)
}

// A Session is a stored conversation with its state and its owner.
type Session struct {
	Identity
	Messages []Message                  `json:"messages"`
	State    map[string]json.RawMessage `json:"state,omitempty"`
}

// NotFound is the error of a store that has nothing under a key.
type NotFound struct{ Key string }

// Error names the key.
func (e *NotFound) Error() string { return fmt.Sprintf("nothing is stored under %q", e.Key) }

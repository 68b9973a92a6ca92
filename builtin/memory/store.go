package memory

import (
	"context"
	"encoding/json"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
)

// A Store holds knowledge that outlives a conversation: facts with their history, preferences of the user, and
// episodes. An episode is an event and its outcome. [Map] keeps a Store in memory and [File] in a file. Implementations
// are safe for concurrent use; package memorytest checks them.
//
// Facts are never deleted: a new value or Forget closes a fact, which stays in the history. An empty scope means
// [GlobalScope], except in Facts.
//
// A Store holds a memory for each owner, and a common memory that everybody may read. A method acts for the run whose
// context it gets, by agentspec.IdentityOf: it changes the memory of that run's owner, and reads that memory and the
// common one. Outside a run it acts on the common memory. For example, a program adds the opening hours to the common
// memory when it starts, and a tool that a model calls adds a fact about the user to the memory of the conversation. To
// act for an owner outside a run, use agentspec.WithIdentity. The memory of a run without a named conversation may be
// dropped at any time.
type Store interface {
	// AddFact stores the Key, Value, Scope and Source of f and ignores its other fields. A new value closes the current
	// fact of the key and scope; an equal value only updates its UpdatedAt. AddFact returns the current fact. An empty key
	// is an error.
	AddFact(ctx context.Context, f Fact) (Fact, error)
	// Fact returns the current fact of a key and scope, and whether there is one.
	Fact(ctx context.Context, key, scope string) (Fact, bool, error)
	// Facts returns the current facts of a scope, last updated first. An empty scope means all scopes.
	Facts(ctx context.Context, scope string) ([]Fact, error)
	// History returns all facts of a key and scope, closed ones included, oldest first.
	History(ctx context.Context, key, scope string) ([]Fact, error)
	// AsOf returns the facts that were current at time t, in the order in which they became current.
	AsOf(ctx context.Context, t time.Time) ([]Fact, error)
	// Forget closes the current fact of a key and scope and reports whether there was one.
	Forget(ctx context.Context, key, scope string) (bool, error)

	// SetPreference sets the preference with this key. An empty value removes the preference. An empty key is an error.
	SetPreference(ctx context.Context, key, value string) error
	// Preferences returns all preferences, sorted by key.
	Preferences(ctx context.Context) ([]Preference, error)

	// AddEpisode stores an episode. A zero Time means now, and a Payload that is not valid JSON is stored as a JSON
	// string. A store keeps the last 500 episodes.
	AddEpisode(ctx context.Context, e Episode) error
	// Recent returns the last n episodes of a kind, newest first. An empty kind means all kinds.
	Recent(ctx context.Context, n int, kind string) ([]Episode, error)

	// Flush makes all changes so far permanent.
	Flush(ctx context.Context) error
}

// GlobalScope is the default scope of a fact.
const GlobalScope = "global"

// maxEpisodes bounds the episodes of a store.
const maxEpisodes = 500

// A Fact is a value that was known under a key, in a scope, during a period. Times have microsecond precision.
type Fact struct {
	ID            string // unique in the store
	Key           string
	Value         string
	Scope         string
	Source        string    // for example a tool or a person; "" if unknown
	UpdatedAt     time.Time // time of the last AddFact with this value
	ValidFrom     time.Time
	ValidTo       time.Time // zero: the fact is current
	InvalidatedAt time.Time // when the fact was replaced or forgotten; zero: the fact is current
	Supersedes    string    // ID of the fact that this one replaced, or ""
}

// Current reports whether the fact has not been closed.
func (f Fact) Current() bool { return f.ValidTo.IsZero() && f.InvalidatedAt.IsZero() }

// A Preference is a lasting wish of a user, for example metric units.
type Preference struct {
	Key       string
	Value     string
	UpdatedAt time.Time
}

// An Episode is an event and its outcome, for example a tool call that failed.
type Episode struct {
	Kind    string
	Payload json.RawMessage // usually an object; nil: no payload
	Outcome string
	Time    time.Time
	Agent   string
	Run     string // ID of the run; "" outside a run
	agent.Identity
}

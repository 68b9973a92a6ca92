package memory

import (
	"context"
	"encoding/json"
	"time"
)

// A Store is what agents know beyond one conversation: facts with their history, preferences of the user, and
// episodes, which are things that happened and what came of them. [Map] keeps one in memory,
// [File] in a file. A Memory is safe for concurrent use.
//
// Facts are append-only. Where a fact has a scope, the empty scope stands for [GlobalScope].
type Store interface {
	// AddFact stores the Key, Value, Scope and Source of f; its other fields are not read. A new value closes
	// the fact that stood under key and scope; the same value only touches its UpdatedAt. It returns the fact
	// as it now stands. An empty key is an error.
	AddFact(ctx context.Context, f Fact) (Fact, error)
	// Fact returns what stands under key and scope, and whether anything does.
	Fact(ctx context.Context, key, scope string) (Fact, bool, error)
	// Facts returns the current facts of a scope, in all scopes if it is empty, the last updated first.
	Facts(ctx context.Context, scope string) ([]Fact, error)
	// History returns every fact that ever stood under key and scope, the oldest first.
	History(ctx context.Context, key, scope string) ([]Fact, error)
	// AsOf returns the facts that were current at a time, in the order in which they became current.
	AsOf(ctx context.Context, t time.Time) ([]Fact, error)
	// Forget closes the fact under key and scope and reports whether there was one. Its history stays.
	Forget(ctx context.Context, key, scope string) (bool, error)

	// SetPreference stores a preference in the place of the one with the same key; an empty value removes it.
	// An empty key is an error.
	SetPreference(ctx context.Context, key, value string) error
	// Preferences returns all preferences, sorted by key.
	Preferences(ctx context.Context) ([]Preference, error)

	// AddEpisode stores an episode. A zero Time is now; a Payload that is no JSON is kept as a JSON text. Of
	// more than 500 episodes the oldest go.
	AddEpisode(ctx context.Context, e Episode) error
	// Recent returns the last n episodes of a kind, of all kinds if it is empty, the newest first.
	Recent(ctx context.Context, n int, kind string) ([]Episode, error)

	// Flush makes everything that was stored so far permanent.
	Flush(ctx context.Context) error
}

// GlobalScope is the scope of a fact that is given none.
const GlobalScope = "global"

// maxEpisodes is how many episodes a memory keeps.
const maxEpisodes = 500

// A Fact is something that is held to be true under a key, in a scope, for a time. Times are kept to the
// microsecond.
type Fact struct {
	ID            string // unique in the memory
	Key           string
	Value         string
	Scope         string
	Source        string    // where it is from: a tool, a person; "" if it is not known
	UpdatedAt     time.Time // when it was last stored
	ValidFrom     time.Time
	ValidTo       time.Time // zero: it still stands
	InvalidatedAt time.Time // when it was learned that it stands no more; zero: it still stands
	Supersedes    string    // the ID of the fact that it took the place of, "" for none
}

// Current reports whether the fact has not been closed.
func (f Fact) Current() bool { return f.ValidTo.IsZero() && f.InvalidatedAt.IsZero() }

// A Preference is what a user wants always.
type Preference struct {
	Key       string
	Value     string
	UpdatedAt time.Time
}

// An Episode is something that happened, and what came of it.
type Episode struct {
	Kind    string
	Payload json.RawMessage // an object, usually; nil: none
	Outcome string
	Time    time.Time
	Agent   string
}

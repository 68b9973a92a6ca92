package memory

import (
	"context"
	"encoding/json"
	"time"

	"github.com/hookgen/hookgen/builtin/internal/jsonx"
	"github.com/hookgen/hookgen/generated/agent"
)

// A Store holds what outlives a conversation. [Facts] implements it over any agent.Store. Implement it to use another
// system for memories; package memorytest checks it. Implementations are safe for concurrent use.
//
// Facts are never deleted: a new value or Forget closes a fact, which stays in the history. A change is permanent when
// its method returns.
//
// A Store holds a memory for each owner, and a common memory that everybody may read. A method acts for the run whose
// context it gets, by agentspec.IdentityOf: it changes the memory of that run's owner, and reads that memory and the
// common one. Outside a run it acts on the common memory. For example, a program adds the opening hours to the common
// memory when it starts, and a tool that a model calls adds a fact about the user to the memory of the conversation. To
// act for an owner outside a run, use agentspec.WithIdentity. The memory of a run without a named conversation may be
// dropped at any time.
type Store interface {
	// Put stores the Key, Value, Scope and Source of each fact and ignores the other fields. A new value replaces the
	// current fact of the key and scope; an equal value only updates its UpdatedAt. The facts of one scope are stored all
	// or none. An empty key is an error.
	Put(ctx context.Context, facts ...Fact) error
	// Search returns the facts that a query selects, and how many more it would return without its Limit. A fact of the
	// owner hides the common fact with its key and scope.
	Search(ctx context.Context, q Query) (found []Fact, more int, err error)
	// Forget closes the current fact of a key and scope and reports whether there was one.
	Forget(ctx context.Context, key, scope string) (bool, error)
	// History returns all facts of a key and scope, closed ones included, oldest first.
	History(ctx context.Context, key, scope string) ([]Fact, error)
}

// A Fact is a value that was known under a key, in a scope, during a period. Times have microsecond precision.
type Fact struct {
	ID         string // unique in the store
	Key        string // what the fact is about, for example "home city"
	Value      string
	Scope      string    // "" is GlobalScope; a scope of your own, for example "kitchen", is shown with the key
	Source     string    // for example a tool or a person; "" if unknown
	UpdatedAt  time.Time // time of the last Put with this value
	ValidFrom  time.Time
	ValidTo    time.Time // when the fact was replaced or forgotten; zero: the fact is current
	Supersedes string    // ID of the fact that this one replaced, or ""
}

// Current reports whether the fact has not been closed.
func (f Fact) Current() bool { return f.ValidTo.IsZero() }

// Scopes with a meaning. A search finds the facts of the last three only if it names their scope.
const (
	GlobalScope     = "global"     // the default
	PreferenceScope = "preference" // lasting wishes of a user, for example metric units; shown before facts
	TurnScope       = "turn"       // messages with their replies, see Archive
	EpisodeScope    = "episode"    // events, see Episode
)

// A Query selects facts.
type Query struct {
	// Text says what to look for, for example a task. The facts that match it best are first, and those that have nothing
	// in common with it are left out. "": all facts, the last updated first.
	Text  string
	Scope string    // "": all scopes but PreferenceScope, TurnScope and EpisodeScope
	Limit int       // the most facts to return; 0: all
	AsOf  time.Time // find the facts that were current at this time; zero: now
}

// An Episode is an event and its outcome, for example a tool call that failed. It is stored as the Value of a fact in
// EpisodeScope, in JSON. Such a fact replaces no other one, and cannot be forgotten. A store keeps the last 500.
type Episode struct {
	Kind    string          `json:"kind"`
	Payload json.RawMessage `json:"payload,omitempty"` // usually an object; nil: no payload
	Outcome string          `json:"outcome"`
	Time    time.Time       `json:"time"`
	Agent   string          `json:"agent,omitempty"`
	Run     string          `json:"run,omitempty"` // ID of the run
	agent.Identity
}

// maxEpisodes bounds the episodes of an owner.
const maxEpisodes = 500

// Episodes returns the last n episodes of a store, newest first; 0: all. A fact in EpisodeScope that is not an Episode
// has its Key as the Kind and its Value as the Outcome.
func Episodes(ctx context.Context, s Store, n int) ([]Episode, error) {
	facts, _, err := s.Search(ctx, Query{Scope: EpisodeScope, Limit: n})
	episodes := make([]Episode, len(facts))
	for i, f := range facts {
		if json.Unmarshal([]byte(f.Value), &episodes[i]) != nil {
			episodes[i] = Episode{Kind: f.Key, Outcome: f.Value, Time: f.UpdatedAt}
		}
	}
	return episodes, err
}

// Fact returns the fact that stores the episode. Its Key is the kind.
func (e Episode) Fact() Fact {
	if len(e.Payload) > 0 && !json.Valid(e.Payload) {
		e.Payload = jsonx.Encode(string(e.Payload))
	}
	return Fact{Key: e.Kind, Value: string(jsonx.Encode(e)), Scope: EpisodeScope, Source: e.Run}
}

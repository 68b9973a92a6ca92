// Package memorystore has the parts that implementations of memory.Store share if they keep a memory for each owner in
// a database. It selects the memories that a call uses, and merges their contents.
//
// For example, a run of the user ann reads her memory and the common one. Her fact hides the common fact of the same
// key and scope. The queries belong in the implementations, such as contrib/sqlite and contrib/nats.
//
// Start with [Memories].
package memorystore

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hookgen/hookgen/builtin/memory"
	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// MaxEpisodes bounds the episodes of an owner.
const MaxEpisodes = 500

// Memories selects the memories that a call uses. It keeps those of conversations without a name, which are never
// written to the database. The zero value is ready to use and safe for concurrent use; do not copy it.
type Memories struct {
	once    sync.Once
	unnamed memory.Map
}

// A Layer is one memory that a call uses.
type Layer struct {
	Owner   agent.Identity
	Ctx     context.Context // for calls of Unnamed
	Unnamed *memory.Map     // has the memory of a conversation without a name; nil: the memory is in the database
}

// Own returns the memory that a call with a context changes. clock is that of the unnamed memories; nil: the system's.
func (m *Memories) Own(ctx context.Context, scope share.Scope, clock agent.Clock) Layer {
	owner := scope.Of(agentspec.IdentityOf(ctx))
	if owner.Conversation == "" || owner.Named() {
		return Layer{Owner: owner, Ctx: ctx}
	}
	m.once.Do(func() { m.unnamed.Clock = clock })
	return Layer{owner, agentspec.WithIdentity(ctx, owner), &m.unnamed}
}

// All returns the memories that a call with a context reads: its own, and then the common one.
func (m *Memories) All(ctx context.Context, scope share.Scope, clock agent.Clock) []Layer {
	own := m.Own(ctx, scope, clock)
	if own.Owner == (agent.Identity{}) {
		return []Layer{own}
	}
	return []Layer{own, {Ctx: ctx}}
}

// Read returns the contents of layers, in the same order. It calls unnamed for a layer that is in the process, and
// stored for the others.
func Read[T any](
	layers []Layer, unnamed func(*memory.Map, context.Context) ([]T, error), stored func(agent.Identity) ([]T, error),
) (all [][]T, err error) {
	for _, l := range layers {
		var found []T
		if l.Unnamed != nil {
			found, err = unnamed(l.Unnamed, l.Ctx)
		} else {
			found, err = stored(l.Owner)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, found)
	}
	return all, nil
}

// Facts merges current facts, the last updated first. A fact hides those of later layers with its key and scope.
func Facts(layers [][]memory.Fact) []memory.Fact {
	type place struct{ key, scope string }
	all := withoutHidden(layers, func(f memory.Fact) place { return place{f.Key, f.Scope} })
	slices.SortStableFunc(all, func(a, b memory.Fact) int { return b.UpdatedAt.Compare(a.UpdatedAt) })
	return all
}

// History merges facts by the time at which they became current. The facts of one layer stay in their order, also if
// somebody has set the clock back, unless another layer has facts too.
func History(layers [][]memory.Fact) []memory.Fact {
	return merged(layers, func(a, b memory.Fact) int { return a.ValidFrom.Compare(b.ValidFrom) })
}

// Preferences merges preferences, sorted by key. A preference hides those of later layers with its key.
func Preferences(layers [][]memory.Preference) []memory.Preference {
	all := withoutHidden(layers, func(p memory.Preference) string { return p.Key })
	slices.SortFunc(all, func(a, b memory.Preference) int { return strings.Compare(a.Key, b.Key) })
	return all
}

// Episodes merges episodes, the newest first, and returns the first n. The episodes of one layer stay in the order in
// which they were added, whatever their times, unless another layer has episodes too.
func Episodes(layers [][]memory.Episode, n int) []memory.Episode {
	all := merged(layers, func(a, b memory.Episode) int { return b.Time.Compare(a.Time) })
	return all[:min(len(all), n)]
}

// withoutHidden joins layers. Of the elements with one key it returns the first.
func withoutHidden[T any, K comparable](layers [][]T, key func(T) K) (all []T) {
	seen := make(map[K]bool)
	for _, v := range slices.Concat(layers...) {
		if k := key(v); !seen[k] {
			seen[k] = true
			all = append(all, v)
		}
	}
	return all
}

// merged joins layers, and sorts them if more than one has elements.
func merged[T any](layers [][]T, order func(a, b T) int) []T {
	filled := slices.DeleteFunc(slices.Clone(layers), func(layer []T) bool { return len(layer) == 0 })
	all := slices.Concat(filled...)
	if len(filled) > 1 {
		slices.SortStableFunc(all, order)
	}
	return all
}

// NewFact returns the fact that [memory.Store.AddFact] stores for f at a time.
func NewFact(f memory.Fact, now time.Time) memory.Fact {
	return memory.Fact{
		ID: fmt.Sprintf("%016x", rand.Uint64()), Key: f.Key, Value: f.Value, Scope: cmp.Or(f.Scope, memory.GlobalScope),
		Source: f.Source, UpdatedAt: now, ValidFrom: now,
	}
}

// Payload returns the payload of an episode as it is stored: nil for an empty one, and a JSON string for a text that is
// not valid JSON.
func Payload(payload []byte) json.RawMessage {
	switch {
	case len(payload) == 0:
		return nil
	case json.Valid(payload):
		return payload
	}
	text, _ := json.Marshal(string(payload))
	return text
}

package memory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hookgen/hookgen/builtin/internal/storekey"
	"github.com/hookgen/hookgen/builtin/session"
	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// Facts is a [Store] over an agent.Store. The zero value keeps facts in this process until it ends. A Facts is safe for
// concurrent use and must not be copied. Several processes may use one agent.Store, and none loses a fact.
//
// For example, this memory is in a directory, and the conversations of a user have it in common:
//
//	memories := &memory.Facts{In: session.Dir{Path: "memory"}, Share: share.User}
//
// With an Embedder, Search finds facts by their meaning: "Where am I at home?" finds the fact "lives in Bern". Without
// one, it finds facts that have words of the text in common with it, and rare words count more. A fact that was stored
// without an Embedder is found by its words.
//
// In has keys that begin with "memory/" and the names of the owner, as docs/agents/built-in-hooks.md says. Delete the
// keys of an owner to remove everything about it. Of conversations without a name, a Facts keeps the memories of the
// last 64, and nothing is written to In.
type Facts struct {
	In       agent.Store    // nil: in this process
	Share    share.Scope    // the runs that have a memory in common
	Embedder agent.Embedder // nil: facts are found by their words
	Clock    agent.Clock    // source of timestamps; nil: the system's clock

	mu   sync.Mutex
	here inProcess[session.Map]
}

// An inProcess keeps a value for each owner whose memory is in this process.
type inProcess[T any] struct {
	values  map[agent.Identity]*T
	unnamed []agent.Identity // owners without a named conversation, oldest first
}

// maxUnnamed bounds the memories of conversations without a name.
const maxUnnamed = 64

// isUnnamed reports whether an owner is a conversation without a name.
func isUnnamed(owner agent.Identity) bool { return owner.Conversation != "" && !owner.Named() }

// of returns the value of an owner, which is zero at first.
func (p *inProcess[T]) of(owner agent.Identity) *T {
	if p.values == nil {
		p.values = make(map[agent.Identity]*T)
	}
	if p.values[owner] == nil {
		p.values[owner] = new(T)
		if isUnnamed(owner) {
			p.unnamed = append(p.unnamed, owner)
		}
		if len(p.unnamed) > maxUnnamed {
			delete(p.values, p.unnamed[0])
			p.unnamed = p.unnamed[1:]
		}
	}
	return p.values[owner]
}

// owner returns the owner for whom a context acts.
func (m *Facts) owner(ctx context.Context) agent.Identity {
	return m.Share.Of(agentspec.IdentityOf(ctx))
}

// journal returns the journal of an owner with the facts of a scope. Facts have one journal for all their scopes.
func (m *Facts) journal(owner agent.Identity, scope string) journal {
	if scope != PreferenceScope && scope != TurnScope && scope != EpisodeScope {
		scope = "fact"
	}
	j := journal{in: m.In, prefix: storekey.Of("memory", owner, scope) + "/", episodes: scope == EpisodeScope}
	if m.In != nil && !isUnnamed(owner) {
		return j
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	j.in = m.here.of(owner)
	return j
}

// now returns the time to the microsecond.
func (m *Facts) now() time.Time { return nowBy(m.Clock).Round(0).UTC().Truncate(time.Microsecond) }

// Put implements [Store]. If the Embedder fails, the facts are stored, to be found by their words, and Put returns the
// error.
func (m *Facts) Put(ctx context.Context, facts ...Fact) error {
	byScope := make(map[string][]change)
	var scopes []string
	for _, f := range facts {
		if f.Key == "" {
			return errors.New("the key of a fact is empty; give one")
		}
		scope := cmp.Or(f.Scope, GlobalScope)
		if byScope[scope] == nil {
			scopes = append(scopes, scope)
		}
		byScope[scope] = append(byScope[scope], change{
			ID: newID(), Key: f.Key, Value: f.Value, Scope: scope, Source: f.Source, Time: m.now(),
		})
	}
	var failed error
	for _, scope := range scopes {
		if m.Embedder != nil && scope != EpisodeScope {
			if err := m.embed(ctx, byScope[scope]); err != nil {
				failed = fmt.Errorf("facts are stored, but found only by their words: %w", err)
			}
		}
		if err := m.journal(m.owner(ctx), scope).add(ctx, byScope[scope]); err != nil {
			return err
		}
	}
	return failed
}

// Forget implements [Store].
func (m *Facts) Forget(ctx context.Context, key, scope string) (bool, error) {
	scope = cmp.Or(scope, GlobalScope)
	j := m.journal(m.owner(ctx), scope)
	changes, err := j.read(ctx)
	if err != nil {
		return false, err
	}
	all, _ := fold(changes)
	current := func(f known) bool { return f.Key == key && f.Scope == scope && f.Current() }
	if j.episodes || !slices.ContainsFunc(all, current) {
		return false, nil
	}
	err = j.add(ctx, []change{{ID: newID(), Key: key, Scope: scope, Time: m.now(), Forget: true}})
	return err == nil, err
}

// History implements [Store].
func (m *Facts) History(ctx context.Context, key, scope string) (found []Fact, err error) {
	scope = cmp.Or(scope, GlobalScope)
	all, err := m.read(ctx, scope)
	for _, layer := range all {
		for _, f := range layer {
			if f.Key == key && f.Scope == scope {
				found = append(found, f.Fact)
			}
		}
	}
	if len(all) > 1 && len(all[0]) > 0 && len(all[1]) > 0 {
		slices.SortStableFunc(found, func(a, b Fact) int { return a.ValidFrom.Compare(b.ValidFrom) })
	}
	return found, err
}

// read returns the facts of the owner for whom ctx acts, and the common ones, each in the order in which they became
// current.
func (m *Facts) read(ctx context.Context, scope string) (layers [][]known, err error) {
	owners := []agent.Identity{m.owner(ctx)}
	if owners[0] != (agent.Identity{}) {
		owners = append(owners, agent.Identity{})
	}
	for _, owner := range owners {
		changes, err := m.journal(owner, scope).read(ctx)
		if err != nil {
			return nil, err
		}
		layer, _ := fold(changes)
		layers = append(layers, layer)
	}
	return layers, nil
}

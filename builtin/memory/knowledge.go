package memory

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// knowledge is the memory of one owner. The lock of the Map guards its fields, unless they say otherwise.
type knowledge struct {
	facts    []Fact // in the order in which they became current
	current  map[factKey]int
	prefs    map[string]Preference
	episodes []Episode

	// For a File only.
	dirty   bool        // there are unwritten changes
	writing bool        // a write has begun
	written time.Time   // time of the last attempt to write
	saving  sync.Mutex  // held during a write; guards seen
	seen    os.FileInfo // the file when it was last read or written; nil if it did not exist
}

type factKey struct{ key, scope string }

func keyOf(key, scope string) factKey { return factKey{key, cmp.Or(scope, GlobalScope)} }

// add adds a fact, or updates the current one if it has the same value.
func (k *knowledge) add(f Fact, now time.Time) Fact {
	at := keyOf(f.Key, f.Scope)
	added := Fact{
		ID: newFactID(), Key: f.Key, Value: f.Value, Scope: at.scope, Source: f.Source,
		UpdatedAt: now, ValidFrom: now,
	}
	if i, ok := k.current[at]; ok {
		old := &k.facts[i]
		if old.Value == f.Value {
			old.UpdatedAt = now
			return *old
		}
		old.ValidTo, old.InvalidatedAt = now, now
		added.Supersedes = old.ID
	}
	k.activate(added)
	return added
}

// activate adds a current fact.
func (k *knowledge) activate(f Fact) {
	if k.current == nil {
		k.current = make(map[factKey]int)
	}
	k.facts = append(k.facts, f)
	k.current[keyOf(f.Key, f.Scope)] = len(k.facts) - 1
}

func (k *knowledge) forget(at factKey, now time.Time) bool {
	i, ok := k.current[at]
	if ok {
		k.facts[i].ValidTo, k.facts[i].InvalidatedAt = now, now
		delete(k.current, at)
	}
	return ok
}

func (k *knowledge) setPreference(key, value string, now time.Time) {
	if value == "" {
		delete(k.prefs, key)
		return
	}
	if k.prefs == nil {
		k.prefs = make(map[string]Preference)
	}
	k.prefs[key] = Preference{key, value, now}
}

func (k *knowledge) addEpisode(e Episode) {
	k.episodes = append(k.episodes, e)
	if over := len(k.episodes) - maxEpisodes; over > 0 {
		k.episodes = slices.Delete(k.episodes, 0, over)
	}
}

// copied returns a copy that later changes do not affect.
func (k *knowledge) copied() *knowledge {
	return &knowledge{facts: slices.Clone(k.facts), prefs: maps.Clone(k.prefs), episodes: slices.Clone(k.episodes)}
}

// layers are the memory of an owner and the common memory. A fact of the owner hides the common fact with the same key.
type layers []*knowledge

func (l layers) fact(at factKey) (Fact, bool) {
	for _, k := range l {
		if i, ok := k.current[at]; ok {
			return k.facts[i], true
		}
	}
	return Fact{}, false
}

// current returns the current facts of a scope, or of all scopes if it is empty, last updated first.
func (l layers) current(scope string) (found []Fact) {
	seen := make(map[factKey]bool)
	for _, k := range l {
		for _, f := range slices.Backward(k.facts) {
			at := factKey{f.Key, f.Scope}
			if f.Current() && (scope == "" || f.Scope == scope) && !seen[at] {
				seen[at] = true
				found = append(found, f)
			}
		}
	}
	slices.SortStableFunc(found, func(a, b Fact) int { return b.UpdatedAt.Compare(a.UpdatedAt) })
	return found
}

// where returns the facts that satisfy a condition, in the order in which they became current.
func (l layers) where(holds func(Fact) bool) (found []Fact) {
	for _, k := range l {
		for _, f := range k.facts {
			if holds(f) {
				found = append(found, f)
			}
		}
	}
	if len(l) > 1 {
		slices.SortStableFunc(found, func(a, b Fact) int { return a.ValidFrom.Compare(b.ValidFrom) })
	}
	return found
}

func (l layers) preferences() (all []Preference) {
	seen := make(map[string]bool)
	for _, k := range l {
		for _, p := range k.prefs {
			if !seen[p.Key] {
				seen[p.Key] = true
				all = append(all, p)
			}
		}
	}
	slices.SortFunc(all, func(a, b Preference) int { return strings.Compare(a.Key, b.Key) })
	return all
}

// recent returns the last n episodes of a kind, or of all kinds if it is empty, newest first.
func (l layers) recent(n int, kind string) (found []Episode) {
	for _, k := range l {
		left := n
		for _, e := range slices.Backward(k.episodes) {
			if left <= 0 {
				break
			}
			if kind == "" || e.Kind == kind {
				e.Payload = slices.Clone(e.Payload)
				found = append(found, e)
				left--
			}
		}
	}
	if len(l) > 1 {
		slices.SortStableFunc(found, func(a, b Episode) int { return b.Time.Compare(a.Time) })
	}
	return found[:min(len(found), max(n, 0))]
}

func newFactID() string { return fmt.Sprintf("%016x", rand.Uint64()) }

// asJSON returns a copy of data if it is valid JSON, nil if it is empty, and otherwise data as a JSON string.
func asJSON(data json.RawMessage) json.RawMessage {
	switch {
	case len(data) == 0:
		return nil
	case json.Valid(data):
		return slices.Clone(data)
	}
	text, _ := json.Marshal(string(data))
	return text
}

package memory

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
)

// A journal is the list of all changes of a memory, in an agent.Store that has nothing but Get, Put, Delete and Keys.
// Each addition is a value under a new key, so that writers in several processes never replace the change of another
// one. Keys have the numbers of their last changes, so that they are in order.
//
// After many additions, a writer merges them: it stores their changes under one key, and then deletes the others. If it
// is killed between both, or two writers merge at a time, some changes are there twice. Readers know them by their IDs.
type journal struct {
	in       agent.Store
	prefix   string // of its keys
	episodes bool   // only the last changes are kept
}

// A change is a fact that was put or forgotten.
type change struct {
	ID     string    `json:"id"`
	Seq    int64     `json:"seq"` // the order of changes
	Key    string    `json:"key"`
	Value  string    `json:"value"`
	Scope  string    `json:"scope"`
	Source string    `json:"source,omitempty"`
	Time   time.Time `json:"time"`
	Forget bool      `json:"forget,omitempty"`
	Vector []byte    `json:"vector,omitempty"`
}

const (
	maxAdditions = 64        // values that are merged into one
	mergedMark   = "-merged" // ends the key of a value that was merged
)

func isMerged(key string) bool { return strings.HasSuffix(key, mergedMark) }

func newID() string { return fmt.Sprintf("%016x", rand.Uint64()) }

// add appends changes. Their numbers follow those in the journal, also if somebody has set the clock back.
func (j journal) add(ctx context.Context, changes []change) error {
	keys, err := j.in.Keys(ctx, j.prefix)
	if err != nil {
		return err
	}
	seq := max(1, changes[0].Time.UnixMicro())
	for _, key := range keys {
		seq = max(seq, j.seq(key)+1)
	}
	for i := range changes {
		changes[i].Seq = seq + int64(i)
	}
	if err = j.put(ctx, changes, ""); err != nil {
		return err
	}
	if !j.episodes { // whose merged values lose the oldest
		keys = slices.DeleteFunc(keys, isMerged)
	}
	if len(keys) >= maxAdditions {
		_ = j.merge(ctx, keys) // if it fails, the next addition tries it again
	}
	return nil
}

// seq returns the number in a key.
func (j journal) seq(key string) int64 {
	digits, _, _ := strings.Cut(strings.TrimPrefix(key, j.prefix), "-")
	seq, _ := strconv.ParseInt(digits, 16, 64)
	return seq
}

// put stores changes under a new key with a mark.
func (j journal) put(ctx context.Context, changes []change, mark string) error {
	value, err := json.Marshal(changes)
	if err != nil {
		return err
	}
	return j.in.Put(ctx, fmt.Sprintf("%s%016x-%s%s", j.prefix, changes[len(changes)-1].Seq, newID(), mark), value)
}

// getAll returns the changes under keys, or an agent.NotFound if another writer has merged one of them.
func (j journal) getAll(ctx context.Context, keys []string) (all []change, err error) {
	for _, key := range keys {
		value, err := j.in.Get(ctx, key)
		if err != nil {
			return nil, err
		}
		var changes []change
		if err = json.Unmarshal(value, &changes); err != nil {
			return nil, fmt.Errorf("the memory under %.80q is corrupt: %w; delete it", key, err)
		}
		all = append(all, changes...)
	}
	return all, nil
}

// merge replaces values by one. If another writer merges them too, it does nothing.
func (j journal) merge(ctx context.Context, keys []string) error {
	all, err := j.getAll(ctx, keys)
	if err != nil {
		return err
	}
	_, needed := fold(all)
	if j.episodes {
		needed = needed[max(0, len(needed)-maxEpisodes):]
	}
	if len(needed) > 0 {
		if err := j.put(ctx, needed, mergedMark); err != nil {
			return err
		}
	}
	for _, key := range keys {
		if err := j.in.Delete(ctx, key); err != nil {
			return err
		}
	}
	return nil
}

// read returns all changes. A list of keys that is made during a merge can lack both the old values and the new one.
// So read makes another list when it has the values, and begins again if that one has a merged value more.
func (j journal) read(ctx context.Context) ([]change, error) {
	for range 100 {
		keys, err := j.in.Keys(ctx, j.prefix)
		if err != nil {
			return nil, err
		}
		all, err := j.getAll(ctx, keys)
		gone := errors.As(err, new(*agent.NotFound))
		if err != nil && !gone {
			return nil, err
		}
		after, err := j.in.Keys(ctx, j.prefix)
		if err != nil {
			return nil, err
		}
		unread := func(key string) bool { return isMerged(key) && !slices.Contains(keys, key) }
		if !gone && !slices.ContainsFunc(after, unread) {
			return all, nil
		}
	}
	return nil, errors.New("other writers merge the memory all the time; try again")
}

// A known fact has its vector, or nil.
type known struct {
	Fact
	vector []byte
}

// fold returns the facts that result from changes, in the order in which they became current, and the changes that are
// needed for that. It sorts its argument. For example, of three equal values the first and the last are needed.
func fold(changes []change) (facts []known, needed []change) {
	slices.SortFunc(changes, func(a, b change) int {
		return cmp.Or(cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.ID, b.ID))
	})
	changes = slices.CompactFunc(changes, func(a, b change) bool { return a.ID == b.ID })
	type place struct{ key, scope string }
	current := make(map[place]int)
	touched := make(map[int]int) // the last change of an equal value, by fact
	dropped := make(map[int]bool)
	for n, c := range changes {
		at := place{c.Key, c.Scope}
		i, ok := current[at]
		if c.Scope == EpisodeScope {
			ok = false
		}
		if ok && !c.Forget && facts[i].Value == c.Value {
			facts[i].UpdatedAt = c.Time
			if c.Vector != nil {
				facts[i].vector = c.Vector
			}
			if last, again := touched[i]; again {
				dropped[last] = true
			}
			touched[i] = n
			continue
		}
		f := known{Fact{
			ID: c.ID, Key: c.Key, Value: c.Value, Scope: c.Scope, Source: c.Source, UpdatedAt: c.Time, ValidFrom: c.Time,
		}, c.Vector}
		if ok {
			facts[i].ValidTo, f.Supersedes = c.Time, facts[i].ID
			delete(current, at)
		}
		if !c.Forget {
			current[at] = len(facts)
			facts = append(facts, f)
		}
	}
	for n, c := range changes {
		if !dropped[n] {
			needed = append(needed, c)
		}
	}
	if n := len(facts); n > maxEpisodes && facts[0].Scope == EpisodeScope {
		facts = facts[n-maxEpisodes:]
	}
	return facts, needed
}

package fleettest

import (
	"bytes"
	"context"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"github.com/hookgen/hookgen/loop/fleet"
)

// A Newer is a newer release: each object that its processes write may have one more field, which they read again. The
// author of an engine uses it for the messages between workers and clients.
type Newer struct {
	mu    sync.Mutex
	r     *rand.Rand
	wrote int // values with more fields
}

// added is the field that this release does not know.
const added = "added_later"

// opaque are the objects that programs fill as they like, and the maps, whose keys are no fields.
var opaque = []string{"args", "data", "parameters", "extra", "remember", "Tools", "Models", "held"}

// Encode returns a value as the newer release writes it: every third one has another field in each of its objects.
func (n *Newer) Encode(data []byte) []byte {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.r.IntN(3) > 0 {
		return data
	}
	n.wrote++
	return edited(data, func(object map[string]any) { object[added] = n.wrote })
}

// Decode returns a value as the newer release reads it.
func (n *Newer) Decode(data []byte) []byte {
	if !bytes.Contains(data, []byte(added)) {
		return data
	}
	return edited(data, func(object map[string]any) { delete(object, added) })
}

// edited applies f to each object in a value, apart from opaque ones.
func edited(data []byte, f func(map[string]any)) []byte {
	var value any
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(&value); err != nil {
		return data
	}
	var walk func(any)
	walk = func(value any) {
		switch value := value.(type) {
		case map[string]any:
			for name, v := range value {
				if !slices.Contains(opaque, name) {
					walk(v)
				}
			}
			f(value)
		case []any:
			for _, v := range value {
				walk(v)
			}
		}
	}
	walk(value)
	changed, err := json.Marshal(value)
	if err != nil {
		return data
	}
	return changed
}

// Store returns a store as the processes of the newer release use it.
func (n *Newer) Store(s fleet.Store) fleet.Store {
	s.Log, s.Table = newerLog{s.Log, n}, newerTable{s.Table, n}
	return s
}

type newerLog struct {
	fleet.Log
	n *Newer
}

func (l newerLog) Append(ctx context.Context, run string, event []byte, last uint64) (uint64, error) {
	return l.Log.Append(ctx, run, l.n.Encode(event), last)
}

func (l newerLog) Read(ctx context.Context, run string, after uint64) ([]fleet.Entry, error) {
	entries, err := l.Log.Read(ctx, run, after)
	for i := range entries {
		entries[i].Event = l.n.Decode(entries[i].Event)
	}
	return entries, err
}

type newerTable struct {
	fleet.Table
	n *Newer
}

func (t newerTable) Get(ctx context.Context, key string) ([]byte, uint64, error) {
	value, revision, err := t.Table.Get(ctx, t.key(key))
	return t.n.Decode(value), revision, err
}

func (t newerTable) Put(ctx context.Context, key string, value []byte, last uint64) error {
	return t.Table.Put(ctx, t.key(key), t.n.Encode(value), last)
}

// key returns a key of the release. Each release looks for lost runs itself.
func (newerTable) key(key string) string {
	if strings.HasPrefix(key, "sweep/") {
		key += "-newer"
	}
	return key
}

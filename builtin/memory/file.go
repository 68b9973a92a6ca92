package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/hookgen/hookgen/builtin/internal/ownerpath"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/internal/atomicfile"
)

// writeEvery is the shortest time between two writes of a memory file, except by Flush.
const writeEvery = 2 * time.Second

// A File is a [Store] in JSON files. Open it with [OpenFile]. Only one program at a time may open a file, and only
// once, because its content is kept in memory. Each write replaces a file atomically.
//
// The common memory is in the file itself. Each owner has a file of its own in a directory next to it. For example, the
// memory of the conversation "c" of the user "ann" of the tenant "acme" is in memory.json.d/acme/ann/c.json; a missing
// name is "-", and a name that is too long for a file is shortened. A file is read when it is first used, and no longer
// in memory after a Flush. The memory of a conversation without a name is never written.
//
// A change is written at once if the last write was at least two seconds ago. Otherwise it is written with a later
// change or by Flush. Call Flush before the program ends; [Injector] calls it at the end of each run.
//
// If a change cannot be written, the method returns the error, the change stays in memory, and Flush tries again. If
// another program has changed the file, every write returns an error and the file is not changed.
//
// The file holds facts, preferences and episodes, with times in seconds. Unknown fields in the file are lost; missing
// fields get defaults. A File is safe for concurrent use.
type File struct {
	Map
	path string
}

// OpenFile opens a memory file. If the file does not exist or is empty, the store is empty, and the first write creates
// the file and its directory. If the file has other content, OpenFile returns an error and does not change the file.
func OpenFile(path string) (*File, error) {
	if path == "" {
		return nil, errors.New("the path of the memory file is empty; give one")
	}
	m := newFile(path)
	common, err := m.read(agent.Identity{})
	if err != nil {
		return nil, err
	}
	m.keep(agent.Identity{}, common)
	return m, nil
}

func newFile(path string) *File {
	m := &File{path: path}
	m.file = m
	return m
}

// pathOf returns the path of the file of an owner.
func (m *File) pathOf(owner agent.Identity) string {
	if owner == (agent.Identity{}) {
		return m.path
	}
	return filepath.Join(m.path+".d", ownerpath.Of(owner)+".json")
}

// read reads the file of an owner.
func (m *File) read(owner agent.Identity) (*knowledge, error) {
	path, k := m.pathOf(owner), new(knowledge)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return k, nil
	case err != nil:
		return nil, fmt.Errorf("the memory file cannot be read: %w", err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("the memory file %s is not a regular file; name another one", path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("the memory file cannot be read: %w", err)
	}
	if err := k.decode(data, m.now()); err != nil {
		return nil, fmt.Errorf("the memory file %s cannot be used: %w; repair it or move it away", path, err)
	}
	k.seen = info
	return k, nil
}

// Flush writes the pending changes of the owner for whom ctx acts, and those of the common memory. Outside a run it
// writes the changes of all owners. It does not stop when ctx is done, because the writes are short.
func (m *File) Flush(ctx context.Context) error {
	if owner := m.owner(ctx); owner != (agent.Identity{}) {
		return errors.Join(m.flush(owner), m.flush(agent.Identity{}))
	}
	m.mu.Lock()
	owners := slices.Collect(maps.Keys(m.known))
	m.mu.Unlock()
	var errs []error
	for _, owner := range owners {
		errs = append(errs, m.flush(owner))
	}
	return errors.Join(errs...)
}

// flush writes the pending changes of an owner and drops its knowledge from memory.
func (m *File) flush(owner agent.Identity) error {
	m.mu.Lock()
	k := m.known[owner]
	m.mu.Unlock()
	if k == nil || m.onlyHere(owner) {
		return nil
	}
	err := m.save(owner, k)
	m.mu.Lock()
	defer m.mu.Unlock()
	if owner != (agent.Identity{}) && !k.dirty && !k.writing && m.known[owner] == k {
		delete(m.known, owner)
		m.flushed++
	}
	return err
}

// changed writes the file of an owner if the last write was long enough ago.
func (m *File) changed(owner agent.Identity, k *knowledge) error {
	m.mu.Lock()
	now := m.now()
	soon := !k.written.IsZero() && now.Sub(k.written) < writeEvery && !now.Before(k.written)
	m.mu.Unlock()
	if soon {
		return nil
	}
	return m.save(owner, k)
}

// save writes the file of an owner if there are unwritten changes.
func (m *File) save(owner agent.Identity, k *knowledge) error {
	k.saving.Lock()
	defer k.saving.Unlock()
	m.mu.Lock()
	if !k.dirty {
		m.mu.Unlock()
		return nil
	}
	k.dirty, k.writing, k.written = false, true, m.now()
	snapshot := k.copied()
	m.mu.Unlock()

	path := m.pathOf(owner)
	data, err := snapshot.encode()
	if err == nil {
		err = unchanged(path, k.seen)
	}
	if err == nil {
		err = atomicfile.Write(path, data)
	}
	if err == nil {
		k.seen, _ = os.Stat(path)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	k.writing = false
	if err != nil {
		k.dirty = true
		return fmt.Errorf("the memory could not be written: %w", err)
	}
	return nil
}

// unchanged returns an error if another program has written the file since it was seen.
func unchanged(path string, seen os.FileInfo) error {
	info, err := os.Stat(path)
	if err != nil || seen == nil {
		if err == nil {
			return fmt.Errorf("another program has made %s; open it once, and only then", path)
		}
		return nil
	}
	if !os.SameFile(info, seen) || info.Size() != seen.Size() || !info.ModTime().Equal(seen.ModTime()) {
		return fmt.Errorf("another program has changed %s; open it in one program at a time", path)
	}
	return nil
}

// The structure of the file. Times are seconds since 1970.
type (
	memoryFile struct {
		Facts       []factEntry       `json:"facts"`
		Preferences []preferenceEntry `json:"preferences"`
		Episodes    []episodeEntry    `json:"episodes"`
	}
	factEntry struct {
		ID            anyText      `json:"id"`
		Key           string       `json:"key"`
		Value         anyText      `json:"value"`
		Scope         string       `json:"scope"`
		Source        anyText      `json:"source"`
		UpdatedAt     unixSeconds  `json:"updated_at"`
		ValidFrom     *unixSeconds `json:"valid_from"`
		ValidTo       *unixSeconds `json:"valid_to"`
		InvalidatedAt *unixSeconds `json:"invalidated_at"`
		Supersedes    *anyText     `json:"supersedes"`
	}
	preferenceEntry struct {
		Key       string      `json:"key"`
		Value     anyText     `json:"value"`
		UpdatedAt unixSeconds `json:"updated_at"`
	}
	episodeEntry struct {
		Kind      string          `json:"kind"`
		Payload   json.RawMessage `json:"payload"`
		Outcome   anyText         `json:"outcome"`
		Timestamp unixSeconds     `json:"timestamp"`
		Agent     anyText         `json:"agent"`

		Run          anyText `json:"run,omitempty"`
		Tenant       anyText `json:"tenant,omitempty"`
		User         anyText `json:"user,omitempty"`
		Conversation anyText `json:"conversation,omitempty"`
	}
)

func (k *knowledge) encode() ([]byte, error) {
	f := memoryFile{Facts: []factEntry{}, Preferences: []preferenceEntry{}, Episodes: []episodeEntry{}}
	for _, fact := range k.facts {
		f.Facts = append(f.Facts, factEntry{
			ID: anyText(fact.ID), Key: fact.Key, Value: anyText(fact.Value), Scope: fact.Scope, Source: anyText(fact.Source),
			UpdatedAt: unixSeconds(fact.UpdatedAt), ValidFrom: secondsOrNull(fact.ValidFrom),
			ValidTo:       secondsOrNull(fact.ValidTo),
			InvalidatedAt: secondsOrNull(fact.InvalidatedAt), Supersedes: anyTextOrNull(fact.Supersedes),
		})
	}
	for _, key := range sortedKeys(k.prefs) {
		p := k.prefs[key]
		f.Preferences = append(f.Preferences, preferenceEntry{p.Key, anyText(p.Value), unixSeconds(p.UpdatedAt)})
	}
	for _, e := range k.episodes {
		f.Episodes = append(f.Episodes, episodeEntry{
			Kind: e.Kind, Payload: e.Payload, Outcome: anyText(e.Outcome), Timestamp: unixSeconds(e.Time),
			Agent: anyText(e.Agent), Run: anyText(e.Run),
			Tenant: anyText(e.Tenant), User: anyText(e.User), Conversation: anyText(e.Conversation),
		})
	}
	return json.MarshalIndent(f, "", " ")
}

// decode adds the content of a file. A fact without a time that another one replaces is closed now.
func (k *knowledge) decode(data []byte, now time.Time) error {
	if len(data) == 0 {
		return nil
	}
	var f memoryFile
	if err := json.Unmarshal(data, &f); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			return fmt.Errorf("byte %d: %w", syntax.Offset, err)
		}
		return err
	}
	for i, e := range f.Facts {
		if e.Key == "" {
			return fmt.Errorf("facts[%d] has no key", i)
		}
		k.load(e, now)
	}
	for i, e := range f.Preferences {
		if e.Key == "" {
			return fmt.Errorf("preferences[%d] has no key", i)
		}
		if k.prefs == nil {
			k.prefs = make(map[string]Preference)
		}
		k.prefs[e.Key] = Preference{e.Key, string(e.Value), time.Time(e.UpdatedAt)}
	}
	for _, e := range f.Episodes[max(0, len(f.Episodes)-maxEpisodes):] {
		k.episodes = append(k.episodes, Episode{
			Kind: e.Kind, Payload: payloadOf(e.Payload), Outcome: string(e.Outcome), Time: time.Time(e.Timestamp),
			Agent: string(e.Agent), Run: string(e.Run),
			Identity: agent.Identity{Tenant: string(e.Tenant), User: string(e.User), Conversation: string(e.Conversation)},
		})
	}
	return nil
}

// load adds a fact from the file and fills in missing fields. If the file has two current facts for one key and scope,
// the later one closes the earlier.
func (k *knowledge) load(e factEntry, now time.Time) {
	at := keyOf(e.Key, e.Scope)
	f := Fact{
		ID: string(e.ID), Key: e.Key, Value: string(e.Value), Scope: at.scope, Source: string(e.Source),
		UpdatedAt: time.Time(e.UpdatedAt), ValidFrom: time.Time(e.UpdatedAt),
	}
	if f.ID == "" {
		f.ID = newFactID()
	}
	if e.ValidFrom != nil && !time.Time(*e.ValidFrom).IsZero() {
		f.ValidFrom = time.Time(*e.ValidFrom)
	}
	if e.ValidTo != nil {
		f.ValidTo = time.Time(*e.ValidTo)
	}
	if e.InvalidatedAt != nil {
		f.InvalidatedAt = time.Time(*e.InvalidatedAt)
		if f.ValidTo.IsZero() {
			f.ValidTo = f.InvalidatedAt
		}
	}
	if e.Supersedes != nil {
		f.Supersedes = string(*e.Supersedes)
	}
	if !f.Current() {
		k.facts = append(k.facts, f)
		return
	}
	if i, ok := k.current[at]; ok {
		end := f.ValidFrom
		if end.IsZero() {
			end = now // any time marks the fact as closed
		}
		k.facts[i].ValidTo, k.facts[i].InvalidatedAt = end, end
	}
	k.activate(f)
}

func payloadOf(raw json.RawMessage) json.RawMessage {
	if string(raw) == "null" {
		return nil
	}
	return raw
}

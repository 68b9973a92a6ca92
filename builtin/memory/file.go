package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/hookgen/hookgen/internal/atomicfile"
)

// writeEvery is the shortest time between two writes of a memory file, except by Flush.
const writeEvery = 2 * time.Second

// A File is a [Store] in a JSON file. Open it with [OpenFile]. Only one program at a time may open a file, and only
// once, because its content is kept in memory. Each write replaces the file atomically.
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

	saving  sync.Mutex  // held during a write; also guards the fields below
	dirty   bool        // there are unwritten changes
	written time.Time   // time of the last attempt to write
	seen    os.FileInfo // the file when it was last read or written; nil if it did not exist
}

// OpenFile opens a memory file. If the file does not exist or is empty, the store is empty, and the first write creates
// the file and its directory. If the file has other content, OpenFile returns an error and does not change the file.
func OpenFile(path string) (*File, error) {
	if path == "" {
		return nil, errors.New("the path of the memory file is empty; give one")
	}
	m := &File{path: path}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return m, nil
	case err != nil:
		return nil, fmt.Errorf("the memory file cannot be read: %w", err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("the memory file %s is not a regular file; name another one", path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("the memory file cannot be read: %w", err)
	}
	if err := m.decode(data); err != nil {
		return nil, fmt.Errorf("the memory file %s cannot be used: %w; repair it or move it away", path, err)
	}
	m.seen = info
	return m, nil
}

// AddFact implements [Store].
func (m *File) AddFact(ctx context.Context, f Fact) (Fact, error) {
	f, err := m.Map.AddFact(ctx, f)
	if err != nil {
		return f, err
	}
	return f, m.changed()
}

// Forget implements [Store].
func (m *File) Forget(ctx context.Context, key, scope string) (bool, error) {
	had, err := m.Map.Forget(ctx, key, scope)
	if err != nil || !had {
		return had, err
	}
	return had, m.changed()
}

// SetPreference implements [Store].
func (m *File) SetPreference(ctx context.Context, key, value string) error {
	if err := m.Map.SetPreference(ctx, key, value); err != nil {
		return err
	}
	return m.changed()
}

// AddEpisode implements [Store].
func (m *File) AddEpisode(ctx context.Context, e Episode) error {
	if err := m.Map.AddEpisode(ctx, e); err != nil {
		return err
	}
	return m.changed()
}

// Flush writes pending changes. It ignores the context because the write is short.
func (m *File) Flush(context.Context) error {
	m.saving.Lock()
	defer m.saving.Unlock()
	return m.save()
}

// changed records a change and writes the file if the last write was long enough ago.
func (m *File) changed() error {
	m.saving.Lock()
	defer m.saving.Unlock()
	m.dirty = true
	if now := m.now(); !m.written.IsZero() && now.Sub(m.written) < writeEvery && !now.Before(m.written) {
		return nil
	}
	return m.save()
}

// save writes the file if there are unwritten changes. The caller holds saving.
func (m *File) save() error {
	if !m.dirty {
		return nil
	}
	m.written = m.now()
	data, err := m.encode()
	if err == nil {
		err = m.unchanged()
	}
	if err == nil {
		err = atomicfile.Write(m.path, data)
	}
	if err != nil {
		return fmt.Errorf("the memory could not be written: %w", err)
	}
	m.dirty = false
	m.seen, _ = os.Stat(m.path)
	return nil
}

// unchanged returns an error if another program has written the file.
func (m *File) unchanged() error {
	info, err := os.Stat(m.path)
	if err != nil || m.seen == nil {
		if err == nil {
			return fmt.Errorf("another program has made %s; open it once, and only then", m.path)
		}
		return nil
	}
	if !os.SameFile(info, m.seen) || info.Size() != m.seen.Size() || !info.ModTime().Equal(m.seen.ModTime()) {
		return fmt.Errorf("another program has changed %s; open it in one program at a time", m.path)
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
	}
)

func (m *File) encode() ([]byte, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	f := memoryFile{Facts: []factEntry{}, Preferences: []preferenceEntry{}, Episodes: []episodeEntry{}}
	for _, fact := range m.facts {
		f.Facts = append(f.Facts, factEntry{
			ID: anyText(fact.ID), Key: fact.Key, Value: anyText(fact.Value), Scope: fact.Scope, Source: anyText(fact.Source),
			UpdatedAt: unixSeconds(fact.UpdatedAt), ValidFrom: secondsOrNull(fact.ValidFrom),
			ValidTo:       secondsOrNull(fact.ValidTo),
			InvalidatedAt: secondsOrNull(fact.InvalidatedAt), Supersedes: anyTextOrNull(fact.Supersedes),
		})
	}
	for _, key := range sortedKeys(m.prefs) {
		p := m.prefs[key]
		f.Preferences = append(f.Preferences, preferenceEntry{p.Key, anyText(p.Value), unixSeconds(p.UpdatedAt)})
	}
	for _, e := range m.episodes {
		f.Episodes = append(f.Episodes,
			episodeEntry{e.Kind, e.Payload, anyText(e.Outcome), unixSeconds(e.Time), anyText(e.Agent)})
	}
	return json.MarshalIndent(f, "", " ")
}

func (m *File) decode(data []byte) error {
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
		m.load(e)
	}
	for i, e := range f.Preferences {
		if e.Key == "" {
			return fmt.Errorf("preferences[%d] has no key", i)
		}
		if m.prefs == nil {
			m.prefs = make(map[string]Preference)
		}
		m.prefs[e.Key] = Preference{e.Key, string(e.Value), time.Time(e.UpdatedAt)}
	}
	for _, e := range f.Episodes[max(0, len(f.Episodes)-maxEpisodes):] {
		m.episodes = append(m.episodes,
			Episode{e.Kind, payloadOf(e.Payload), string(e.Outcome), time.Time(e.Timestamp), string(e.Agent)})
	}
	return nil
}

// load adds a fact from the file and fills in missing fields. If the file has two current facts for one key and scope,
// the later one closes the earlier.
func (m *File) load(e factEntry) {
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
		m.facts = append(m.facts, f)
		return
	}
	if i, ok := m.current[at]; ok {
		end := f.ValidFrom
		if end.IsZero() {
			end = m.now() // any time marks the fact as closed
		}
		m.facts[i].ValidTo, m.facts[i].InvalidatedAt = end, end
	}
	m.activate(f)
}

func payloadOf(raw json.RawMessage) json.RawMessage {
	if string(raw) == "null" {
		return nil
	}
	return raw
}

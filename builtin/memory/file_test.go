package memory

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop/looptest"
)

func openMemory(t *testing.T, path string, c *looptest.Clock) *File {
	t.Helper()
	m, err := OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m.Clock = c
	return m
}

func TestFileIsUnchangedAfterReload(t *testing.T) {
	path, c, ctx := filepath.Join(t.TempDir(), "deep", "memory.json"), looptest.NewClock(memoryBegin), t.Context()
	m := openMemory(t, path, c)
	_, _ = m.AddFact(ctx, Fact{Key: "city", Value: "Oslo", Source: "user"})
	c.Advance(1500 * time.Microsecond)
	_, _ = m.AddFact(ctx, Fact{Key: "city", Value: "Rome"})
	_, _ = m.AddFact(ctx, Fact{Key: "lamp", Value: "on", Scope: "kitchen"})
	_, _ = m.Forget(ctx, "lamp", "kitchen")
	_ = m.SetPreference(ctx, "language", "German")
	_ = m.AddEpisode(ctx, Episode{Kind: "k", Payload: json.RawMessage(`{"z": 1, "a": 2}`), Outcome: "ok", Agent: "a"})
	_ = m.AddEpisode(ctx, Episode{Kind: "k", Payload: json.RawMessage(`{"in": {"a":["<b>", 1]}}`)})
	_ = m.AddEpisode(ctx, Episode{Kind: "k"})
	if err := m.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	again := openMemory(t, path, c)
	for name, get := range map[string]func(Store) any{
		"history":     func(m Store) any { f, _ := m.History(ctx, "city", ""); return utc(f) },
		"forgotten":   func(m Store) any { f, _ := m.History(ctx, "lamp", "kitchen"); return utc(f) },
		"facts":       func(m Store) any { f, _ := m.Facts(ctx, ""); return utc(f) },
		"rendered":    func(m Store) any { s, _ := Render(ctx, m, 20, 5); return s },
		"preferences": func(m Store) any { p, _ := m.Preferences(ctx); return p[0].Value },
		"episode":     func(m Store) any { e, _ := m.Recent(ctx, 1, ""); return e[0].Payload == nil },
	} {
		t.Run(name, func(t *testing.T) {
			if was, is := get(m), get(again); !reflect.DeepEqual(was, is) {
				t.Errorf("%s was\n%+v, is\n%+v", name, was, is)
			}
		})
	}
}

func utc(facts []Fact) []Fact {
	for i := range facts {
		f := &facts[i]
		for _, at := range []*time.Time{&f.UpdatedAt, &f.ValidFrom, &f.ValidTo, &f.InvalidatedAt} {
			*at = at.UTC()
		}
	}
	return facts
}

func TestFileHasDocumentedFormat(t *testing.T) {
	path, c, ctx := filepath.Join(t.TempDir(), "memory.json"), looptest.NewClock(time.Unix(1700000000, 250_000_000)),
		t.Context()
	m := openMemory(t, path, c)
	f, _ := m.AddFact(ctx, Fact{Key: "k", Value: "v", Source: "s"})
	_ = m.SetPreference(ctx, "p", "q")
	_ = m.AddEpisode(ctx, Episode{Kind: "k", Payload: json.RawMessage(`{"a":1}`), Outcome: "o", Agent: "a"})
	if err := m.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got, want any
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	_ = json.Unmarshal([]byte(`{
		"facts": [{"id": "`+f.ID+`", "key": "k", "value": "v", "scope": "global", "source": "s", "updated_at": 1700000000.25,
			"valid_from": 1700000000.25, "valid_to": null, "invalidated_at": null, "supersedes": null}],
		"preferences": [{"key": "p", "value": "q", "updated_at": 1700000000.25}],
		"episodes": [{"kind": "k", "payload": {"a": 1}, "outcome": "o", "timestamp": 1700000000.25, "agent": "a"}]
	}`), &want)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %s", data)
	}
}

func TestFileToleratesUnknownAndMissingFields(t *testing.T) {
	path := filepath.Join(t.TempDir(), "memory.json")
	content := `{"version": 7,
		"facts": [
			{"key": "old", "value": "1", "updated_at": 10, "mood": "good"},
			{"id": 12, "key": "twice", "value": "a", "updated_at": 20, "valid_from": null},
			{"id": "x", "key": "twice", "value": {"b": [1]}, "updated_at": 30},
			{"key": "gone", "value": null, "scope": "s", "updated_at": 30, "invalidated_at": 40},
			{"key": "past", "updated_at": 30, "valid_from": 15, "valid_to": 25, "invalidated_at": 28},
			{"key": "zero", "updated_at": 30, "valid_from": 0}, {"key": "null", "updated_at": null}],
		"episodes": [{"kind": "k", "extra": 1}, {"kind": "k", "payload": null, "outcome": 3}]}`
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	m, ctx := openMemory(t, path, looptest.NewClock(memoryBegin)), t.Context()
	if f, ok, _ := m.Fact(ctx, "old", ""); !ok || f.ID == "" || f.Scope != GlobalScope ||
		!f.ValidFrom.Equal(time.Unix(10, 0)) {
		t.Errorf("old: %+v", f)
	}
	twice, _ := m.History(ctx, "twice", "")
	if len(twice) != 2 || twice[0].ID != "12" || twice[0].Current() || !twice[0].ValidTo.Equal(time.Unix(30, 0)) ||
		twice[1].Value != `{"b":[1]}` || !twice[1].Current() {
		t.Errorf("twice: %+v", twice)
	}
	if gone, _ := m.History(ctx, "gone", "s"); len(gone) != 1 || gone[0].Current() ||
		!gone[0].ValidTo.Equal(time.Unix(40, 0)) {
		t.Errorf("gone: %+v", gone)
	}
	if f, ok, _ := m.Fact(ctx, "gone", "s"); ok {
		t.Errorf("a closed fact is current: %+v", f)
	}
	if past, _ := m.History(ctx, "past", ""); len(past) != 1 || !past[0].ValidFrom.Equal(time.Unix(15, 0)) ||
		!past[0].ValidTo.Equal(time.Unix(25, 0)) || !past[0].InvalidatedAt.Equal(time.Unix(28, 0)) {
		t.Errorf("past: %+v", past)
	}
	if zero, _, _ := m.Fact(ctx, "zero", ""); !zero.ValidFrom.Equal(time.Unix(30, 0)) {
		t.Errorf("zero: %+v", zero)
	}
	if e, _ := m.Recent(ctx, 9, ""); len(e) != 2 || e[0].Outcome != "3" || e[0].Payload != nil {
		t.Errorf("episodes: %+v", e)
	}
}

func TestEmptyFileIsAnEmptyStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "memory.json")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	m := openMemory(t, path, looptest.NewClock(memoryBegin))
	if err := m.SetPreference(t.Context(), "p", "v"); err != nil {
		t.Error(err)
	}
}

func TestDeletedFileIsWrittenAgain(t *testing.T) {
	path, ctx := filepath.Join(t.TempDir(), "memory.json"), t.Context()
	m := openMemory(t, path, looptest.NewClock(memoryBegin))
	for _, value := range []string{"first", "second"} {
		if err := errors.Join(m.SetPreference(ctx, "p", value), m.Flush(ctx)); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(data), value) {
			t.Errorf("the file has %s, %v", data, err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

// Both owners have a change that waits for the end of two seconds.
func TestFlushWritesTheMemoryOfItsOwner(t *testing.T) {
	for _, c := range []struct {
		name     string
		by       agent.Identity
		ann, bob bool // is written
	}{
		{"by ann", annOne, true, false}, {"by bob", bobOne, false, true}, {"outside a run", agent.Identity{}, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := openMemory(t, filepath.Join(t.TempDir(), "memory.json"), looptest.NewClock(memoryBegin))
			for _, owner := range []agent.Identity{annOne, bobOne} {
				for _, value := range []string{"first", "second"} {
					if err := m.SetPreference(as(t, owner), "p", value); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := m.Flush(as(t, c.by)); err != nil {
				t.Fatal(err)
			}
			for owner, want := range map[agent.Identity]bool{annOne: c.ann, bobOne: c.bob} {
				data, err := os.ReadFile(m.pathOf(owner))
				if written := strings.Contains(string(data), "second"); err != nil || written != want {
					t.Errorf("%s has %s, %v", owner.User, data, err)
				}
			}
		})
	}
}

func TestAnUnreadableMemoryIsAnError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "memory.json")
	if err := os.WriteFile(path+".d", nil, 0o600); err != nil { // a file with the name of the directory
		t.Fatal(err)
	}
	m, ctx := openMemory(t, path, looptest.NewClock(memoryBegin)), as(t, annOne)
	_, added := m.AddFact(ctx, Fact{Key: "k", Value: "v"})
	_, _, fact := m.Fact(ctx, "k", "")
	_, facts := m.Facts(ctx, "")
	_, rendered := Render(ctx, m, 9, 9)
	for i, err := range []error{added, fact, facts, rendered, m.SetPreference(ctx, "k", "v")} {
		if err == nil || !strings.Contains(err.Error(), "the memory file cannot be read") {
			t.Errorf("error %d is %v", i, err)
		}
	}
	if err := m.SetPreference(t.Context(), "k", "v"); err != nil {
		t.Errorf("the common memory: %v", err)
	}
}

func TestFileIsWrittenEveryTwoSeconds(t *testing.T) {
	path, c, ctx := filepath.Join(t.TempDir(), "memory.json"), looptest.NewClock(memoryBegin), t.Context()
	m := openMemory(t, path, c)
	has := func(value string) bool {
		data, _ := os.ReadFile(path)
		return strings.Contains(string(data), value)
	}
	add := func(value string) {
		t.Helper()
		if err := m.SetPreference(ctx, "p", value); err != nil {
			t.Fatal(err)
		}
	}
	if add("first"); !has("first") {
		t.Error("the first change was not written at once")
	}
	c.Advance(1999 * time.Millisecond)
	if add("second"); has("second") {
		t.Error("the second change was written too early")
	}
	c.Advance(time.Millisecond)
	if add("third"); !has("third") {
		t.Error("two seconds later nothing was written")
	}
	add("fourth")
	if err := m.Flush(ctx); err != nil || !has("fourth") {
		t.Errorf("Flush did not write: %v", err)
	}
	before, _ := os.Stat(path)
	if err := m.Flush(ctx); err != nil {
		t.Error(err)
	}
	if after, _ := os.Stat(path); !os.SameFile(before, after) {
		t.Error("Flush wrote without a change")
	}
}

func TestCorruptFileIsNotOverwritten(t *testing.T) {
	for name, content := range map[string]string{
		"cut off":          `{"facts": [{"key": "a", "val`,
		"not JSON":         "facts: none",
		"another shape":    `{"facts": {"a": 1}}`,
		"a fact lacks key": `{"facts": [{"value": "v"}]}`,
		"a wild time":      `{"facts": [{"key": "k", "updated_at": 1e300}]}`,
		"a time is text":   `{"preferences": [{"key": "k", "updated_at": "today"}]}`,
		"two values":       `{} {}`,
		"one byte":         "x",
		"a nameless wish":  `{"preferences": [{"value": "v"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "memory.json")
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			m, err := OpenFile(path)
			if name == "cut off" && (err == nil || !strings.Contains(err.Error(), "byte 28: ")) {
				t.Errorf("the error has no position: %v", err)
			}
			if m != nil || err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "repair it") {
				t.Errorf("got %v, %v", m, err)
			}
			if data, _ := os.ReadFile(path); string(data) != content {
				t.Errorf("the file is now %q", data)
			}
		})
	}
	for name, path := range map[string]string{"no path": "", "a directory": t.TempDir(), "a device": os.DevNull} {
		t.Run(name, func(t *testing.T) {
			if _, err := OpenFile(path); err == nil {
				t.Error("no error")
			}
		})
	}
}

func TestFileRetriesFailedWrites(t *testing.T) {
	dir, c, ctx := t.TempDir(), looptest.NewClock(memoryBegin), t.Context()
	path := filepath.Join(dir, "sub", "memory.json")
	if err := os.WriteFile(filepath.Join(dir, "sub"), nil, 0o600); err != nil { // a file with the name of the directory
		t.Fatal(err)
	}
	m := newFile(path)
	m.keep(agent.Identity{}, new(knowledge))
	m.Clock = c
	if _, err := m.AddFact(ctx, Fact{Key: "k", Value: "v"}); err == nil {
		t.Error("no error about a write that failed")
	}
	if _, ok, _ := m.Fact(ctx, "k", ""); !ok {
		t.Error("the fact is lost")
	}
	if err := os.Remove(filepath.Join(dir, "sub")); err != nil {
		t.Fatal(err)
	}
	if err := m.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	if _, ok, _ := openMemory(t, path, c).Fact(ctx, "k", ""); !ok {
		t.Error("the fact was not written")
	}
}

func TestFileChangedElsewhereIsNotOverwritten(t *testing.T) {
	path, c, ctx := filepath.Join(t.TempDir(), "memory.json"), looptest.NewClock(memoryBegin), t.Context()
	one, two := openMemory(t, path, c), openMemory(t, path, c)
	if _, err := one.AddFact(ctx, Fact{Key: "one", Value: "1"}); err != nil {
		t.Fatal(err)
	}
	if _, err := two.AddFact(ctx, Fact{Key: "two", Value: "2"}); err == nil ||
		!strings.Contains(err.Error(), "another program") {
		t.Errorf("got %v", err)
	}
	if _, ok, _ := openMemory(t, path, c).Fact(ctx, "one", ""); !ok {
		t.Error("the first program's fact is lost")
	}
	if _, err := openMemory(t, path, c).AddFact(ctx, Fact{Key: "three", Value: "3"}); err != nil {
		t.Fatal(err)
	}
	if err := one.SetPreference(ctx, "p", "q"); err != nil {
		t.Errorf("within two seconds nothing is written, but got %v", err)
	}
	if err := one.Flush(ctx); err == nil || !strings.Contains(err.Error(), "changed") {
		t.Errorf("got %v", err)
	}
}

// Another program may write the file without changing its size or its time, in place or by replacing it.
func TestEveryChangeOfAFileIsNoticed(t *testing.T) {
	for name, change := range map[string]func(path string, seen os.FileInfo, data []byte) error{
		"in place": func(path string, seen os.FileInfo, data []byte) error {
			later := seen.ModTime().Add(time.Hour)
			return errors.Join(os.WriteFile(path, data, 0o600), os.Chtimes(path, later, later))
		},
		"longer, in the same moment": func(path string, seen os.FileInfo, data []byte) error {
			return errors.Join(os.WriteFile(path, append(data, '\n'), 0o600), os.Chtimes(path, seen.ModTime(), seen.ModTime()))
		},
		"replaced": func(path string, seen os.FileInfo, data []byte) error {
			other := path + ".other"
			return errors.Join(os.WriteFile(other, data, 0o600), os.Chtimes(other, seen.ModTime(), seen.ModTime()),
				os.Rename(other, path))
		},
	} {
		t.Run(name, func(t *testing.T) {
			path, ctx := filepath.Join(t.TempDir(), "memory.json"), t.Context()
			m := openMemory(t, path, looptest.NewClock(memoryBegin))
			_, err := m.AddFact(ctx, Fact{Key: "k", Value: "mine"})
			if err = errors.Join(err, m.Flush(ctx)); err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			seen, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			theirs := bytes.Replace(data, []byte("mine"), []byte("hers"), 1)
			if err := change(path, seen, theirs); err != nil {
				t.Fatal(err)
			}
			_, err = m.AddFact(ctx, Fact{Key: "k", Value: "newer"})
			if err = errors.Join(err, m.Flush(ctx)); err == nil || !strings.Contains(err.Error(), "another program") {
				t.Errorf("got %v", err)
			}
			if left, _ := os.ReadFile(path); !bytes.HasPrefix(left, theirs) {
				t.Errorf("the file has %s", left)
			}
		})
	}
}

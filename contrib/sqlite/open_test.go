package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit/hooklog"
	"github.com/hookgen/hookgen/spec/agentspec"
)

func TestAMissingDatabaseIsAnError(t *testing.T) {
	for _, db := range []*DB{nil, {}} {
		for name, call := range map[string]func(context.Context) error{
			"Store.Get":    func(ctx context.Context) error { _, err := Store{db}.Get(ctx, "key"); return err },
			"Store.Put":    func(ctx context.Context) error { return Store{db}.Put(ctx, "key", nil) },
			"Store.Delete": func(ctx context.Context) error { return Store{db}.Delete(ctx, "key") },
			"Store.Swap": func(ctx context.Context) error {
				_, err := Store{db}.Swap(ctx, "key", []byte("x"), nil)
				return err
			},
			"Store.Keys": func(ctx context.Context) error { _, err := Store{db}.Keys(ctx, ""); return err },
			"Sessions.Load": func(ctx context.Context) error {
				_, err := Sessions{db}.Load(ctx, agent.Identity{Conversation: "c"})
				return err
			},
			"Sessions.Save": func(ctx context.Context) error {
				return Sessions{db}.Save(ctx, agent.Session{Identity: agent.Identity{Conversation: "c"}})
			},
			"Sessions.List": func(ctx context.Context) error { _, err := Sessions{db}.List(ctx); return err },
			"AuditLog.Append": func(ctx context.Context) error {
				return AuditLog{DB: db}.Append(ctx, func(iter.Seq2[[]byte, error]) ([]byte, error) { return nil, nil })
			},
			"EventLog.WriteEvent": func(ctx context.Context) error { return EventLog{DB: db}.WriteEvent(ctx, hooklog.Event{}) },
			"EventLog.Reader": func(ctx context.Context) error {
				_, err := io.ReadAll(EventLog{DB: db}.Reader(ctx))
				return err
			},
			"DB.Close": func(context.Context) error { return db.Close() },
		} {
			t.Run(name, func(t *testing.T) {
				ctx := agentspec.WithIdentity(t.Context(), agent.Identity{Conversation: "c"})
				if err := call(ctx); err == nil || !strings.Contains(err.Error(), "set the field DB") {
					t.Error(err)
				}
			})
		}
	}
}

func TestOnlyTheOwnerCanReadTheFile(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such permissions")
	}
	path := filepath.Join(t.TempDir(), "new", "agent.db")
	db := reopen(t, path)
	if err := (Store{db}).Put(t.Context(), "key", []byte("value")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]os.FileMode{path: 0o600, path + "-wal": 0o600, filepath.Dir(path): 0o700} {
		info, err := os.Stat(name)
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v; want %v", name, info.Mode(), err, want)
		}
	}
}

func TestAnyPathIsOpened(t *testing.T) {
	for _, name := range []string{
		"a b.db", "a?mode=ro.db", "a#b", "100%.db", "ä.db", ":memory:", "file:x", "a&_txlock=x",
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), name)
			if err := (Store{reopen(t, path)}).Put(t.Context(), "key", []byte("value")); err != nil {
				t.Fatal(err)
			}
			if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || entries[0].Name() != name {
				t.Errorf("the directory has %v, %v", entries, err)
			}
		})
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	exec := func(name, query string) string {
		path := filepath.Join(dir, name)
		raw, err := sql.Open("sqlite", path)
		if err == nil {
			_, err = raw.Exec(query)
		}
		if err = errors.Join(err, raw.Close()); err != nil {
			t.Fatal(err)
		}
		return path
	}
	newer := filepath.Join(dir, "newer")
	db, err := Open(newer, Options{})
	if err != nil || db.Close() != nil {
		t.Fatal(err)
	}
	exec("newer", "PRAGMA user_version = 99")
	for _, c := range []struct {
		name, path string
		opts       Options
		want       string
	}{
		{"no path", "", Options{}, "the path is empty"},
		{"directory", dir, Options{}, "it is not a regular file"},
		{"text", write("text", strings.Repeat("hello ", 1000)), Options{}, "it is not a SQLite database"},
		{"newer", newer, Options{}, fmt.Sprintf("it has the version 99, and this program knows versions up to %d",
			len(migrations))},
		{"other tables", exec("other", "CREATE TABLE t (x)"), Options{}, "it is the database of another program"},
		{"other application", exec("app", "PRAGMA application_id = 7"), Options{}, "the database of another program"},
		{"other version", exec("version", "PRAGMA user_version = 1"), Options{}, "the database of another program"},
		{"negative timeout", filepath.Join(dir, "x"), Options{BusyTimeout: -1}, "BusyTimeout is -1ns; give 0 for 10s"},
		{"negative size", filepath.Join(dir, "x"), Options{MaxBytes: -1}, "MaxBytes is -1; give 0 for"},
		{"huge size", filepath.Join(dir, "x"), Options{MaxBytes: 1 << 30}, "or up to"},
	} {
		t.Run(c.name, func(t *testing.T) {
			before, _ := os.ReadFile(c.path)
			db, err := Open(c.path, c.opts)
			if err == nil {
				t.Fatal(errors.Join(errors.New("it was opened"), db.Close()))
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
			if after, _ := os.ReadFile(c.path); !slices.Equal(before, after) {
				t.Error("the file was changed")
			}
		})
	}
}

func TestFailedMigrationChangesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.db")
	if err := (Store{reopen(t, path)}).Put(t.Context(), "key", []byte("value")); err != nil {
		t.Fatal(err)
	}
	steps := append(slices.Clone(migrations), statements("CREATE TABLE later (x)"),
		statements("CREATE TABLE latest (x); DELETE FROM entries; SELECT * FROM nothing"))
	_, err := open(path, Options{}, steps)
	last := len(steps) - 1
	want := fmt.Sprintf("the migration from version %d failed, and the file still has that", last)
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v", err)
	}
	db, err := open(path, Options{}, steps[:last])
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if got, err := (Store{db}).Get(t.Context(), "key"); string(got) != "value" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := db.read.Exec("SELECT * FROM latest"); err == nil {
		t.Error("a part of the migration stayed")
	}
	if _, err := open(path, Options{}, migrations); err == nil || !strings.Contains(err.Error(), "use a newer program") {
		t.Errorf("the older program got %v", err)
	}
}

// Files of earlier versions have no order of the last saves. The order in which the sessions were created counts.
func TestEarlierSessionsKeepTheirOrder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.db")
	old, err := open(path, Options{}, migrations[:2])
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"b", "c", "a"} {
		if _, err := old.write.Exec(`INSERT INTO sessions (tenant, user, conversation, messages)
			VALUES ('', '', ?, CAST('[]' AS BLOB))`, name); err != nil {
			t.Fatal(err)
		}
	}
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	s := Sessions{reopen(t, path)}
	if err := s.Save(t.Context(), agent.Session{Identity: agent.Identity{Conversation: "c"}}); err != nil {
		t.Fatal(err)
	}
	var names []string
	ids, err := s.List(t.Context())
	for _, id := range ids {
		names = append(names, id.Conversation)
	}
	if err != nil || !slices.Equal(names, []string{"c", "a", "b"}) {
		t.Errorf("the sessions are %q, %v", names, err)
	}
}

func TestConcurrentOpensMigrateOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.db")
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			db, err := Open(path, Options{})
			if err != nil {
				t.Error(err)
				return
			}
			if err := (Store{db}).Put(t.Context(), fmt.Sprint(i), nil); err != nil {
				t.Error(err)
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if keys, err := (Store{reopen(t, path)}).Keys(t.Context(), ""); len(keys) != 8 || err != nil {
		t.Errorf("%d keys, %v", len(keys), err)
	}
}

// lock takes the write lock of a file with another connection, until unlock is called.
func lock(t *testing.T, path string) (unlock func()) {
	t.Helper()
	raw, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := raw.Conn(t.Context())
	if err == nil {
		_, err = conn.ExecContext(t.Context(), "BEGIN IMMEDIATE")
	}
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		_, err := conn.ExecContext(context.Background(), "ROLLBACK")
		if err = errors.Join(err, conn.Close(), raw.Close()); err != nil {
			t.Error(err)
		}
	}
}

func TestBusyFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.db")
	put := func(ctx context.Context, db *DB) error { return Store{db}.Put(ctx, "key", []byte("value")) }
	if err := put(t.Context(), reopen(t, path)); err != nil {
		t.Fatal(err)
	}
	t.Run("a reader does not wait", func(t *testing.T) {
		defer lock(t, path)()
		if got, err := (Store{reopen(t, path)}).Get(t.Context(), "key"); string(got) != "value" || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
	})
	t.Run("a writer gives up", func(t *testing.T) {
		db, err := Open(path, Options{BusyTimeout: time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		defer lock(t, path)()
		if err := put(t.Context(), db); err == nil || !strings.Contains(err.Error(), "another process has been writing") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a cancelled writer stops waiting", func(t *testing.T) {
		db, err := Open(path, Options{BusyTimeout: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		defer lock(t, path)()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 2)
		go func() { done <- put(ctx, db) }()
		go func() { done <- put(ctx, db) }() // waits for the first one
		cancel()
		for range 2 {
			if err := <-done; !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
		}
	})
	t.Run("a writer waits", func(t *testing.T) {
		db := reopen(t, path)
		unlock := lock(t, path)
		done := make(chan error)
		go func() { done <- put(t.Context(), db) }()
		unlock()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestCancelledTransactionChangesNothing(t *testing.T) {
	db := newDB(t)
	ctx, cancel := context.WithCancel(t.Context())
	err := db.change(ctx, func(tx *sql.Tx) error {
		if _, err := tx.Exec("INSERT INTO entries (key, value) VALUES ('a', x'00')"); err != nil {
			return err
		}
		cancel()
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if keys, err := (Store{db}).Keys(t.Context(), ""); len(keys) != 0 || err != nil {
		t.Errorf("keys %q, %v", keys, err)
	}
	if err := (Store{db}).Put(t.Context(), "a", nil); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

func TestLongQueryIsCancelled(t *testing.T) {
	db := newDB(t)
	ctx, cancel := context.WithCancel(t.Context())
	endless := "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n"
	rows := 0
	err := db.rows(ctx, func() { rows = 0 }, func(func(...any) error) error {
		if rows++; rows == 10 {
			cancel()
		}
		return nil
	}, endless)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v after %d rows", err, rows)
	}
}

func TestSizesAreBounded(t *testing.T) {
	db, err := Open(filepath.Join(t.TempDir(), "agent.db"), Options{MaxBytes: 100})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	ctx, long := t.Context(), strings.Repeat("x", 101)
	for name, err := range map[string]error{
		"value": Store{db}.Put(ctx, "k", []byte(long)),
		"key":   Store{db}.Put(ctx, long, nil),
		"session": Sessions{db}.Save(ctx, agent.Session{Identity: agent.Identity{Conversation: "c"},
			Messages: []agent.Message{{Content: long}}}),
	} {
		if err == nil || !strings.Contains(err.Error(), "more than 100; set Options.MaxBytes") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDeletedContentLeavesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.db")
	db, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := Store{db}
	if err := errors.Join(s.Put(t.Context(), "k", []byte("a very secret text")), s.Delete(t.Context(), "k"),
		db.Close()); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(path); err != nil || strings.Contains(string(data), "very secret") {
		t.Errorf("the file still has the deleted text (%v)", err)
	}
}

// TestDamagedFileIsAnError overwrites parts of a file. Whatever is then read is an error or a value, and no panic.
// A disk without room is simulated with a bound of the file.
func TestFullDiskLosesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.db")
	db := reopen(t, path)
	id := agent.Identity{Conversation: "c"}
	session := agent.Session{Identity: id, Messages: []agent.Message{{Role: agent.RoleUser, Content: "short"}}}
	if err := (Sessions{db}).Save(t.Context(), session); err != nil {
		t.Fatal(err)
	}
	if err := (Store{db}).Put(t.Context(), "key", []byte("value")); err != nil {
		t.Fatal(err)
	}
	var pages int
	if err := db.write.QueryRow("PRAGMA page_count").Scan(&pages); err != nil {
		t.Fatal(err)
	}
	bound := func(pages int) {
		t.Helper()
		if _, err := db.write.Exec(fmt.Sprintf("PRAGMA max_page_count = %d", pages)); err != nil {
			t.Fatal(err)
		}
	}
	bound(pages + 2)
	long := strings.Repeat("long", 10_000)
	session.Messages = append(session.Messages, agent.Message{Role: agent.RoleAssistant, Content: long})
	changes := map[string]func() error{
		"Store.Put":     func() error { return Store{db}.Put(t.Context(), "key", []byte(long)) },
		"Sessions.Save": func() error { return Sessions{db}.Save(t.Context(), session) },
		"AuditLog.Append": func() error {
			return AuditLog{DB: db}.Append(t.Context(), func(iter.Seq2[[]byte, error]) ([]byte, error) {
				return []byte(long), nil
			})
		},
	}
	for name, change := range changes {
		if err := change(); err == nil || !strings.Contains(err.Error(), "the change is not stored; make room on the disk") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	other := reopen(t, path) // as another process has it
	if got, err := (Store{other}).Get(t.Context(), "key"); string(got) != "value" {
		t.Errorf("the value is %q, %v", got, err)
	}
	if got, err := (Sessions{other}).Load(t.Context(), id); err != nil || len(got.Messages) != 1 {
		t.Errorf("the session is %.100v, %v", got, err)
	}
	bound(1 << 20)
	for name, change := range changes {
		if err := change(); err != nil {
			t.Errorf("with room, %s: %v", name, err)
		}
	}
}

func TestDamagedFileIsAnError(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "agent.db")
	db, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 50 {
		if err := (Store{db}).Put(t.Context(), fmt.Sprint(i), []byte(strings.Repeat("value", 300))); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	refused, failed, advised := 0, 0, 0
	for at := 0; at < len(whole); at += len(whole) / 60 {
		damaged := slices.Clone(whole)
		for i := at; i < min(at+200, len(damaged)); i++ {
			damaged[i] ^= 0xa5
		}
		name := filepath.Join(dir, fmt.Sprint(at))
		if err := os.WriteFile(name, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		db, err := Open(name, Options{})
		if err != nil {
			refused++
			continue
		}
		_, err = Store{db}.Keys(t.Context(), "")
		for i := range 50 {
			_, got := Store{db}.Get(t.Context(), fmt.Sprint(i))
			err = errors.Join(err, got)
		}
		if err = errors.Join(err, Store{db}.Put(t.Context(), "new", nil)); err != nil {
			failed++
			if strings.Contains(err.Error(), "the file is damaged; restore a copy") {
				advised++
			}
		}
		_ = db.Close() // may fail too
	}
	if refused == 0 || failed == 0 || advised == 0 {
		t.Errorf("%d damaged files were refused, %d failed, and %d said so", refused, failed, advised)
	}
}

// FuzzSession checks that any text in the file is a session or an error.
func FuzzSession(f *testing.F) {
	for _, seed := range []string{
		`[]`, `[{"role":"user","content":"hi"}]`, `null`, `{}`, `[{"tool_calls":[{"args":1e400}]}]`, `[`,
	} {
		f.Add([]byte(seed), []byte(`{"n":1}`))
	}
	f.Add([]byte(`[]`), []byte(`[1]`))
	f.Fuzz(func(t *testing.T, messages, state []byte) {
		id := agent.Identity{Conversation: "c"}
		s, err := decodeSession(id, messages, state)
		if err == nil && s.Identity != id {
			t.Errorf("the session has the identity %+v", s.Identity)
		}
	})
}

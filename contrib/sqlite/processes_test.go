package sqlite

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/hookgen/hookgen/builtin/memory"
	"github.com/hookgen/hookgen/builtin/record"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit/hooklog"
	"github.com/hookgen/hookgen/hookkit/wire"
)

// Environment variables of a copy of the test program that writes to a file.
const (
	writerFile  = "HOOKGEN_SQLITE_FILE"
	writerName  = "HOOKGEN_SQLITE_WRITER" // prefix of its keys
	writerTimes = "HOOKGEN_SQLITE_TIMES"  // how often it writes; "": until it is killed
)

func TestMain(m *testing.M) {
	if path := os.Getenv(writerFile); path != "" {
		switch os.Getenv(writerName) {
		case crashing:
			_, _ = open(path, Options{}, append(slices.Clone(migrations), killed))
			os.Exit(notKilled)
		case holding:
			hold(path)
		}
		if err := writeTo(path, os.Getenv(writerName), os.Getenv(writerTimes)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

const (
	crashing  = "crash" // name of a process that is killed during a migration
	notKilled = 3       // its exit code if that failed

	holding = "hold" // name of a process that begins to write and never ends
)

// hold writes in a transaction, says so, and waits until the process is killed.
func hold(path string) {
	db, err := Open(path, Options{})
	if err == nil {
		err = db.change(context.Background(), func(tx *sql.Tx) error {
			_, err := tx.Exec("DELETE FROM entries")
			fmt.Println("holding", err)
			_, _ = os.Stdin.Read(make([]byte, 1)) // the test never writes
			return err
		})
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(notKilled)
}

func TestWriterContinuesAfterAnotherIsKilled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.db")
	db := reopen(t, path)
	s := Store{db}
	if err := s.Put(t.Context(), "first", nil); err != nil {
		t.Fatal(err)
	}
	c := writer(path, holding, "")
	_, err := c.StdinPipe()
	out, failed := c.StdoutPipe()
	if err = errors.Join(err, failed, c.Start()); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "holding <nil>\n" {
		t.Fatalf("the process says %q, %v", line, err)
	}
	done := make(chan error)
	go func() { done <- s.Put(t.Context(), "second", nil) }()
	if err := c.Process.Kill(); err != nil {
		t.Error(err)
	}
	if err := <-done; err != nil {
		t.Errorf("the waiting write: %v", err)
	}
	_ = c.Wait() // it was killed
	if keys, err := s.Keys(t.Context(), ""); len(keys) != 2 || err != nil {
		t.Errorf("the keys are %q, %v; want both", keys, err)
	}
}

// killed is a migration during which the process is killed.
func killed(ctx context.Context, tx *sql.Tx) error {
	if _, err := tx.ExecContext(ctx, "CREATE TABLE later (x); DELETE FROM entries; PRAGMA user_version = 9"); err != nil {
		return err
	}
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	if err == nil {
		fmt.Println("killing") // the test waits for the end of the process
		select {}
	}
	return err
}

func TestKilledMigrationLeavesTheOldVersion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.db")
	db := reopen(t, path)
	if err := (Store{db}).Put(t.Context(), "key", []byte("value")); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := writer(path, crashing, "").Run(); !errors.As(err, &exit) || exit.ExitCode() == notKilled {
		t.Fatalf("the process was not killed: %v", err)
	}
	again := reopen(t, path)
	if version, err := again.version(t.Context()); version != len(migrations) || err != nil {
		t.Errorf("the version is %d, %v", version, err)
	}
	if got, err := (Store{again}).Get(t.Context(), "key"); string(got) != "value" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	sound(t, again)
}

// auditOf returns an audit log that writes to the file.
func auditOf(db *DB, failed func(error)) *record.Audit {
	return &record.Audit{Store: AuditLog{DB: db}, Key: []byte("key"), OnError: failed}
}

// auditRecord writes a record with an audit log.
func auditRecord(a *record.Audit, text string) {
	var hooks agent.Hooks
	hooks.Use(a)
	run := agent.NewRun(&agent.Env{Agent: "a"})
	_, _ = hooks.AfterTool.Fire(context.Background(), run, &agent.ToolCallResult{Output: text})
}

// writeTo stores numbers in each part of the file, and prints each number when it is stored.
func writeTo(path, name, times string) error {
	most := -1
	if times != "" {
		most, _ = strconv.Atoi(times)
	}
	ctx := context.Background()
	db, err := Open(path, Options{})
	if err != nil {
		return err
	}
	var failed error
	audit := auditOf(db, func(err error) { failed = errors.Join(failed, err) })
	m := &memory.Facts{In: Store{db}}
	for i := 0; i != most && err == nil; i++ {
		key := fmt.Sprintf("%s%d", name, i)
		session := agent.Session{Identity: agent.Identity{User: name, Conversation: key},
			Messages: []agent.Message{{Content: strings.Repeat(key, 500)}}}
		event := hooklog.Event{
			Protocol: wire.Protocol, Seq: int64(i), Spec: "s", Point: "p", Payload: fmt.Appendf(nil, "%q", key),
			Run: wire.RunInfo{ID: key, Root: key}, Decision: wire.Continue,
		}
		auditRecord(audit, key)
		if err = errors.Join(failed, m.Put(ctx, memory.Fact{Key: "shared", Value: key}),
			Store{db}.Put(ctx, key, []byte(strings.Repeat(key, 500))),
			Sessions{db}.Save(ctx, session), m.Put(ctx, memory.Episode{Kind: key}.Fact()),
			EventLog{DB: db}.WriteEvent(ctx, event)); err == nil {
			fmt.Println(i)
		}
	}
	return errors.Join(err, db.Close())
}

// writer returns the command of a process that writes to a file.
func writer(path, name, times string) *exec.Cmd {
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), writerFile+"="+path, writerName+"="+name, writerTimes+"="+times)
	return c
}

// verifyAudit checks the chain of the audit log and returns the number of records.
func verifyAudit(t *testing.T, db *DB) int {
	t.Helper()
	state, err := record.VerifyAudit(AuditLog{DB: db}.Reader(t.Context()), record.AuditCheck{Key: []byte("key")})
	if err != nil || state.Lost > 0 {
		t.Errorf("the audit log: %+v, %v", state, err)
	}
	return state.Records
}

// eventsOf returns the events of a log that has no damaged line.
func eventsOf(t *testing.T, r io.Reader) (events []hooklog.Event) {
	t.Helper()
	for e, err := range hooklog.Read(r) {
		if err != nil {
			t.Error(err)
		}
		events = append(events, e)
	}
	return events
}

// sound checks the file as a whole.
func sound(t *testing.T, db *DB) {
	t.Helper()
	var result string
	if err := db.row(t.Context(), []any{&result}, "PRAGMA integrity_check"); err != nil || result != "ok" {
		t.Errorf("the file is damaged: %s, %v", result, err)
	}
}

func TestProcessesShareTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.db")
	const processes, times = 4, 25
	var all sync.WaitGroup
	for i := range processes {
		all.Go(func() {
			if out, err := writer(path, fmt.Sprintf("p%d-", i), strconv.Itoa(times)).CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	all.Wait()
	db := reopen(t, path)
	m := &memory.Facts{In: Store{db}}
	keys, err := Store{db}.Keys(t.Context(), "p")
	ids, failed := Sessions{db}.List(t.Context())
	history, other := m.History(t.Context(), "shared", "")
	episodes, _, another := m.Search(t.Context(), memory.Query{Scope: memory.EpisodeScope})
	if err = errors.Join(err, failed, other, another); err != nil {
		t.Fatal(err)
	}
	events := eventsOf(t, EventLog{DB: db}.Reader(t.Context()))
	for what, n := range map[string]int{
		"values": len(keys), "sessions": len(ids), "facts": len(history), "episodes": len(episodes),
		"audit records": verifyAudit(t, db), "events": len(events),
	} {
		if n != processes*times {
			t.Errorf("%d %s, want %d", n, what, processes*times)
		}
	}
	for i, f := range history {
		if i > 0 && f.Supersedes != history[i-1].ID || f.Current() != (i == len(history)-1) {
			t.Fatalf("the history breaks at %d: %+v", i, f)
		}
	}
	next := map[string]int64{} // by process
	for _, e := range events {
		process, _, _ := strings.Cut(e.Run.ID, "-")
		if e.Seq != next[process] {
			t.Errorf("event %d of the process %s follows %d others", e.Seq, process, next[process])
		}
		next[process]++
	}
	sound(t, db)
}

func TestKilledProcessLosesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.db")
	for round := range 8 {
		name := fmt.Sprintf("r%d-", round)
		c := writer(path, name, "")
		out, err := c.StdoutPipe()
		if err == nil {
			err = c.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		stored := -1
		lines := bufio.NewScanner(out)
		for lines.Scan() { // also what was printed before the kill
			if stored, err = strconv.Atoi(lines.Text()); err != nil {
				t.Fatal(err)
			}
			if stored == 3+round*2 {
				if err := c.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		_ = c.Wait() // it was killed
		if stored < 3+round*2 {
			t.Fatalf("the process ended after %d", stored)
		}
		db, err := Open(path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		m := &memory.Facts{In: Store{db}}
		for i := range stored + 1 {
			key := fmt.Sprintf("%s%d", name, i)
			want := strings.Repeat(key, 500)
			value, err := Store{db}.Get(t.Context(), key)
			session, failed := Sessions{db}.Load(t.Context(), agent.Identity{User: name, Conversation: key})
			episodes, _, other := m.Search(t.Context(), memory.Query{Scope: memory.EpisodeScope, Text: key})
			events := eventsOf(t, EventLog{DB: db}.RunReader(t.Context(), key))
			if err = errors.Join(err, failed, other); err != nil || string(value) != want ||
				session.Messages[0].Content != want || len(episodes) == 0 || episodes[0].Key != key || len(events) != 1 {
				t.Errorf("%s was stored and is lost: %v", key, err)
			}
		}
		if n := verifyAudit(t, db); n < stored+1 {
			t.Errorf("%d audit records, want at least %d", n, stored+1)
		}
		sound(t, db)
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

package sqlite

import (
	"path/filepath"
	"testing"

	"github.com/hookgen/hookgen/builtin/memory"
	"github.com/hookgen/hookgen/builtin/memory/memorytest"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop/looptest"
)

// newDB opens a new file for a test.
func newDB(t testing.TB) *DB {
	t.Helper()
	return reopen(t, filepath.Join(t.TempDir(), "made", "agent.db"))
}

// reopen opens a file until the end of the test.
func reopen(t testing.TB, path string) *DB {
	t.Helper()
	db, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func TestStoreConforms(t *testing.T) {
	looptest.CheckStore(t, func(t *testing.T) agent.Store { return Store{newDB(t)} })
}

func TestSessionsConform(t *testing.T) {
	looptest.CheckSessionStore(t, func(t *testing.T) agent.SessionStore { return Sessions{newDB(t)} })
}

func TestMemoryConforms(t *testing.T) {
	memorytest.Check(t, func(t *testing.T, clock agent.Clock) memory.Store {
		return &memory.Facts{In: Store{newDB(t)}, Clock: clock}
	})
}

package runtime_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"runtime"
	"testing"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/hooklog"
	"github.com/hookgen/hookgen/tests/fixture"
)

var replayed = flag.Int("replayed", 100_000, "the number of events that a replay reads while its memory is measured")

// A longRecord is a record that is written while it is read: two events for each run.
type longRecord struct {
	event hooklog.Event // of which all others are copies
	most  int
	next  int
	part  bytes.Buffer
}

func (r *longRecord) Read(p []byte) (int, error) {
	for r.part.Len() == 0 {
		if r.next == r.most {
			return 0, io.EOF
		}
		e := r.event
		e.Seq, e.Run.ID = int64(r.next+1), fmt.Sprint("run ", r.next/2)
		if err := hooklog.Lines(&r.part).WriteEvent(context.Background(), e); err != nil {
			return 0, err
		}
		r.next++
	}
	return r.part.Read(p)
}

// TestLongRecordsNeedBoundedMemory replays many runs, at hooks that keep state for each. The memory in use is that
// after the first third.
func TestLongRecordsNeedBoundedMemory(t *testing.T) {
	h := new(fixture.Hooks)
	calls := new(hookkit.PerRun[[1024]byte]) // a kilobyte for each run
	h.LeaveClosed.AddFunc(func(_ context.Context, run *fixture.Run, _ fixture.Item) (fixture.LeaveClosedOutcome, error) {
		second := false
		calls.Do(run, func(state *[1024]byte) { second = state[0] == 1; state[0]++ })
		if second {
			return fixture.Stop{Reason: "enough"}, nil
		}
		return nil, nil
	})
	record := &longRecord{event: recorded(t, "ls")[0], most: *replayed}
	statuses := map[hooklog.Status]int{}
	used := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	n, early := 0, uint64(0)
	for c, err := range hooklog.Replay(t.Context(), hooklog.Read(record), h.Points()) {
		if err != nil {
			t.Fatal(err)
		}
		statuses[c.Status]++
		if n++; n == *replayed/3 {
			early = used()
		}
	}
	const margin = 2 << 20 // bytes
	late := used()
	t.Logf("%d bytes are in use after %d events, and %d after a third of them", late, n, early)
	if late > early+margin {
		t.Error("the memory grows with the record")
	}
	if half := *replayed / 2; statuses[hooklog.Same] != half || statuses[hooklog.Changed] != half {
		t.Errorf("the statuses are %v, want %d of each", statuses, half)
	}
	runtime.KeepAlive(h)
}

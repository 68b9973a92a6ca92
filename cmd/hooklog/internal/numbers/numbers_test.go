package numbers

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/hookgen/hookgen/hookkit/hooklog"
)

// heap returns the memory in use.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// A record whose writer is hostile has another point, hook, decision and run in each event.
func TestHostileRecordsNeedBoundedMemory(t *testing.T) {
	before := heap()
	var n Numbers
	const count = mostRuns + 10
	for i := range count {
		e := hooklog.Event{Seq: int64(i)}
		name := fmt.Sprintf("%d%s", i, strings.Repeat("x", 1000))
		e.Spec, e.Point, e.Run.ID, e.By, e.Site, e.Decision = name, name, name, name, name, name
		e.Elapsed = time.Duration(i) * time.Microsecond
		n.Add(e)
	}
	used := int64(heap()) - int64(before)
	if len(n.points) != MostPoints+1 || len(n.hooks) != mostHooks+1 || n.Runs != mostRuns || !n.MoreRuns || used > 64<<20 {
		t.Errorf("%d points, %d hooks, %d runs, %d bytes of memory", len(n.points), len(n.hooks), n.Runs, used)
	}
	other := n.points[[2]string{Others}]
	if other.count != count-MostPoints || len(other.decisions) != mostDecisions+1 {
		t.Errorf("%d fires and %d decisions are in others", other.count, len(other.decisions))
	}
}

package eventlog_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/hookgen/hookgen/cmd/hooklog/internal/eventlog"
	"github.com/hookgen/hookgen/hookkit/hooklog"
	"github.com/hookgen/hookgen/hookkit/wire"
)

var (
	events = flag.Int("events", 100_000, "the `number` of events of TestIndexNeedsFewBytes; try 5000000")
	keep   = flag.String("record", "", "the `FILE` of its records, which are kept; by default temporary ones")
)

// writeRuns writes a record of agents: runs of so many fires with payloads of some hundred bytes.
func writeRuns(t testing.TB, path string, n, each int) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	sink := hooklog.Lines(f)
	random := rand.New(rand.NewPCG(1, 2))
	points := []string{"BeforeLLM", "AfterLLM", "BeforeTool", "OnPermission", "AfterTool"}
	start := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	for i := range n {
		id := fmt.Sprintf("%032x", i/each)
		e := hooklog.Event{
			Protocol: wire.Protocol, Seq: int64(i + 1), Time: start.Add(time.Duration(i) * 20 * time.Millisecond),
			Spec: "example.com/agent", Point: points[i%len(points)], Decision: wire.Continue,
			Run:     wire.RunInfo{ID: id, Root: id, Labels: map[string]string{"tenant": fmt.Sprint("tenant ", i/each%40)}},
			Elapsed: time.Duration(random.ExpFloat64() * float64(time.Millisecond)),
			Payload: fmt.Appendf(nil, `{"step":%d,"name":"read","text":%q}`, i%each/5,
				strings.Repeat("some words ", random.IntN(60))),
		}
		switch i % each {
		case 0:
			e.Point, e.Payload = "OnRunStart", fmt.Appendf(nil, `{"task":"Task %d of the day"}`, i/each)
		case each - 1:
			e.Point = "OnRunEnd"
			e.Payload = fmt.Appendf(nil, `{"stop":{"cause":%q},"usage":{"cost":%.4f}}`,
				[]string{"completed", "completed", "completed", "error", "steps_limit"}[random.IntN(5)], random.ExpFloat64())
		default:
			if random.IntN(20) == 0 {
				e.Decision, e.By, e.Site, e.Reason = "Deny", "permission.Rules", "main.go:1", "not allowed"
			}
		}
		if err := sink.WriteEvent(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// heap returns the memory in use.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestIndexNeedsFewBytes bounds the memory for each event, runs and names included. The run of an agent has many fires,
// and that of a request to a gateway few.
func TestIndexNeedsFewBytes(t *testing.T) {
	for each, most := range map[int]float64{50: 60, 5: 100, 1: 330} {
		t.Run(fmt.Sprintf("runs of %d fires", each), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "run.jsonl")
			if *keep != "" {
				path = fmt.Sprintf("%s.%d", *keep, each)
			}
			if _, err := os.Stat(path); err != nil {
				writeRuns(t, path, *events, each)
			}
			before, begin := heap(), time.Now()
			x, err := eventlog.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer x.Close()
			update(t, x)
			n := x.Status().Events
			used := float64(heap()-before) / float64(n)
			t.Logf("%d events in %v: %.1f bytes for each", n, time.Since(begin).Round(time.Millisecond), used)
			if n < *events || used > most {
				t.Errorf("%d events need %.1f bytes each, want at most %.0f", n, used, most)
			}
			for _, order := range []string{eventlog.Newest, eventlog.Longest, eventlog.Dearest} {
				begin, q := time.Now(), eventlog.Query{Tenant: "tenant 7"}
				runs, _ := x.FindRuns(t.Context(), q, order, eventlog.Start, 50, time.Minute)
				t.Logf("the first %d runs of a tenant by %q: %v", len(runs), order, time.Since(begin).Round(time.Microsecond))
			}
			begin = time.Now()
			found, _ := x.Find(t.Context(), eventlog.Query{Text: "missing"}, n, 1)
			t.Logf("%d fires with a text that no event has: %v", len(found), time.Since(begin).Round(time.Millisecond))
		})
	}
}

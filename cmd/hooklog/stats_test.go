package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/hookgen/hookgen/cmd/hooklog/internal/numbers"
	"github.com/hookgen/hookgen/hookkit/hooklog"
	"github.com/hookgen/hookgen/hookkit/wire"
)

var events = flag.Int("events", 200_000, "the `number` of events of the tests of memory; try 1000000")

// recordOf writes a record of so many events, as an agent makes it: runs of 20 fires, a tenth of which a hook decides.
func recordOf(t testing.TB, n int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run.jsonl")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	sink := hooklog.Lines(f)
	random := rand.New(rand.NewPCG(1, 2))
	points := []string{"BeforeModel", "AfterModel", "BeforeTool", "AfterTool"}
	for i := range n {
		id := fmt.Sprintf("%016x", i/20)
		e := event(int64(i) + 1)
		e.Time = e.Time.Add(time.Duration(i) * time.Millisecond)
		e.Point, e.Run = points[i%len(points)], wire.RunInfo{ID: id, Root: id}
		e.Payload = fmt.Appendf(nil, `{"Step":%d,"Name":"read","Text":"%s"}`, i, strings.Repeat("some words ", 20))
		e.Elapsed = time.Duration(random.ExpFloat64() * float64(time.Millisecond))
		if random.IntN(10) == 0 {
			e.Decision, e.By, e.Site, e.Reason = "Deny", "rules", "main.go:1", "not allowed"
		}
		if err := sink.WriteEvent(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// heap returns the memory in use.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func TestMemoryOfStatsIsBounded(t *testing.T) {
	path := recordOf(t, *events)
	sources, err := filesOf(path)
	if err != nil {
		t.Fatal(err)
	}
	before := heap()
	r := &reader{stderr: io.Discard}
	var n numbers.Numbers
	for l := range r.lines(sources[0]) {
		n.Add(l.Event)
	}
	used := int64(heap()) - int64(before)
	runtime.KeepAlive(&n)
	if n.Events != *events || n.Runs != min(*events/20, 1<<18) || used > 16<<20 {
		t.Errorf("%d events, %d runs, %d bytes of memory", n.Events, n.Runs, used)
	}
}

// FuzzStats counts any text. The events and damaged lines are all lines that are not empty, and the output is JSON.
func FuzzStats(f *testing.F) {
	good := lineOf(event(1))
	hostile := strings.Replace(good, "BeforeSend", "\x1b", 1)
	for _, s := range []string{"", good, good + good, good[:20], "null\n" + good, hostile} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		lines := 0
		for line := range strings.SplitSeq(text, "\n") {
			if strings.TrimSpace(line) != "" {
				lines++
			}
		}
		var out, reports strings.Builder
		i := &invocation{stdin: strings.NewReader(text), stdout: &out, stderr: &reports}
		code := i.run(t.Context(), []string{"stats", "-json", "-"})
		var got struct{ Events, DamagedLines int }
		if err := json.Unmarshal([]byte(out.String()), &got); err != nil {
			t.Fatalf("%v\n%s", err, out.String())
		}
		if got.Events+got.DamagedLines != lines || (got.DamagedLines > 0) != (code == findings) {
			t.Errorf("%d events and %d damaged lines of %d, exit code %d", got.Events, got.DamagedLines, lines, code)
		}
	})
}

package soak

import (
	"flag"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookgen/hookgen/internal/race"
	"github.com/hookgen/hookgen/lab/figures"
	"github.com/hookgen/hookgen/tests/points"
	"go.uber.org/goleak"
)

var (
	howMany = flag.Int("fires", 0,
		"how many `fires` the soak makes; 0 for two million, or a fifth of that with -short or -race")
	report = flag.Bool("report", false, "write the figures of the soak into docs/evidence/figures")
)

const root = "../../.."

// TestMain fails if a test leaks a goroutine.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rounds is the number of rounds; after each one the heap is measured.
const rounds = 16

// slack is the allowed growth of the heap after the first quarter of a run.
const slack = 1 << 20

func TestSoak(t *testing.T) {
	if *howMany == 0 {
		if *howMany = 2_000_000; race.Enabled || testing.Short() {
			*howMany /= 5
		}
	}
	logged := slog.Default() // failures of FailOpen points and full queues are logged
	slog.SetDefault(slog.New(slog.NewTextHandler(io.Discard, &slog.HandlerOptions{Level: slog.LevelError + 1})))
	t.Cleanup(func() { slog.SetDefault(logged) })

	s := newStage()
	s.rest()
	heap := []uint64{measured()}
	start := time.Now()
	for i := range rounds {
		n := *howMany / rounds
		if i == 0 {
			n = *howMany - n*(rounds-1)
		}
		s.round(uint64(i+1), n)
		points.Forget()
		heap = append(heap, measured())
		if len(s.wrong) > 0 {
			t.Fatalf("after %d fires:\n%s", s.fires.Load(), strings.Join(s.wrong[:min(len(s.wrong), 20)], "\n"))
		}
	}
	took := time.Since(start)

	early, last := slices.Max(heap[:1+rounds/4]), heap[rounds]
	if last > early+slack {
		t.Errorf("the heap grew from %d bytes in the first quarter to %d at the end: %d", early, last, heap)
	}
	if err := goleak.Find(); err != nil {
		t.Error(err)
	}
	c := &s.totals
	for what, n := range map[string]int64{
		"registrations": c.made.Load(), "removals": c.removed.Load(), "layers": c.layers.Load(), "tracers": c.traced.Load(),
		"async observers": c.async.Load(), "hooks with a Timeout": c.timeouts.Load(),
	} {
		if n == 0 {
			t.Errorf("there were no %s, so the run shows nothing of them; make more fires", what)
		}
	}
	if made, removed := c.made.Load(), c.removed.Load(); made != removed {
		t.Errorf("%d registrations were made and %d removed", made, removed)
	}
	t.Logf("%d fires in %v, %d registrations, %d layers, heap %d", s.fires.Load(), took, c.made.Load(),
		c.layers.Load(), heap)
	if *report && !t.Failed() {
		s.report(t, took, heap, early)
	}
}

// measured returns the size of the live heap.
func measured() uint64 {
	runtime.GC()
	runtime.GC() // finalizers of the first have run
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func (s *stage) report(t *testing.T, took time.Duration, heap []uint64, early uint64) {
	c := &s.totals
	slow := s.arenas[1]
	count := func(of string, n int64, note string) figures.Figure {
		return figures.Figure{Of: of, Value: grouped(n), Note: note}
	}
	held := func(ok bool) figures.Verdict {
		if ok {
			return figures.Yes
		}
		return figures.No
	}
	var along []string
	for i := 0; i < len(heap); i += rounds / 8 {
		along = append(along, fmt.Sprintf("%.2f", float64(heap[i])/(1<<20)))
	}
	last := heap[len(heap)-1]
	r := figures.Report{
		Name:    "soak",
		Command: fmt.Sprintf("go test ./tests/stress/soak -run TestSoak -fires %d -timeout 0 -report", *howMany),
		Figures: []figures.Figure{
			count("fires, each of them checked", s.fires.Load(),
				fmt.Sprintf("at all %d points of tests/fixture, from %d goroutines; %s of them were observed", len(s.points),
					runtime.GOMAXPROCS(0), grouped(slow.fires.Load()))),
			{Of: "fires that saw something wrong", Value: "0", Bound: "0", Holds: figures.Yes,
				Note: "half a pair of hooks, a wrong order, payload, exit, vote or contribution, an observer or a tracer that " +
					"missed something"},
			count("hooks run", s.hooksRan.Load(), ""),
			{Of: "time", Value: fmt.Sprintf("%.0f s", took.Seconds())},
			count("fires per second", int64(float64(s.fires.Load())/took.Seconds()),
				"with the checks of the fires and all that is changed meanwhile"),
			count("registrations made", c.made.Load(), "from 3 goroutines"),
			count("registrations removed", c.removed.Load(), ""),
			count("registrations made and removed by a hook during its own fire", c.within.Load(), ""),
			count("layers made", c.layers.Load(), fmt.Sprintf("%s of them within another", grouped(c.deep.Load()))),
			count("tracers attached and detached", c.traced.Load(), ""),
			count("hooks with a Timeout", c.timeouts.Load(), ""),
			count("Async observers attached, drained and detached", c.async.Load(),
				fmt.Sprintf("they were notified of %s fires; %s were dropped and counted", grouped(c.notified.Load()),
					grouped(c.dropped.Load()))),
			count("fires that the standing Async observer was notified of", slow.slow.notified.Load(),
				fmt.Sprintf("%s more were dropped and counted: together all fires that it observed",
					grouped(int64(slow.queue.Dropped())))),
			{Of: "heap along the run, after collection", Value: strings.Join(along, ", ") + " MiB",
				Note: "at the beginning and at each eighth"},
			{Of: "growth of the heap since the first quarter", Value: fmt.Sprintf("%+d KiB", (int64(last)-int64(early))/1024),
				Bound: "≤ 1024 KiB", Holds: held(last <= early+slack)},
			{Of: "goroutines left at the end", Value: "0", Bound: "0", Holds: figures.Yes, Note: "as goleak finds them"},
		},
	}
	if err := r.Stamp(root); err != nil {
		t.Fatal(err)
	}
	if err := r.Write(root); err != nil {
		t.Fatal(err)
	}
}

// grouped formats a number with thousands separators.
func grouped(n int64) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + " " + digits[i:]
	}
	return digits
}

package record_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookgen/hookgen/builtin/memory"
	"github.com/hookgen/hookgen/builtin/record"
	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit/hooklog"
)

// readAll returns what each view makes of a record.
func readAll(t *testing.T, text []byte) (got value, episodes []memory.Episode, err error) {
	t.Helper()
	store := &memory.Facts{Share: share.Everyone}
	fail := func(err error) { t.Error(err) }
	v := &views{summary: record.Summary{Dir: t.TempDir(), OnError: fail}}
	err = record.Read(t.Context(), hooklog.Read(bytes.NewReader(text)), append(v.all(),
		&record.Tree{Dir: t.TempDir(), OnError: fail}, &record.Episodes{Store: store, OnError: fail},
		&record.Provenance{Dir: t.TempDir(), OnError: fail})...)
	got = value{Metrics: v.metrics.Report(), Runs: v.history.Runs(agent.Identity{}, "")}
	for _, s := range v.timing.Samples() {
		got.Samples = append(got.Samples, fmt.Sprintln(s))
	}
	episodes, failed := memory.Episodes(t.Context(), store, 0)
	if failed != nil {
		t.Error(failed)
	}
	return got, episodes, err
}

// recordedLines returns the lines of a record of four runs.
func recordedLines(t *testing.T) [][]byte {
	t.Helper()
	var log bytes.Buffer
	recorded(t, recordTo{hooklog.Lines(&log)})
	lines := bytes.SplitAfter(log.Bytes(), []byte("\n"))
	return lines[:len(lines)-1]
}

func runsEnded(lines [][]byte) (n int) {
	for _, line := range lines {
		if bytes.Contains(line, []byte(`"point":"OnRunEnd"`)) {
			n++
		}
	}
	return n
}

// A program is killed after any byte of its record, and another one continues the file. The views show all whole events
// of both, and Read says which line it could not read.
func TestViewsReadARecordThatWasCut(t *testing.T) {
	lines := recordedLines(t)
	whole := bytes.Join(lines, nil)
	random := rand.New(rand.NewPCG(1, 2))
	for range 12 {
		n := random.IntN(len(lines))
		part := lines[n][:1+random.IntN(len(lines[n])-2)] // at least without the last byte of the JSON
		text := slices.Concat(bytes.Join(lines[:n], nil), part, []byte("\n"), whole)
		got, _, err := readAll(t, text)
		broken := new(hooklog.LineError)
		if !errors.As(err, &broken) || broken.Line != n+1 {
			t.Fatalf("cut in line %d after %q: %v", n+1, part, err)
		}
		if want := runsEnded(lines[:n]) + runsEnded(lines); len(got.Runs) != want || got.Metrics.Runs != want {
			t.Errorf("cut in line %d: %d runs, %d counted, want %d", n+1, len(got.Runs), got.Metrics.Runs, want)
		}
	}
}

// Two programs write their runs to one file at the same time. The views are those of both.
func TestViewsReadInterleavedRuns(t *testing.T) {
	a, b := recordedLines(t), recordedLines(t)
	var mixed []byte
	for i := range max(len(a), len(b)) {
		if i < len(a) {
			mixed = append(mixed, a[i]...)
		}
		if i < len(b) {
			mixed = append(mixed, b[i]...)
		}
	}
	got, episodes, err := readAll(t, mixed)
	if err != nil {
		t.Fatal(err)
	}
	one, some, err := readAll(t, bytes.Join(append(a, b...), nil))
	if err != nil {
		t.Fatal(err)
	}
	sortRuns := func(runs []record.HistoryEntry) string {
		var text []string
		for _, r := range runs {
			r.Number = 0 // in the order of the ends
			text = append(text, fmt.Sprintf("%+v", r))
		}
		slices.Sort(text)
		return strings.Join(text, "\n")
	}
	if x, y := sortRuns(got.Runs), sortRuns(one.Runs); x != y {
		t.Errorf("interleaved\n%s\none after the other\n%s", x, y)
	}
	if x, y := got.Metrics.String(), one.Metrics.String(); x != y || got.Metrics.Runs != 8 {
		t.Errorf("interleaved\n%s\none after the other\n%s", x, y)
	}
	if len(episodes) != len(some) || len(got.Samples) != len(one.Samples) || len(episodes) == 0 {
		t.Errorf("%d episodes and %d samples, want %d and %d", len(episodes), len(got.Samples), len(some),
			len(one.Samples))
	}
}

// Somebody has sorted, doubled or shortened the lines. The views count what is there, and never fail.
func TestViewsReadEventsInAnyOrder(t *testing.T) {
	lines := recordedLines(t)
	random := rand.New(rand.NewPCG(3, 4))
	for range 4 {
		mixed := slices.Concat(lines, lines[:random.IntN(len(lines))])
		random.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
		mixed = mixed[random.IntN(5):]
		got, _, err := readAll(t, bytes.Join(mixed, nil))
		if err != nil {
			t.Error(err)
		}
		if want := runsEnded(mixed); len(got.Runs) != want || got.Metrics.Runs != want {
			t.Errorf("%d runs, %d counted, want %d", len(got.Runs), got.Metrics.Runs, want)
		}
	}
}

// A view is shown as far as it can be read.
func TestShownViewsLackOnlyWhatCannotBeRead(t *testing.T) {
	lines := recordedLines(t)
	text := slices.Concat([]byte("{\n"), bytes.Join(lines, nil))
	for _, view := range record.Shown() {
		var damaged, whole bytes.Buffer
		err := record.Show(t.Context(), &damaged, view, hooklog.Read(bytes.NewReader(text)))
		if broken := new(hooklog.LineError); !errors.As(err, &broken) || broken.Line != 1 {
			t.Errorf("%s: %v", view, err)
		}
		if err := record.Show(t.Context(), &whole, view, hooklog.Read(bytes.NewReader(text[2:]))); err != nil {
			t.Errorf("%s: %v", view, err)
		}
		if damaged.String() != whole.String() || whole.Len() == 0 {
			t.Errorf("%s of the damaged record is %q, want %q", view, damaged.String(), whole.String())
		}
	}
	ended, cancel := context.WithTimeout(t.Context(), -time.Second)
	defer cancel()
	var out bytes.Buffer
	if err := record.Show(ended, &out, "metrics", hooklog.Read(bytes.NewReader(text))); !errors.Is(err,
		context.DeadlineExceeded) || out.Len() > 0 {
		t.Errorf("after the end of the context: %q, %v", out.String(), err)
	}
}

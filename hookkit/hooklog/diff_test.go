package hooklog_test

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/hookgen/hookgen/hookkit/hooklog"
	"github.com/hookgen/hookgen/hookkit/wire"
)

// fire returns an event of a run.
func fire(run string, seq int64, payload string) hooklog.Event {
	e := event(seq, payload)
	e.Run = wire.RunInfo{ID: run, Root: run}
	return e
}

func sequence(events ...hooklog.Event) iter.Seq2[hooklog.Event, error] {
	return func(yield func(hooklog.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// compared returns the comparisons of two records in short, sorted.
func compared(t interface{ Fatal(...any) }, was, is []hooklog.Event) []string {
	var all []string
	for c, err := range hooklog.Diff(sequence(was...), sequence(is...)) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, brief(c))
	}
	slices.Sort(all)
	return all
}

func brief(c hooklog.Comparison) string {
	text := fmt.Sprintf("%s:%d %s:%d %v %s", c.Was.Run.ID, c.Was.Seq, c.Is.Run.ID, c.Is.Seq, c.Status, c.Why)
	return strings.TrimSpace(text)
}

func TestDiffComparesFires(t *testing.T) {
	denied := func(e hooklog.Event) hooklog.Event { e.Decision, e.By = "Refuse", "guard"; return e }
	failing := func(e hooklog.Event) hooklog.Event {
		e.Decision, e.Error, e.Failures = "Error", "x", []hooklog.Failure{{By: "guard", Site: "a.go:1", Cause: "x"}}
		return e
	}
	json := func(e hooklog.Event, payload, final string) hooklog.Event {
		e.Payload, e.Final = []byte(payload), []byte(final)
		return e
	}
	collecting := func(e hooklog.Event, texts string) hooklog.Event { e.Collected = []byte(texts); return e }
	const missing, added = "the second record does not have the fire", "the first record does not have the fire"
	a1, a2, b1 := fire("a", 1, "x"), fire("a", 2, "y"), fire("b", 3, "x")
	allSame := []string{"a:1 a:1 same", "a:2 a:2 same", "b:3 b:3 same"}
	oneSame := []string{"a:1 a:1 same"}
	for _, c := range []struct {
		name    string
		was, is []hooklog.Event
		want    []string
	}{
		{"nothing", nil, nil, nil},
		{"the same", []hooklog.Event{a1, a2, b1}, []hooklog.Event{a1, a2, b1}, allSame},
		{"another order", []hooklog.Event{a1, a2, b1}, []hooklog.Event{b1, a2, a1}, allSame},
		{"another decision", []hooklog.Event{a1, a2}, []hooklog.Event{a1, denied(a2)},
			[]string{"a:1 a:1 same", "a:2 a:2 changed the decision was continue and is Refuse"}},
		{"a failure", []hooklog.Event{a1}, []hooklog.Event{failing(a1)},
			[]string{"a:1 a:1 failed the hook guard (a.go:1) failed: x"}},
		{"a failure before", []hooklog.Event{failing(a1)}, []hooklog.Event{a1},
			[]string{"a:1 a:1 changed the decision was Error and is continue"}},
		{"a fire less", []hooklog.Event{a1, a2}, []hooklog.Event{a1}, []string{"a:1 a:1 same", "a:2 :0 missing " + missing}},
		{"a fire more", []hooklog.Event{a1}, []hooklog.Event{a1, a2}, []string{":0 a:2 added " + added, "a:1 a:1 same"}},
		{"a run less", []hooklog.Event{a1, b1}, []hooklog.Event{b1}, []string{"a:1 :0 missing " + missing, "b:3 b:3 same"}},
		{"another payload", []hooklog.Event{a1}, []hooklog.Event{fire("a", 1, "z")},
			[]string{":0 a:1 added " + added, "a:1 :0 missing " + missing}},
		{"other IDs", []hooklog.Event{a1, b1, a2}, []hooklog.Event{fire("c", 1, "x"), fire("c", 2, "y"), fire("d", 3, "x")},
			[]string{"a:1 c:1 same", "a:2 c:2 same", "b:3 d:3 same"}},
		{"other IDs with other beginnings", []hooklog.Event{a1, a2}, []hooklog.Event{fire("c", 1, "y"), fire("c", 2, "x")},
			[]string{":0 c:1 added " + added, ":0 c:2 added " + added,
				"a:1 :0 missing " + missing, "a:2 :0 missing " + missing}},
		{"IDs count before the order", []hooklog.Event{a1, b1}, []hooklog.Event{fire("b", 1, "x"), fire("c", 2, "x")},
			[]string{"a:1 c:2 same", "b:3 b:1 same"}},
		{"equal fires", []hooklog.Event{a1, fire("a", 2, "x")}, []hooklog.Event{a1, denied(fire("a", 2, "x"))},
			[]string{"a:1 a:1 same", "a:2 a:2 changed the decision was continue and is Refuse"}},
		{"no run", []hooklog.Event{fire("", 1, "x"), fire("", 2, "y")}, []hooklog.Event{fire("", 1, "y"), fire("", 2, "x")},
			[]string{":1 :2 same", ":2 :1 same"}},
		{"JSON written in another way",
			[]hooklog.Event{json(a1, `{"A":"<\n>","B":[1,{"C":null}]}`, `{"D":1.50,"E":true}`)},
			[]hooklog.Event{json(a1, ` { "B":[1, {"C":null}],"A":"\u003c\u000a>"}`, `{"E":true, "D":1.50}`)}, oneSame},
		{"another number",
			[]hooklog.Event{json(a1, `9007199254740993`, "")}, []hooklog.Event{json(a1, `9007199254740992`, "")},
			[]string{":0 a:1 added " + added, "a:1 :0 missing " + missing}},
		{"another final payload", []hooklog.Event{json(a1, `1`, `2`)}, []hooklog.Event{json(a1, `1`, `3`)},
			[]string{"a:1 a:1 changed the payload after the hooks was 2 and is 3"}},
		{"other contributions", []hooklog.Event{collecting(a1, `["x"]`)}, []hooklog.Event{a1},
			[]string{`a:1 a:1 changed the list of contributions was ["x"] and is absent`}},
		{"a payload that is not JSON", []hooklog.Event{json(a1, `{"a`, "")}, []hooklog.Event{json(a1, `{"a`, "")}, oneSame},
	} {
		t.Run(c.name, func(t *testing.T) {
			slices.Sort(c.want)
			if got := compared(t, c.was, c.is); !slices.Equal(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

// TestDiffFindsEachDifference draws two records that differ in known ways: runs have other IDs or the same ones, and
// take turns in another order; decisions are changed, and fires are removed and added.
func TestDiffFindsEachDifference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var was, is [][]hooklog.Event // by run
		var want []string
		renamed := rapid.Bool().Draw(t, "renamed")
		for r := range rapid.IntRange(0, 5).Draw(t, "runs") {
			id, other := fmt.Sprint("run", r), fmt.Sprint("run", r)
			if renamed {
				other = fmt.Sprint("new", r)
			}
			var before, after []hooklog.Event
			for f := range rapid.IntRange(1, 6).Draw(t, "fires") {
				seq := int64(10*r + f + 1)
				e := fire(id, seq, fmt.Sprintf("payload %d of %d", f, r))
				now := fire(other, seq, fmt.Sprintf("payload %d of %d", f, r))
				kind := rapid.SampledFrom([]string{"same", "changed", "missing", "added"}).Draw(t, "kind")
				if f == 0 && (kind == "missing" || kind == "added") {
					kind = "same" // the beginnings of runs decide which ones are compared
				}
				if kind == "changed" {
					now.Decision = "Refuse"
				}
				if kind != "added" {
					before = append(before, e)
				}
				if kind != "missing" {
					after = append(after, now)
				}
				want = append(want, fmt.Sprint(seq, " ", kind))
			}
			was, is = append(was, before), append(is, after)
		}
		var got []string
		for c, err := range hooklog.Diff(sequence(interleaved(t, was)...), sequence(interleaved(t, is)...)) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprint(max(c.Was.Seq, c.Is.Seq), " ", c.Status))
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	})
}

// interleaved draws an order in which runs take turns.
func interleaved(t *rapid.T, runs [][]hooklog.Event) []hooklog.Event {
	left := slices.DeleteFunc(slices.Clone(runs), func(r []hooklog.Event) bool { return len(r) == 0 })
	var all []hooklog.Event
	for len(left) > 0 {
		i := rapid.IntRange(0, len(left)-1).Draw(t, "turn")
		all = append(all, left[i][0])
		if left[i] = left[i][1:]; len(left[i]) == 0 {
			left = slices.Delete(left, i, i+1)
		}
	}
	return all
}

func TestDiffNamesTheDamagedRecord(t *testing.T) {
	good := line(event(1, "a")) + "\n"
	var got []string
	read := func(text string) iter.Seq2[hooklog.Event, error] { return hooklog.Read(strings.NewReader(text)) }
	for c, err := range hooklog.Diff(read(good+"x\n"), read("{\n"+good)) {
		var at *hooklog.LineError
		if err == nil {
			got = append(got, c.Status.String())
		} else if errors.As(err, &at) {
			record, _, _ := strings.Cut(err.Error(), ":")
			got = append(got, fmt.Sprint(record, " ", at.Line))
		}
	}
	slices.Sort(got)
	if want := []string{"same", "the first record 2", "the second record 1"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestDiffCanStopAtAnyComparison(t *testing.T) {
	was, is := []hooklog.Event{fire("a", 1, "x"), fire("b", 2, "y")}, []hooklog.Event{fire("a", 1, "x"), fire("c", 2, "z")}
	for stop := 1; stop <= 3; stop++ {
		n := 0
		for range hooklog.Diff(sequence(was...), sequence(is...)) {
			if n++; n == stop {
				break
			}
		}
		if n != stop {
			t.Errorf("stopped after %d comparisons, want %d", n, stop)
		}
	}
}

// TestMemoryOfDiffIsBounded compares long records. In each of them all events together would need more than 100 MB.
func TestMemoryOfDiffIsBounded(t *testing.T) {
	const runs, fires = 2800, 20
	text := strings.Repeat("some words ", 100)
	record := func(name string, has func(run, fire int) bool) iter.Seq2[hooklog.Event, error] {
		return func(yield func(hooklog.Event, error) bool) {
			for n := range runs * fires {
				r, f := n/fires, n%fires
				e := fire(fmt.Sprint(name, r), int64(n), "")
				step := fmt.Sprint(n)
				if f == 0 {
					step = fmt.Sprint("begin ", name == "c") // all runs begin in the same way
				}
				e.Payload, e.Final = fmt.Appendf(nil, `{"Step":"%s"}`, step), fmt.Appendf(nil, `{"Text":"%s"}`, text)
				if has(r, f) && !yield(e, nil) {
					return
				}
			}
		}
	}
	all := func(int, int) bool { return true }
	early := func(r, f int) bool { return r%4 > 0 || f < 4 }
	fewer := map[hooklog.Status]int{hooklog.Same: runs*fires - runs/4*16, hooklog.Missing: runs / 4 * 16}
	for _, c := range []struct {
		name, other string
		has         func(run, fire int) bool
		want        map[hooklog.Status]int
	}{
		{"the same IDs", "a", early, fewer},
		{"other IDs", "b", early, fewer},
		{"other beginnings", "c", all, map[hooklog.Status]int{hooklog.Missing: runs * fires, hooklog.Added: runs * fires}},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := heap()
			got := map[hooklog.Status]int{}
			var used uint64
			n := 0
			for c, err := range hooklog.Diff(record("a", all), record(c.other, c.has)) {
				if err != nil {
					t.Fatal(err)
				}
				got[c.Status]++
				if n++; n%20_000 == 0 {
					used = max(used, heap()-before)
				}
			}
			if !maps.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
			if used > 100<<20 {
				t.Errorf("%d bytes of memory", used)
			}
		})
	}
}

// A run is missing in the second record, and all runs begin in the same way. The one that is missing must not be
// compared with a run whose own counterpart is only read later.
func TestRunsWaitForTheirOwnCounterparts(t *testing.T) {
	const runs = 200
	was, is := []hooklog.Event{fire("x", 1, "begin")}, []hooklog.Event{}
	long := fire("", 0, strings.Repeat("x", 1<<20)).Payload // after the hooks; those fired are encoded to be compared
	for r := range runs {
		id, seq := fmt.Sprint("run", r), int64(r+2)
		more := fire(id, 1000, "")
		more.Final = long
		was = append(was, fire(id, seq, "begin"), more)
		is = append(is, fire(id, seq, "begin"))
	}
	got := map[string]int{}
	for c := range hooklog.Diff(sequence(was...), sequence(is...)) {
		got[c.Status.String()]++
		if c.Status == hooklog.Same && c.Was.Run.ID != c.Is.Run.ID {
			t.Errorf("%s is compared with %s", c.Was.Run.ID, c.Is.Run.ID)
		}
	}
	if want := map[string]int{"same": runs, "missing": runs + 1}; !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestDiffBoundsItsRuns compares records with very many runs, of which some come back.
func TestDiffBoundsItsRuns(t *testing.T) {
	record := func(yield func(hooklog.Event, error) bool) {
		for i := range 150_000 {
			if !yield(fire(fmt.Sprint(i%100_000), int64(i), "x"), nil) {
				return
			}
		}
	}
	before := heap()
	same := 0
	var used uint64
	for c, err := range hooklog.Diff(record, record) {
		if err != nil {
			t.Fatal(err)
		}
		if c.Status == hooklog.Same && c.Was.Seq == c.Is.Seq {
			same++
		}
		if same == 140_000 {
			used = heap() - before
		}
	}
	if same != 150_000 || used == 0 || used > 100<<20 {
		t.Errorf("%d fires are the same, %d bytes of memory", same, used)
	}
}

// TestPayloadsWithKeysTwiceCostLittle compares payloads that differ and have the same hash. The allocations show how
// many comparisons there were.
func TestPayloadsWithKeysTwiceCostLittle(t *testing.T) {
	const count = 500
	record := func(payload string) iter.Seq2[hooklog.Event, error] {
		return func(yield func(hooklog.Event, error) bool) {
			e := fire("a", 1, "")
			e.Payload = []byte(payload)
			for range count {
				if !yield(e, nil) {
					return
				}
			}
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	alone := 0
	for c, err := range hooklog.Diff(record(`{"k":1,"k":2}`), record(`{"k":2,"k":1}`)) {
		if err != nil {
			t.Fatal(err)
		}
		if c.Status == hooklog.Missing || c.Status == hooklog.Added {
			alone++
		}
	}
	runtime.ReadMemStats(&after)
	if made := after.Mallocs - before.Mallocs; alone != 2*count || made > 1000*count {
		t.Errorf("%d fires without counterparts, %d allocations", alone, made)
	}
}

// heap returns the memory in use.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// FuzzDiff compares any two texts, and a text with itself. Each event is in one comparison.
func FuzzDiff(f *testing.F) {
	a, b := line(fire("a", 1, "x")), line(fire("b", 2, "y"))
	for _, s := range []string{"", a, a + "\n" + b, b + "\n" + a + "\n" + a, a[:20] + "\n" + b} {
		f.Add(s, a+"\n"+b)
	}
	f.Fuzz(func(t *testing.T, first, second string) {
		count := func(text string) (events, damaged int) {
			for _, err := range hooklog.Read(strings.NewReader(text)) {
				if err != nil {
					damaged++
				} else {
					events++
				}
			}
			return
		}
		for _, texts := range [][2]string{{first, second}, {first, first}} {
			var was, is, damaged int
			before, after := hooklog.Read(strings.NewReader(texts[0])), hooklog.Read(strings.NewReader(texts[1]))
			for c, err := range hooklog.Diff(before, after) {
				if err != nil {
					damaged++
					continue
				}
				if c.Status != hooklog.Added {
					was++
				}
				if c.Status != hooklog.Missing {
					is++
				}
				if texts[0] == texts[1] && c.Status != hooklog.Same {
					t.Errorf("a record differs from itself: %s", brief(c))
				}
			}
			wantWas, damagedWas := count(texts[0])
			wantIs, damagedIs := count(texts[1])
			if was != wantWas || is != wantIs || damaged != damagedWas+damagedIs {
				t.Errorf("%d, %d and %d, want %d, %d and %d", was, is, damaged, wantWas, wantIs, damagedWas+damagedIs)
			}
		}
	})
}

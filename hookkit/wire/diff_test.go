package wire_test

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

	"github.com/hookgen/hookgen/hookkit/wire"
)

// fire returns an event of a run.
func fire(run string, seq int64, payload string) wire.Event {
	e := event(seq, payload)
	e.Run = wire.RunInfo{ID: run, Root: run}
	return e
}

func sequence(events ...wire.Event) iter.Seq2[wire.Event, error] {
	return func(yield func(wire.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// compared returns the comparisons of two records in short, sorted.
func compared(t interface{ Fatal(...any) }, was, is []wire.Event) []string {
	var all []string
	for c, err := range wire.Diff(sequence(was...), sequence(is...)) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, brief(c))
	}
	slices.Sort(all)
	return all
}

func brief(c wire.Comparison) string {
	text := fmt.Sprintf("%s:%d %s:%d %v %s", c.Was.Run.ID, c.Was.Seq, c.Is.Run.ID, c.Is.Seq, c.Status, c.Why)
	return strings.TrimSpace(text)
}

func TestDiffComparesFires(t *testing.T) {
	denied := func(e wire.Event) wire.Event { e.Decision, e.By = "Refuse", "guard"; return e }
	failing := func(e wire.Event) wire.Event {
		e.Decision, e.Error, e.Failures = "Error", "x", []wire.Failure{{By: "guard", Site: "a.go:1", Cause: "x"}}
		return e
	}
	json := func(e wire.Event, payload, final string) wire.Event {
		e.Payload, e.Final = []byte(payload), []byte(final)
		return e
	}
	collecting := func(e wire.Event, texts string) wire.Event { e.Collected = []byte(texts); return e }
	const missing, added = "the second record does not have the fire", "the first record does not have the fire"
	a1, a2, b1 := fire("a", 1, "x"), fire("a", 2, "y"), fire("b", 3, "x")
	allSame := []string{"a:1 a:1 same", "a:2 a:2 same", "b:3 b:3 same"}
	oneSame := []string{"a:1 a:1 same"}
	for _, c := range []struct {
		name    string
		was, is []wire.Event
		want    []string
	}{
		{"nothing", nil, nil, nil},
		{"the same", []wire.Event{a1, a2, b1}, []wire.Event{a1, a2, b1}, allSame},
		{"another order", []wire.Event{a1, a2, b1}, []wire.Event{b1, a2, a1}, allSame},
		{"another decision", []wire.Event{a1, a2}, []wire.Event{a1, denied(a2)},
			[]string{"a:1 a:1 same", "a:2 a:2 changed the decision was continue and is Refuse"}},
		{"a failure", []wire.Event{a1}, []wire.Event{failing(a1)},
			[]string{"a:1 a:1 failed the hook guard (a.go:1) failed: x"}},
		{"a failure before", []wire.Event{failing(a1)}, []wire.Event{a1},
			[]string{"a:1 a:1 changed the decision was Error and is continue"}},
		{"a fire less", []wire.Event{a1, a2}, []wire.Event{a1}, []string{"a:1 a:1 same", "a:2 :0 missing " + missing}},
		{"a fire more", []wire.Event{a1}, []wire.Event{a1, a2}, []string{":0 a:2 added " + added, "a:1 a:1 same"}},
		{"a run less", []wire.Event{a1, b1}, []wire.Event{b1}, []string{"a:1 :0 missing " + missing, "b:3 b:3 same"}},
		{"another payload", []wire.Event{a1}, []wire.Event{fire("a", 1, "z")},
			[]string{":0 a:1 added " + added, "a:1 :0 missing " + missing}},
		{"other IDs", []wire.Event{a1, b1, a2}, []wire.Event{fire("c", 1, "x"), fire("c", 2, "y"), fire("d", 3, "x")},
			[]string{"a:1 c:1 same", "a:2 c:2 same", "b:3 d:3 same"}},
		{"other IDs with other beginnings", []wire.Event{a1, a2}, []wire.Event{fire("c", 1, "y"), fire("c", 2, "x")},
			[]string{":0 c:1 added " + added, ":0 c:2 added " + added,
				"a:1 :0 missing " + missing, "a:2 :0 missing " + missing}},
		{"IDs count before the order", []wire.Event{a1, b1}, []wire.Event{fire("b", 1, "x"), fire("c", 2, "x")},
			[]string{"a:1 c:2 same", "b:3 b:1 same"}},
		{"equal fires", []wire.Event{a1, fire("a", 2, "x")}, []wire.Event{a1, denied(fire("a", 2, "x"))},
			[]string{"a:1 a:1 same", "a:2 a:2 changed the decision was continue and is Refuse"}},
		{"no run", []wire.Event{fire("", 1, "x"), fire("", 2, "y")}, []wire.Event{fire("", 1, "y"), fire("", 2, "x")},
			[]string{":1 :2 same", ":2 :1 same"}},
		{"JSON written in another way",
			[]wire.Event{json(a1, `{"A":"<\n>","B":[1,{"C":null}]}`, `{"D":1.50,"E":true}`)},
			[]wire.Event{json(a1, ` { "B":[1, {"C":null}],"A":"\u003c\u000a>"}`, `{"E":true, "D":1.50}`)}, oneSame},
		{"another number", []wire.Event{json(a1, `9007199254740993`, "")}, []wire.Event{json(a1, `9007199254740992`, "")},
			[]string{":0 a:1 added " + added, "a:1 :0 missing " + missing}},
		{"another final payload", []wire.Event{json(a1, `1`, `2`)}, []wire.Event{json(a1, `1`, `3`)},
			[]string{"a:1 a:1 changed the payload after the hooks was 2 and is 3"}},
		{"other contributions", []wire.Event{collecting(a1, `["x"]`)}, []wire.Event{a1},
			[]string{`a:1 a:1 changed the list of contributions was ["x"] and is absent`}},
		{"a payload that is not JSON", []wire.Event{json(a1, `{"a`, "")}, []wire.Event{json(a1, `{"a`, "")}, oneSame},
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
		var was, is [][]wire.Event // by run
		var want []string
		renamed := rapid.Bool().Draw(t, "renamed")
		for r := range rapid.IntRange(0, 5).Draw(t, "runs") {
			id, other := fmt.Sprint("run", r), fmt.Sprint("run", r)
			if renamed {
				other = fmt.Sprint("new", r)
			}
			var before, after []wire.Event
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
		for c, err := range wire.Diff(sequence(interleaved(t, was)...), sequence(interleaved(t, is)...)) {
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
func interleaved(t *rapid.T, runs [][]wire.Event) []wire.Event {
	left := slices.DeleteFunc(slices.Clone(runs), func(r []wire.Event) bool { return len(r) == 0 })
	var all []wire.Event
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
	read := func(text string) iter.Seq2[wire.Event, error] { return wire.ReadLog(strings.NewReader(text)) }
	for c, err := range wire.Diff(read(good+"x\n"), read("{\n"+good)) {
		var at *wire.LineError
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
	was, is := []wire.Event{fire("a", 1, "x"), fire("b", 2, "y")}, []wire.Event{fire("a", 1, "x"), fire("c", 2, "z")}
	for stop := 1; stop <= 3; stop++ {
		n := 0
		for range wire.Diff(sequence(was...), sequence(is...)) {
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
	record := func(name string, has func(run, fire int) bool) iter.Seq2[wire.Event, error] {
		return func(yield func(wire.Event, error) bool) {
			for n := range runs * fires {
				r, f := n/fires, n%fires
				e := fire(fmt.Sprint(name, r), int64(n), "")
				step := fmt.Sprint(n)
				if f == 0 {
					step = fmt.Sprint("begin ", name == "c") // all runs begin in the same way
				}
				e.Payload = fmt.Appendf(nil, `{"Step":"%s","Text":"%s"}`, step, text)
				if has(r, f) && !yield(e, nil) {
					return
				}
			}
		}
	}
	all := func(int, int) bool { return true }
	early := func(r, f int) bool { return r%4 > 0 || f < 4 }
	for _, c := range []struct {
		name, other string
		has         func(run, fire int) bool
		want        map[wire.Status]int
	}{
		{"the same IDs", "a", early, map[wire.Status]int{wire.Same: runs*fires - runs/4*16, wire.Missing: runs / 4 * 16}},
		{"other IDs", "b", early, map[wire.Status]int{wire.Same: runs*fires - runs/4*16, wire.Missing: runs / 4 * 16}},
		{"other beginnings", "c", all, map[wire.Status]int{wire.Missing: runs * fires, wire.Added: runs * fires}},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := heap()
			got := map[wire.Status]int{}
			var used uint64
			n := 0
			for c, err := range wire.Diff(record("a", all), record(c.other, c.has)) {
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
	was, is := []wire.Event{fire("x", 1, "begin")}, []wire.Event{}
	long := fire("", 0, strings.Repeat("x", 1<<20)).Payload
	for r := range runs {
		id, seq := fmt.Sprint("run", r), int64(r+2)
		more := fire(id, 1000, "")
		more.Payload = long
		was = append(was, fire(id, seq, "begin"), more)
		is = append(is, fire(id, seq, "begin"))
	}
	got := map[string]int{}
	for c := range wire.Diff(sequence(was...), sequence(is...)) {
		got[c.Status.String()]++
		if c.Status == wire.Same && c.Was.Run.ID != c.Is.Run.ID {
			t.Errorf("%s is compared with %s", c.Was.Run.ID, c.Is.Run.ID)
		}
	}
	if want := map[string]int{"same": runs, "missing": runs + 1}; !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestDiffBoundsItsRuns compares records with very many runs, of which some come back.
func TestDiffBoundsItsRuns(t *testing.T) {
	record := func(yield func(wire.Event, error) bool) {
		for i := range 150_000 {
			if !yield(fire(fmt.Sprint(i%100_000), int64(i), "x"), nil) {
				return
			}
		}
	}
	before := heap()
	same := 0
	var used uint64
	for c, err := range wire.Diff(record, record) {
		if err != nil {
			t.Fatal(err)
		}
		if c.Status == wire.Same && c.Was.Seq == c.Is.Seq {
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
	record := func(payload string) iter.Seq2[wire.Event, error] {
		return func(yield func(wire.Event, error) bool) {
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
	for c, err := range wire.Diff(record(`{"k":1,"k":2}`), record(`{"k":2,"k":1}`)) {
		if err != nil {
			t.Fatal(err)
		}
		if c.Status == wire.Missing || c.Status == wire.Added {
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
			for _, err := range wire.ReadLog(strings.NewReader(text)) {
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
			for c, err := range wire.Diff(wire.ReadLog(strings.NewReader(texts[0])), wire.ReadLog(strings.NewReader(texts[1]))) {
				if err != nil {
					damaged++
					continue
				}
				if c.Status != wire.Added {
					was++
				}
				if c.Status != wire.Missing {
					is++
				}
				if texts[0] == texts[1] && c.Status != wire.Same {
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

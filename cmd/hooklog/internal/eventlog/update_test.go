package eventlog_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/cmd/hooklog/internal/eventlog"
	"github.com/hookgen/hookgen/hookkit/hooklog"
	"github.com/hookgen/hookgen/hookkit/wire"
)

// TestUpdateReportsDamage reads records with a good first line and a good last one, and others between or after them.
func TestUpdateReportsDamage(t *testing.T) {
	first, last := line(event(1, "a")), line(event(2, "b"))
	newer := event(1, "c")
	newer.Protocol = wire.Protocol + 1
	named := event(1, strings.Repeat("n", 5000))
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"two events", first + last, "a@1 b@2 "},
		{"no last line break", first + strings.TrimSpace(last), "a@1 b@2 "},
		{"empty lines", "\n" + first + "\r\n\n \n" + last + "\n\n", "a@2 b@6 "},
		{"a half-written last line", first + last[:30], "a@1 [run.jsonl:2: it is incomplete"},
		{"a half-written line", first + first[:30] + "\n" + last, "a@1 b@3 [run.jsonl:2: it is not an event"},
		{"two writers in one line", first[:30] + first + first[30:] + last,
			"b@3 [run.jsonl:1: it is not an event*][run.jsonl:2: it is not an event"},
		{"two events in one line", strings.TrimSpace(first) + first + last, "b@2 [run.jsonl:1: it is not an event"},
		{"zeros of a power failure", first + strings.Repeat("\x00", 512) + "\n" + last,
			"a@1 b@3 [run.jsonl:2: it is not an event"},
		{"another version", first + line(newer) + last, "a@1 b@3 [run.jsonl:2: it was written by version 2 of the protocol"},
		{"another JSON object", first + "{}\n" + last, "a@1 b@3 [run.jsonl:2: it is not an event"},
		{"a long line", first + strings.Repeat("x", hooklog.MaxLine+100) + "\n" + last,
			fmt.Sprintf("a@1 b@3 [run.jsonl:2: it has %d bytes, more than %d]", hooklog.MaxLine+100, hooklog.MaxLine)},
		{"a very long line", strings.Repeat("x", 5*hooklog.MaxLine) + "\n" + first,
			"a@2 [run.jsonl:1: it has 83886080 bytes"},
		{"a long last line", first + strings.Repeat("x", 3*hooklog.MaxLine), "a@1 [run.jsonl:2: it is incomplete"},
		{"a long name", line(named) + last, "b@2 [run.jsonl:1: it has a name of 5000 bytes, more than 4096]"},
		{"events of any order", line(event(7, "a")) + line(event(3, "b")) + line(event(5, "a")), "a@1 b@2 a@3 "},
	} {
		t.Run(c.name, func(t *testing.T) {
			x, _ := open(t, c.text)
			got := shown(t, x)
			for _, part := range strings.Split(c.want, "*") {
				before, after, ok := strings.Cut(got, part)
				if !ok || c.want == "" && got != "" || part == c.want && before != "" {
					t.Fatalf("got %q, want %q", shown(t, x), c.want)
				}
				got = after
			}
		})
	}
}

// TestLongLinesNeedLittleMemory reads a line that another program wrote. The file is sparse, so it needs no disk.
func TestLongLinesNeedLittleMemory(t *testing.T) {
	const size = 1 << 28
	x, path := open(t, lines("a"))
	if err := os.Truncate(path, int64(len(lines("a")))+size); err != nil {
		t.Skip(err)
	}
	appendTo(t, path, "\n"+lines("b"))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	update(t, x)
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 8*hooklog.MaxLine {
		t.Errorf("%d bytes of memory", used)
	}
	want := fmt.Sprintf("a@1 b@3 [run.jsonl:2: it has %d bytes, more than %d]", size, hooklog.MaxLine)
	if got := shown(t, x); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestUpdateFollowsAFile cuts a record into two parts at every byte, and reads it after each.
func TestUpdateFollowsAFile(t *testing.T) {
	text := lines("a", "b") + "\n" + "{\n" + lines("c")
	whole, _ := open(t, text)
	want := shown(t, whole)
	for i := range text {
		x, path := open(t, text[:i])
		appendTo(t, path, text[i:])
		update(t, x)
		if got := shown(t, x); got != want {
			t.Errorf("cut at byte %d: got %q, want %q", i, got, want)
		}
	}
}

func TestUpdateReportsTextAfterAnEvent(t *testing.T) {
	x, path := open(t, strings.TrimSpace(lines("a")))
	for range 3 {
		appendTo(t, path, "x")
		update(t, x)
	}
	appendTo(t, path, "\n"+lines("b"))
	update(t, x)
	want := "a@1 b@2 [run.jsonl:1: it is not an event: invalid character 'x' looking for beginning of value]"
	if got := shown(t, x); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestUpdateFollowsARotation(t *testing.T) {
	x, path := open(t, lines("a", "b"))
	first := x.Status().Generation
	appendTo(t, path, lines("c")+"{")
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	update(t, x) // the new file does not exist yet
	write(t, path, lines("d"))
	update(t, x)
	appendTo(t, path, lines("a")+"{\n")
	update(t, x)
	want := "a@1 b@2 c@3 d@1 a@2 [run.jsonl:4: it is incomplete; its writer was killed, or is still writing]" +
		"[run.jsonl (after rotation 1):3: it is not an event: unexpected end of JSON input]"
	if got := shown(t, x); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if s := x.Status(); s.Generation != first {
		t.Errorf("the generation is %d, and was %d", s.Generation, first)
	}
}

func TestUpdateReadsFilesOfSeveralRotations(t *testing.T) {
	x, path := open(t, lines("a"))
	first := x.Status().Generation
	appendTo(t, path, lines("b"))
	if err := os.Rename(path, path+".2"); err != nil {
		t.Fatal(err)
	}
	write(t, path+".1", lines("c"))
	write(t, path, lines("d"))
	update(t, x)
	if got, want := shown(t, x), "a@1 b@2 c@1 d@1 "; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if s := x.Status(); s.Generation != first {
		t.Errorf("the generation is %d, and was %d", s.Generation, first)
	}
}

// TestUpdateReadsRotatedFileToItsEnd has a writer that appends and rotates without a pause. Whatever the moment in
// which the index looks, it must find each event once.
func TestUpdateReadsRotatedFileToItsEnd(t *testing.T) {
	x, path := open(t, lines("0"))
	const rotations, keep = 40, 50
	written := make(chan struct{})
	go func() {
		defer close(written)
		for n := range rotations {
			appendTo(t, path, strings.Repeat(lines(fmt.Sprint(n)), 20))
			for i := min(n+1, keep); i > 0; i-- {
				rename(t, rotatedName(path, i-1), rotatedName(path, i))
			}
			write(t, path, lines(fmt.Sprint(n)))
		}
	}()
	defer func() { <-written }()
	for writing := true; writing; update(t, x) {
		select {
		case <-written:
			writing = false
		default:
		}
	}
	if s := x.Status(); s.Events != 1+21*rotations || len(s.Problems) > 0 {
		t.Errorf("%d events and the problems %v, want %d", s.Events, s.Problems, 1+21*rotations)
	}
}

func TestUpdateReadsOlderFilesAgain(t *testing.T) {
	x, path := open(t, lines("a"))
	rename(t, path, path+".1")
	write(t, path, lines("b", "c"))
	update(t, x)
	write(t, path, lines("d"))
	update(t, x)
	if got := shown(t, x); !strings.HasPrefix(got, "a@1 d@1 [run.jsonl: it was changed") {
		t.Errorf("got %q", got)
	}
}

func rotatedName(path string, n int) string {
	if n == 0 {
		return path
	}
	return fmt.Sprintf("%s.%d", path, n)
}

func rename(t testing.TB, from, to string) {
	if err := os.Rename(from, to); err != nil {
		t.Error(err)
	}
}

func TestOpenReadsRotatedFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.jsonl")
	write(t, path+".2", lines("a", "b")+"{")
	write(t, path+".1", lines("c"))
	write(t, path, lines("d"))
	x, err := eventlog.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	update(t, x)
	want := "a@1 b@2 c@1 d@1 [run.jsonl.2:3: it is incomplete; its writer was killed, or is still writing]"
	if got := shown(t, x); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestUpdateReadsAShorterFileAgain(t *testing.T) {
	for _, c := range []struct{ name, before, after, want string }{
		{"shorter", lines("a", "b"), lines("c"), "c@1 "},
		{"empty", lines("a", "b"), "", ""},
		{"the beginning of a line", lines("a", "b"), lines("c")[:50], ""},
		{"longer with another beginning", lines("a"), lines("c", "d", "e"), "c@1 d@2 e@3 "},
	} {
		t.Run(c.name, func(t *testing.T) {
			x, path := open(t, c.before)
			first := x.Status().Generation
			write(t, path, c.after)
			update(t, x)
			got := shown(t, x)
			if !strings.HasPrefix(got, c.want+"[run.jsonl: it was changed or became shorter") {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if s := x.Status(); s.Generation == first || s.Read != s.Size || s.Size != int64(len(c.after)) {
				t.Errorf("generation %d, read %d of %d bytes", s.Generation, s.Read, s.Size)
			}
		})
	}
}

func TestEventOfAChangedFileFails(t *testing.T) {
	x, path := open(t, lines("a", "b"))
	write(t, path, lines("c"))
	if _, _, err := x.Event(1); !errors.Is(err, eventlog.ErrChanged) {
		t.Errorf("got the error %v", err)
	}
	if _, _, err := x.Event(2); err == nil {
		t.Error("an event that does not exist was read")
	}
}

func TestUpdateKeepsFewProblems(t *testing.T) {
	x, _ := open(t, strings.Repeat("x\n", 100_000))
	if s := x.Status(); len(s.Problems) != 100 || s.More != 99_900 {
		t.Errorf("%d problems and %d more", len(s.Problems), s.More)
	}
}

func TestOpenRefusesOtherFiles(t *testing.T) {
	if _, err := eventlog.Open(t.TempDir()); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("got the error %v", err)
	}
}

func TestChangedReportsNewEvents(t *testing.T) {
	x, path := open(t, lines("a"))
	changed := x.Changed()
	update(t, x)
	select {
	case <-changed:
		t.Error("a change was reported, and nothing was written")
	default:
	}
	appendTo(t, path, lines("b"))
	update(t, x)
	<-changed
}

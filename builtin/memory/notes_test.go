package memory

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop/looptest"
)

var notesTime = time.Date(2030, 1, 2, 3, 4, 59, 0, time.UTC)

// forEachNotes runs a test with each implementation of Notes.
func forEachNotes(t *testing.T, bound limit.Bound[int], f func(t *testing.T, n *Notes)) {
	clock := looptest.NewClock(notesTime)
	t.Run("here", func(t *testing.T) { f(t, &Notes{MaxChars: bound, Clock: clock}) })
	t.Run("in a file", func(t *testing.T) {
		n := &Notes{Path: filepath.Join(t.TempDir(), "deep", "notes.md")}
		n.MaxChars, n.Clock = bound, clock
		f(t, n)
	})
}

func appendNotes(t *testing.T, n *Notes, text, heading string) {
	t.Helper()
	if err := n.Append(t.Context(), text, heading); err != nil {
		t.Fatal(err)
	}
}

func tailOfNotes(t *testing.T, n *Notes, chars int) string {
	t.Helper()
	text, err := n.Tail(t.Context(), chars)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestNotesAreAppendedUnderHeadings(t *testing.T) {
	forEachNotes(t, 0, func(t *testing.T, n *Notes) {
		for _, note := range [][2]string{
			{"first\n\n", ""}, {" \n", ""}, {"second\r\nline", ""}, {"third", "To\ndo"}, {"", "Empty"}, {"last\xff", " "},
		} {
			appendNotes(t, n, note[0], note[1])
		}
		want := "first\nsecond\nline\n\n## To do (2030-01-02 03:04)\nthird\n\n## Empty (2030-01-02 03:04)\nlast\ufffd"
		if got := tailOfNotes(t, n, -1); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	})
}

func TestNotesTailBeginsWithFullLine(t *testing.T) {
	forEachNotes(t, limit.None, func(t *testing.T, n *Notes) {
		if got := tailOfNotes(t, n, 10); got != "" {
			t.Errorf("of no notes: %q", got)
		}
		appendNotes(t, n, "äöü\nzweite\ndritte Zeile", "")
		for chars, want := range map[int]string{
			0: "", 5: "eile", 13: "dritte Zeile", 14: "dritte Zeile", 19: "dritte Zeile", 20: "zweite\ndritte Zeile",
			23: "zweite\ndritte Zeile", 24: "äöü\nzweite\ndritte Zeile", 1000: "äöü\nzweite\ndritte Zeile",
		} {
			if got := tailOfNotes(t, n, chars); got != want {
				t.Errorf("the last %d: %q, want %q", chars, got, want)
			}
		}
	})
}

func TestNotesKeepNewestWithinBound(t *testing.T) {
	forEachNotes(t, 100, func(t *testing.T, n *Notes) {
		for i := range 200 {
			appendNotes(t, n, fmt.Sprintf("note %d ä", i), []string{"", "h"}[i%2])
			got := tailOfNotes(t, n, -1) + "\n"
			if utf8.RuneCountInString(got) > 100 {
				t.Fatalf("after note %d there are %d characters", i, utf8.RuneCountInString(got))
			}
			if !strings.HasSuffix(got, fmt.Sprintf("note %d ä\n", i)) {
				t.Fatalf("note %d is lost: %q", i, got)
			}
			rest, cut := strings.CutPrefix(got, "(earlier notes truncated)\n")
			if cut != (i > 4) || strings.Contains(rest, "truncated") || !strings.HasPrefix(rest, "note ") &&
				!strings.HasPrefix(rest, "## h") {
				t.Fatalf("after note %d: %q", i, got)
			}
		}
	})
}

func TestLongNoteKeepsItsEnd(t *testing.T) {
	for bound, want := range map[int]string{40: "(earlier notes truncated)\n7890123456789", 10: "123456789", 1: ""} {
		t.Run(fmt.Sprint(bound), func(t *testing.T) {
			forEachNotes(t, limit.AtMost(bound), func(t *testing.T, n *Notes) {
				appendNotes(t, n, strings.Repeat("0123456789", 5000), "")
				if got := tailOfNotes(t, n, -1); !strings.HasSuffix(got, want) || utf8.RuneCountInString(got) > bound {
					t.Errorf("bound %d: %q, want the end %q", bound, got, want)
				}
			})
		})
	}
}

func TestNotesDefaultBoundIs64KiCharacters(t *testing.T) {
	forEachNotes(t, 0, func(t *testing.T, n *Notes) {
		line := strings.Repeat("ä", 99)
		appendNotes(t, n, strings.TrimSuffix(strings.Repeat(line+"\n", 655), "\n"), "")
		if got := tailOfNotes(t, n, -1); strings.Contains(got, "truncated") || utf8.RuneCountInString(got) != 65_499 {
			t.Errorf("%d characters", utf8.RuneCountInString(got))
		}
		appendNotes(t, n, line, "")
		if got := tailOfNotes(t, n, -1); !strings.HasPrefix(got, "(earlier notes truncated)\n"+line+"\n") ||
			utf8.RuneCountInString(got) > 65_536 {
			t.Errorf("%d characters: %.60q", utf8.RuneCountInString(got), got)
		}
	})
}

func TestNotesAreSafeForConcurrentUse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notes.md")
	one := &Notes{Path: path}
	two := &Notes{Path: path}
	text := &Notes{}
	var all sync.WaitGroup
	for w, n := range []*Notes{one, two, one, two, text, text} {
		all.Go(func() {
			for i := range 20 {
				if err := n.Append(t.Context(), fmt.Sprintf("<%d %d>", w, i), "h"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if got := tailOfNotes(t, one, -1); strings.Count(got, "<") != 80 || strings.Count(got, ">\n") != 79 {
		t.Errorf("got %d notes", strings.Count(got, "<"))
	}
	if got := tailOfNotes(t, text, -1); strings.Count(got, "<") != 40 {
		t.Errorf("got %d notes", strings.Count(got, "<"))
	}
}

func TestEditedNotesFileIsReadUnchanged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notes.md")
	if err := os.WriteFile(path, []byte("by hand"), 0o644); err != nil {
		t.Fatal(err)
	}
	n := &Notes{Path: path}
	appendNotes(t, n, "by an agent", "")
	if got := tailOfNotes(t, n, -1); got != "by hand\nby an agent" {
		t.Errorf("got %q", got)
	}
}

func TestNotesFileIsReadableOnlyByOwner(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notes.md")
	n := &Notes{Path: path}
	n.MaxChars = 50
	for range 2 { // first appended, then replaced
		appendNotes(t, n, strings.Repeat("x", 40), "")
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info, err)
		}
	}
}

func TestEndlessNotesAreAppended(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notes.md")
	if err := os.WriteFile(path, []byte("by hand"), 0o644); err != nil {
		t.Fatal(err)
	}
	n := &Notes{Path: path}
	n.MaxChars = limit.None
	appendNotes(t, n, "by an agent", "")
	appendNotes(t, n, strings.Repeat("x", notesBound), "")
	data, err := os.ReadFile(path)
	if want := "by hand\nby an agent\nxxx"; err != nil || !strings.HasPrefix(string(data), want) ||
		len(data) != len(want)-3+notesBound+1 {
		t.Errorf("%d bytes, %.40q, %v", len(data), data, err)
	}
}

func TestEmptyNotesChangeNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notes.md")
	n := &Notes{Path: path}
	appendNotes(t, n, " \n", " ")
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the file was made: %v", err)
	}
}

func TestNotesFileMayBeALink(t *testing.T) {
	dir := t.TempDir()
	path, to := filepath.Join(dir, "notes.md"), filepath.Join(dir, "elsewhere.md")
	if err := os.WriteFile(to, []byte("by hand\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(to, path); err != nil {
		t.Skip(err)
	}
	n := &Notes{Path: path}
	appendNotes(t, n, "by an agent", "")
	if data, err := os.ReadFile(to); err != nil || string(data) != "by hand\nby an agent\n" {
		t.Errorf("the file has %q, %v", data, err)
	}
}

func TestInvalidNotesAreRefused(t *testing.T) {
	forEachNotes(t, -1, func(t *testing.T, n *Notes) {
		if err := n.Append(t.Context(), "x", ""); err == nil || !strings.Contains(err.Error(), "MaxChars is -1") {
			t.Errorf("the error is %v", err)
		}
	})
	forEachNotes(t, 0, func(t *testing.T, n *Notes) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := n.Append(ctx, "x", ""); err == nil {
			t.Error("a note was written after the run")
		}
		if _, err := n.Tail(ctx, 1); err == nil {
			t.Error("the notes were read after the run")
		}
		if got := tailOfNotes(t, n, -1); got != "" {
			t.Errorf("the notes are %q", got)
		}
	})
	text := fixture.UsePanic(&NotesInjector{Notes: new(Notes), MaxChars: -1})
	if !strings.Contains(text, "MaxChars is -1") {
		t.Errorf("panicked with %q", text)
	}
}

func TestFailingNotesReturnErrors(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink(filepath.Join(dir, "loop"), filepath.Join(dir, "loop")); err == nil {
		n := &Notes{Path: filepath.Join(dir, "loop")}
		if _, err := n.Tail(t.Context(), 10); err == nil || !strings.Contains(err.Error(), "cannot be read") {
			t.Errorf("a link to itself: %v", err)
		}
	}
	device := &Notes{Path: os.DevNull}
	if _, err := device.Tail(t.Context(), 10); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a device: %v", err)
	}
	n := &Notes{Path: filepath.Join(dir, "notes.md")}
	if err := os.Mkdir(filepath.Join(dir, "notes.md"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := n.Append(t.Context(), "x", ""); err == nil {
		t.Error("a note was written into a directory")
	}
	if _, err := n.Tail(t.Context(), 10); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a directory was read: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "notes.md.d"), nil, 0o600); err != nil { // a file in place of the directory
		t.Fatal(err)
	}
	for _, chars := range []int{-1, 10} {
		if _, err := n.Tail(as(t, annOne), chars); err == nil {
			t.Error("notes of an owner were read")
		}
	}
	if err := n.Append(as(t, annOne), "x", ""); err == nil {
		t.Error("notes of an owner were written")
	}
}

func TestNotesInjectorAddsTailToEveryPrompt(t *testing.T) {
	notes := &Notes{}
	appendNotes(t, notes, "old line\nnew line", "")
	ran := looptest.Harness{
		Turns: []looptest.Turn{looptest.Call("note", nil), looptest.Reply("ok")},
		Tools: []agent.Tool{&looptest.Tool{Name: "note", Result: "noted"}},
		Hooks: []agent.Hook{
			&NotesInjector{Notes: notes, MaxChars: 12},
			&NotesInjector{Notes: notes, Header: "# All", MaxChars: limit.None},
			&NotesInjector{Notes: &Notes{}},
			agent.BeforeToolFunc(func(ctx context.Context, _ *agent.Run, _ agent.ToolCallRequest) (agent.BeforeToolOutcome,
				error) {
				return nil, notes.Append(ctx, "during the run", "")
			}),
		},
	}.Run(t, "x")
	for i, req := range ran.Script.Requests() {
		if got, want := req.Messages[len(req.Messages)-1].Content,
			"## Notes\nnew line\n\n# All\nold line\nnew line"; got != want {
			t.Errorf("prompt %d: %q, want %q", i, got, want)
		}
	}
	for _, m := range ran.Messages {
		if strings.Contains(m.Content, "line") {
			t.Errorf("the stored conversation holds %q", m.Content)
		}
	}
}

func TestNotesInjectorWithoutNotesPanicsInBind(t *testing.T) {
	defer func() {
		if got := fmt.Sprint(recover()); !strings.Contains(got, "NotesInjector: Notes is nil; give") {
			t.Errorf("panicked with %q", got)
		}
	}()
	new(agent.Hooks).Use(&NotesInjector{})
}

package hooktest

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/hooklog"
	"github.com/hookgen/hookgen/internal/atomicfile"
	"github.com/hookgen/hookgen/internal/terminal"
)

var accept = flag.Bool("hooktest.update", false, "let hooktest.Replay write the decisions of the hooks to the record")

// Replay fires the payloads of a record at hooks and fails the test at the first decision that is not the recorded one.
// For example, a guard once let a dangerous command pass. The record of that day becomes the file of a test, and the
// decision in it is the right one from now on:
//
//	func TestIncidents(t *testing.T) {
//		hooks := new(agent.Hooks)
//		hooks.Use(shell.Guard{})
//		hooktest.Replay(t, "testdata/incident.jsonl", hooks)
//	}
//
// To accept the decisions of the hooks, run the test with -hooktest.update. If the test package defines a flag -update
// of its own, that one works too. The file is then replaced in one step. Compare it with the old one before you commit
// it.
//
// The test also fails if the file has no event, a line that is not an event, or an event that cannot be compared, for
// example of a point that no longer exists. Such a file must be repaired by hand. [hooklog.Replay] says which decisions
// count as the same, and explains the options.
func Replay(
	t testing.TB, path string, hooks interface{ Points() []hookkit.AnyPoint }, opts ...hooklog.ReplayOption,
) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatalf("%v; record a run with hooklog.Open", err)
	}
	defer func() { _ = file.Close() }()
	var (
		updated bytes.Buffer
		sink    = hooklog.Lines(&updated)
		update  = *accept || ownFlag()
		changes = 0
		count   = 0
	)
	for c, err := range hooklog.Replay(t.Context(), hooklog.Read(file), hooks.Points(), opts...) {
		switch {
		case err != nil:
			t.Errorf("%s: %v", path, err)
			return
		case c.Status == hooklog.NotComparable:
			t.Errorf("%s: %s", path, describe(c))
			return
		case c.Status != hooklog.Same && !update:
			t.Errorf("%s: %s\nrun the test with -hooktest.update to accept the decision", path, describe(c))
			return
		case c.Status != hooklog.Same:
			t.Logf("%s: accepted: %s", path, describe(c))
			changes++
		}
		count++
		if err := sink.WriteEvent(context.Background(), accepted(c)); err != nil {
			t.Errorf("%s: %v", path, err)
			return
		}
	}
	if count == 0 {
		t.Errorf("%s has no event, so the test compares nothing", path)
	}
	if changes > 0 {
		info, err := file.Stat()
		if err == nil {
			err = atomicfile.Replace(path, updated.Bytes(), info.Mode().Perm())
		}
		if err != nil {
			t.Error(err)
		}
	}
}

// ownFlag reports whether the test package has a flag -update that is set.
func ownFlag() bool {
	f := flag.Lookup("update")
	return f != nil && f.Value.String() == "true"
}

// accepted returns the event with the decision of the replay.
func accepted(c hooklog.Comparison) hooklog.Event {
	if c.Status == hooklog.Same {
		return c.Was
	}
	e := c.Is
	e.Seq, e.Time, e.Elapsed, e.Payload = c.Was.Seq, c.Was.Time, c.Was.Elapsed, c.Was.Payload
	return e
}

// describe returns a comparison for people, in several lines.
func describe(c hooklog.Comparison) string {
	const most = 300
	payload := string(c.Was.Payload)
	if len(payload) > most {
		payload = fmt.Sprintf("%.*s... (%d bytes)", most, payload, len(payload))
	}
	text := fmt.Sprintf("event %d, %s in the run %q: %s\npayload %s", c.Was.Seq, c.Was.Point, c.Was.Run.ID,
		terminal.Escape(c.Why), terminal.Escape(payload))
	if c.Status == hooklog.NotComparable {
		return text
	}
	return fmt.Sprintf("%s\nwas %s\nis  %s", text, decision(c.Was), decision(c.Is))
}

// decision returns the decision of an event in one line.
func decision(e hooklog.Event) string {
	line := terminal.Escape(e.Decision)
	if e.By != "" {
		line += fmt.Sprintf(" by %s (%s)", terminal.Escape(e.By), terminal.Escape(e.Site))
	}
	if e.Reason != "" {
		line += fmt.Sprintf(", %q", e.Reason)
	}
	return line
}

package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/hookgen/hookgen/cmd/hooklog/internal/numbers"
	"github.com/hookgen/hookgen/hookkit/hooklog"
)

func TestManyDamagedLinesAreCounted(t *testing.T) {
	text := strings.Repeat("x\n", mostReports+1234) + lineOf(event(1))
	var out, reports strings.Builder
	i := &invocation{stdin: strings.NewReader(text), stdout: &out, stderr: &reports}
	if code := i.run(t.Context(), []string{"show", "-json", "-"}); code != findings {
		t.Errorf("the exit code is %d", code)
	}
	lines := strings.Split(reports.String(), "\n")
	if len(lines) != mostReports+3 { // with two lines of numbers, and the end of the last one
		t.Errorf("%d lines of reports", len(lines))
	}
	want := "standard input: 1,234 more damaged lines\nhooklog: 1 event in 1 file, 1,284 damaged lines\n"
	if !strings.HasSuffix(reports.String(), want) {
		t.Errorf("the reports end with %q", lines[len(lines)-4:])
	}
}

func TestFilesThatCannotBeReadAreTrouble(t *testing.T) {
	broken := io.MultiReader(strings.NewReader(lineOf(event(1))+`{"pro`), iotest.ErrReader(errors.New("broken disk\x1b")))
	for _, command := range []string{"show", "stats"} {
		t.Run(command, func(t *testing.T) {
			var out, reports strings.Builder
			i := &invocation{stdin: broken, stdout: &out, stderr: &reports}
			code := i.run(t.Context(), []string{command, "-"})
			want := "standard input: it cannot be read: broken disk\\x1b\n"
			if code != trouble || !strings.HasPrefix(reports.String(), want) {
				t.Errorf("the exit code is %d, and the reports are %q", code, reports.String())
			}
		})
	}
}

// A record whose writer is hostile has another point, hook and decision in each event.
func TestHostileDifferencesNeedBoundedMemory(t *testing.T) {
	before := heap()
	d := newDifferences()
	const count = 20_000
	for i := range count {
		was, is := event(int64(i)), event(int64(i))
		name := fmt.Sprintf("%d%s", i, strings.Repeat("x", 1000))
		was.Point, is.Point, was.Decision, is.Decision, is.By, is.Site = name, name, name, name, name, name
		d.add(hooklog.Comparison{Status: hooklog.Changed, Was: was, Is: is})
	}
	if used := int64(heap()) - int64(before); used > 8<<20 {
		t.Errorf("%d bytes of memory", used)
	}
	// Each point that does not fit any more has its changes in others.
	if len(d.points) != numbers.MostPoints+1 || len(d.changes) > mostChanges+numbers.MostPoints+1 ||
		d.Counts[hooklog.Changed.String()] != count {
		t.Errorf("%d points, %d changes", len(d.points), len(d.changes))
	}
	d.finish()
	var out strings.Builder
	d.print(&out, palette{})
	if !strings.Contains(out.String(), numbers.Others) {
		t.Error("the others are not printed")
	}
}

package eventlog_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookgen/hookgen/cmd/hooklog/internal/eventlog"
)

// openIn returns the names of the files in a directory that this process has open.
func openIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	links, err := filepath.Glob("/proc/self/fd/*")
	if err != nil || links == nil {
		t.Skip("this system does not list the open files of a process")
	}
	for _, l := range links {
		if name, err := os.Readlink(l); err == nil && strings.HasPrefix(name, dir) {
			names = append(names, filepath.Base(name))
		}
	}
	return names
}

// rotate renames the files of a record and begins a new one with an event. It keeps some of the old ones.
func rotate(t *testing.T, path string, n, keep int) {
	t.Helper()
	for i := min(n, keep); i > 0; i-- {
		rename(t, rotatedName(path, i-1), rotatedName(path, i))
	}
	write(t, path, lines(fmt.Sprint(n)))
}

func TestOlderFilesAreClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x, path := open(t, lines("0"))
		for n := range 30 {
			rotate(t, path, n+1, 20)
			update(t, x)
		}
		if names := openIn(t, filepath.Dir(path)); len(names) > 10 {
			t.Errorf("after 30 rotations, %q are open", names)
		}
		time.Sleep(time.Minute) // in the time of this test
		update(t, x)
		if names := openIn(t, filepath.Dir(path)); len(names) != 1 {
			t.Errorf("%q are open, and nobody reads", names)
		}
		for n := range 31 {
			r, _, ok := x.Run(n)
			e, place, err := x.Event(n)
			switch {
			case !ok || r.ID != fmt.Sprint(n) || r.Own.Fires != 1:
				t.Errorf("run %d is %+v", n, r)
			case n < 10 && (err == nil || !strings.Contains(err.Error(), "rotation has removed the file")):
				t.Errorf("event %d is %v, %v", n, e, err)
			case n >= 10 && (err != nil || e.Run.ID != fmt.Sprint(n)):
				t.Errorf("event %d is in %s: %v", n, place.File, err)
			}
		}
		update(t, x)
		if names := openIn(t, filepath.Dir(path)); len(names) > 10 {
			t.Errorf("after reading all events, %q are open", names)
		}
		s := x.Status()
		if len(s.Problems) != 1 || !strings.Contains(s.Problems[0].Text, "rotations have removed older files") {
			t.Errorf("the problems are %v", s.Problems)
		}
	})
}

func TestVeryManyRemovedFilesAreForgotten(t *testing.T) {
	x, path := open(t, lines("0"))
	for n := range 70 {
		rotate(t, path, n+1, 2)
		update(t, x)
	}
	// Files 0 to 64 are removed by rotation 67. Those after it follow.
	if got := shown(t, x); !strings.HasPrefix(got, "65@1 66@1 67@1 ") ||
		!strings.Contains(got, "the runs of files that were removed are not shown any more") {
		t.Errorf("got %q", got)
	}
}

// TestARotatedFileIsReadWhileOthersAreOpened reads events of closed files while a writer renames them.
func TestARotatedFileIsReadWhileOthersAreOpened(t *testing.T) {
	x, path := open(t, lines("0"))
	for n := range 12 {
		rotate(t, path, n+1, 100)
		update(t, x)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for n := range 12 {
			rotate(t, path, n+13, 100)
		}
	}()
	read := func(n int) {
		e, _, err := x.Event(n)
		if err != nil || e.Run.ID != fmt.Sprint(n) {
			t.Errorf("event %d is %v, %v", n, e, err)
		}
	}
	for reading := true; reading; update(t, x) {
		for n := range 12 {
			read(n)
		}
		select {
		case <-done:
			reading = false
		default:
		}
	}
	if found, _ := x.Find(context.Background(), eventlog.Query{Text: "you"}, 1000, 1000); len(found) != 25 {
		t.Errorf("%d events are found", len(found))
	}
}

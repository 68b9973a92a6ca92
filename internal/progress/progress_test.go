package progress_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookgen/hookgen/internal/progress"
)

// A screen is a terminal. Its lines are those that a person sees at the end.
type screen struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *screen) IsTerminal() bool { return true }

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

// String returns everything that was written.
func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// lines plays the output: a carriage return goes to the beginning of the line.
func (s *screen) lines() string {
	var all []string
	for line := range strings.SplitSeq(s.String(), "\n") {
		cells := []rune{}
		at := 0
		for _, r := range line {
			if r == '\r' {
				at = 0
				continue
			}
			cells = append(cells[:at], append([]rune{r}, cells[min(at+1, len(cells)):]...)...)
			at++
		}
		all = append(all, strings.TrimRight(string(cells), " "))
	}
	return strings.Join(all, "\n")
}

func TestLineAppearsAfterTheDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s screen
		l := progress.Start(&s, "tool")
		l.Set(func() string { return "a long first text" })
		time.Sleep(progress.Delay - time.Millisecond)
		synctest.Wait()
		if s.String() != "" {
			t.Errorf("too early: %q", s.String())
		}
		time.Sleep(2 * time.Millisecond)
		synctest.Wait()
		if s.lines() != "tool: a long first text" {
			t.Errorf("the screen has %q", s.lines())
		}
		l.Set(func() string { return "second" })
		time.Sleep(time.Second)
		synctest.Wait()
		if s.lines() != "tool: second" {
			t.Errorf("the screen has %q after a change", s.lines())
		}
		l.Stop()
		l.Stop()
		time.Sleep(time.Minute)
		if s.lines() != "" || strings.Contains(s.String(), "\n") {
			t.Errorf("the screen has %q at the end", s.lines())
		}
	})
}

func TestShortWorkShowsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s screen
		l := progress.Start(&s, "tool")
		l.Set(func() string { return "text" })
		time.Sleep(progress.Delay / 2)
		l.Stop()
		if s.String() != "" {
			t.Errorf("the screen has %q", s.String())
		}
	})
}

func TestOutputRemovesTheLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s screen
		l := progress.Start(&s, "tool")
		l.Set(func() string { return "reading" })
		out := l.Writer(&s)
		wait := func() {
			time.Sleep(2 * progress.Delay)
			synctest.Wait()
		}
		wait()
		_, _ = io.WriteString(out, "one\ntw")
		wait()
		if s.lines() != "one\ntw" {
			t.Errorf("within a line of output, the screen has %q", s.lines())
		}
		_, _ = io.WriteString(out, "o\n")
		wait()
		if s.lines() != "one\ntwo\ntool: reading" {
			t.Errorf("after a line of output, the screen has %q", s.lines())
		}
		l.Stop()
		if s.lines() != "one\ntwo\n" {
			t.Errorf("at the end, the screen has %q", s.lines())
		}
	})
}

func TestLongAndHostileTextsAreOneLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s screen
		l := progress.Start(&s, "tool")
		l.Set(func() string { return "\x1b[2J\n" + strings.Repeat("ä", 200) })
		time.Sleep(2 * progress.Delay)
		synctest.Wait()
		if got := s.lines(); strings.ContainsAny(s.String(), "\x1b\n") || len([]rune(got)) > 78 {
			t.Errorf("the screen has %q", got)
		}
		l.Stop()
	})
}

func TestOtherStreamsShowNothing(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for name, w := range map[string]io.Writer{"a file": file, "memory": new(bytes.Buffer)} {
		t.Run(name, func(t *testing.T) {
			l := progress.Start(w, "tool")
			l.Set(func() string { return "text" })
			if l != nil || l.Writer(w) != w {
				t.Error("it is taken for a terminal")
			}
			l.Stop()
		})
	}
}

func TestBytesAreMegabytesAndPercent(t *testing.T) {
	const mega = 1 << 20
	for want, c := range map[string][2]int64{
		"12 of 300 MB, 4 %": {12 * mega, 300 * mega}, "0 of 0 MB, 50 %": {5, 10}, "1 of 1 MB, 100 %": {5 * mega, mega},
		"7 MB": {7 * mega, 0}, "0 of 8796093022207 MB, 0 %": {0, 1<<63 - 1},
	} {
		t.Run(want, func(t *testing.T) {
			if got := progress.Bytes(c[0], c[1]); got != want {
				t.Errorf("got %q", got)
			}
		})
	}
}

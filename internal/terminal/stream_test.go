package terminal_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/hookgen/hookgen/internal/terminal"
)

// A screen says whether it is a terminal.
type screen bool

func (s screen) IsTerminal() bool { return bool(s) }

func (s screen) Write(p []byte) (int, error) { return len(p), nil }

func TestStreamsAreTerminalsOrNot(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	closed, err := os.Create(filepath.Join(t.TempDir(), "closed"))
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	for name, c := range map[string]struct {
		w    io.Writer
		want bool
	}{
		"memory":        {new(bytes.Buffer), false},
		"a file":        {file, false},
		"a closed file": {closed, false},
		"a screen":      {screen(true), true},
		"no screen":     {screen(false), false},
		"nothing":       {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := terminal.IsTerminal(c.w); got != c.want {
				t.Errorf("got %t, want %t", got, c.want)
			}
		})
	}
}

package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A screen is a terminal.
type screen struct{ bytes.Buffer }

func (s *screen) IsTerminal() bool { return true }

// A slowReader needs a minute before its end.
type slowReader struct{ io.Reader }

func (r slowReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if errors.Is(err, io.EOF) {
		time.Sleep(time.Minute)
	}
	return n, err
}

func TestSlowCommandsShowProgress(t *testing.T) {
	dir := t.TempDir()
	record := filepath.Join(dir, "run.jsonl")
	if err := os.WriteFile(record, []byte(lineOf(event(1))), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{
		"show -json -", "stats -", "stats -json -", "diff - " + record, "diff " + record + " -",
	} {
		for _, slow := range []bool{true, false} {
			synctest.Test(t, func(t *testing.T) {
				var out bytes.Buffer
				var s screen
				i := &invocation{stdin: strings.NewReader(lineOf(event(1))), stdout: &out, stderr: &s}
				if slow {
					i.stdin = slowReader{i.stdin}
				}
				if code := i.run(t.Context(), strings.Fields(args)); code != fine {
					t.Errorf("%s: the exit code is %d: %s", args, code, s.String())
				}
				shown := strings.Contains(s.String(), "hooklog: read") && strings.HasSuffix(s.String(), " \r")
				if shown != slow || !slow && s.Len() > 0 {
					t.Errorf("%s, slow %v: the terminal has %q", args, slow, s.String())
				}
			})
		}
	}
}

func TestFilesAreCounted(t *testing.T) {
	record := filepath.Join(t.TempDir(), "run.jsonl")
	if err := os.WriteFile(record, []byte(strings.Repeat(lineOf(event(1)), 1000)), 0o644); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(record)
	if err != nil {
		t.Fatal(err)
	}
	i := &invocation{stdout: io.Discard, stderr: io.Discard}
	if code := i.run(t.Context(), []string{"diff", record, record}); code != fine || i.size.Load() != 2*info.Size() ||
		i.read.Load() != i.size.Load() {
		t.Errorf("the exit code is %d, read %d of %d bytes", code, i.read.Load(), i.size.Load())
	}
}

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hookgen/hookgen/hookkit/hooklog"
	"github.com/hookgen/hookgen/hookkit/wire"
)

// event returns an event that hooklog accepts.
func event(seq int64) hooklog.Event {
	return hooklog.Event{
		Protocol: wire.Protocol, Seq: seq, Time: time.Date(2026, 11, 20, 12, 0, int(seq), 0, time.UTC),
		Spec: "example.com/mail", Point: "BeforeSend", Run: wire.RunInfo{ID: "r"},
		Payload: []byte("1"), Decision: wire.Continue,
	}
}

// lineOf returns the line of an event.
func lineOf(e hooklog.Event) string {
	text, err := json.Marshal(e)
	if err != nil {
		panic(err)
	}
	return string(text) + "\n"
}

// appendTo appends texts to a file, which it makes if needed.
func appendTo(t *testing.T, path string, texts ...string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(strings.Join(texts, "")); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func rename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Skip(err) // Windows does not rename a file that is open
	}
}

// TestFollowedFilesMayChangeInAnyWay changes a file each time when hooklog waits for more of it.
func TestFollowedFilesMayChangeInAnyWay(t *testing.T) {
	for _, c := range []struct {
		name  string
		steps []func(t *testing.T, path string)
		want  string // the events and, after each !, what is reported
	}{
		{"nothing happens", nil, "1"},
		{"it grows", []func(*testing.T, string){
			func(t *testing.T, path string) { appendTo(t, path, lineOf(event(2)), lineOf(event(3))[:20]) },
			func(t *testing.T, path string) {},
			func(t *testing.T, path string) { appendTo(t, path, lineOf(event(3))[20:]) },
		}, "1 2 3"},
		{"a line stays incomplete", []func(*testing.T, string){
			func(t *testing.T, path string) { appendTo(t, path, lineOf(event(2))[:20]) },
		}, "1 !2: it is incomplete !1 event in 1 file, 1 damaged line"},
		{"it is rotated", []func(*testing.T, string){
			func(t *testing.T, path string) {
				appendTo(t, path, lineOf(event(2)))
				rename(t, path, path+".1")
				appendTo(t, path, lineOf(event(3)))
			},
			func(t *testing.T, path string) { appendTo(t, path, lineOf(event(4))) },
		}, "1 2 !it was rotated 3 4"},
		{"it is rotated three times", []func(*testing.T, string){
			func(t *testing.T, path string) {
				rename(t, path, path+".3")
				appendTo(t, path+".2", lineOf(event(2)))
				appendTo(t, path+".1", lineOf(event(3)))
				appendTo(t, path, lineOf(event(4)))
			},
		}, "1 !it was rotated 2 3 4"},
		{"it is replaced", []func(*testing.T, string){
			func(t *testing.T, path string) {
				appendTo(t, path+".new", lineOf(event(2)))
				rename(t, path+".new", path)
			},
		}, "1 !it was replaced 2"},
		{"it is removed and made again", []func(*testing.T, string){
			func(t *testing.T, path string) { rename(t, path, path+".old") },
			func(t *testing.T, path string) {},
			func(t *testing.T, path string) { appendTo(t, path, lineOf(event(2))) },
		}, "1 !it was replaced 2"},
		{"a directory replaces it for a while", []func(*testing.T, string){
			func(t *testing.T, path string) {
				rename(t, path, path+".old")
				if err := os.Mkdir(path, 0o700); err != nil {
					t.Fatal(err)
				}
			},
			func(t *testing.T, path string) {
				rename(t, path, path+".dir")
				appendTo(t, path, lineOf(event(2)))
			},
		}, "1 !it is gone; waiting for a new one !it was replaced 2"},
		{"it is truncated", []func(*testing.T, string){
			func(t *testing.T, path string) { appendTo(t, path, lineOf(event(2))) },
			func(t *testing.T, path string) {
				if err := os.WriteFile(path, []byte(lineOf(event(3))), 0o600); err != nil {
					t.Fatal(err)
				}
			},
		}, "1 2 !it became shorter 3"},
		{"it is truncated and grows", []func(*testing.T, string){
			func(t *testing.T, path string) {
				text := strings.Replace(lineOf(event(2)), "1,", "1, ", 1)
				if err := os.WriteFile(path, []byte(text+lineOf(event(3))), 0o600); err != nil {
					t.Fatal(err)
				}
			},
		}, "1 !it was written anew 2 3"},
		{"it is truncated within a line", []func(*testing.T, string){
			func(t *testing.T, path string) { appendTo(t, path, lineOf(event(2))[:30]) },
			func(t *testing.T, path string) {
				if err := os.Truncate(path, 0); err != nil {
					t.Fatal(err)
				}
			},
			func(t *testing.T, path string) { appendTo(t, path, lineOf(event(3))) },
		}, "1 !2: it is incomplete !it became shorter 3 !2 events in 2 files, 1 damaged line"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "run.jsonl")
			appendTo(t, path, lineOf(event(1)))
			var out story
			steps := c.steps
			i := &invocation{stdout: &out, stderr: &out, pause: func(context.Context) bool {
				if len(steps) == 0 {
					return false
				}
				steps[0](t, path)
				steps = steps[1:]
				return true
			}}
			i.run(t.Context(), []string{"show", "-f", "-json", path})
			if got := strings.Join(out, " "); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// A story is the output of hooklog in short: the number of each event, and the beginning of each report.
type story []string

func (s *story) Write(p []byte) (int, error) {
	for line := range strings.Lines(string(p)) {
		var e hooklog.Event
		if json.Unmarshal([]byte(line), &e) == nil {
			*s = append(*s, fmt.Sprint(e.Seq))
			continue
		}
		line = strings.TrimPrefix(line[strings.LastIndex(line, "jsonl:")+1:], "sonl:")
		line = strings.TrimPrefix(strings.TrimSpace(line), "hooklog: ")
		*s = append(*s, "!"+regexp.MustCompile(`(, and|,? from|: the).*`).ReplaceAllString(line, ""))
	}
	return len(p), nil
}

func TestInterruptedFollowingEnds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.jsonl")
	appendTo(t, path, lineOf(event(1)), lineOf(event(2)))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out story
	i := &invocation{stdout: &out, stderr: &out, pause: pause}
	if code := i.run(ctx, []string{"show", "-f", "-json", path}); code != fine {
		t.Errorf("the exit code is %d", code)
	}
	if got := strings.Join(out, " "); got != "1" {
		t.Errorf("got %s", got)
	}
}

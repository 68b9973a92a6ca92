package hooklog_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/hooklog"
	"github.com/hookgen/hookgen/hookkit/wire"
	"github.com/hookgen/hookgen/internal/atomicfile"
)

// event returns an event that Read accepts.
func event(seq int64, text string) hooklog.Event {
	return hooklog.Event{
		Protocol: wire.Protocol, Seq: seq, Spec: "example.com/mail", Point: "BeforeSend", Run: wire.RunInfo{ID: "r"},
		Payload: fmt.Appendf(nil, "%q", text), Decision: wire.Continue,
	}
}

// write writes an event and fails the test if it cannot be written.
func write(t *testing.T, s hooklog.Sink, e hooklog.Event) {
	t.Helper()
	if err := s.WriteEvent(t.Context(), e); err != nil {
		t.Error(err)
	}
}

// openLog opens a log in a new directory.
func openLog(t *testing.T, opts ...hooklog.LogOption) (*hooklog.Log, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "deep", "run.jsonl")
	l, err := hooklog.Open(path, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return l, path
}

// read returns the events of a file. The errors are in the order of their lines.
func read(t *testing.T, path string) (events []hooklog.Event, errs []error) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for e, err := range hooklog.Read(f) {
		if err != nil {
			errs = append(errs, err)
		} else {
			events = append(events, e)
		}
	}
	return events, errs
}

func TestLogsOnlyTheirOwnerCanRead(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such modes")
	}
	_, path := openLog(t)
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the mode is %v, %v", info.Mode(), err)
	}
}

// logVariable names the log to which the test program writes as another process.
const logVariable = "HOOKGEN_TEST_LOG"

func TestMain(m *testing.M) {
	atomicfile.Brief = time.Minute
	if path := os.Getenv(logVariable); path != "" {
		l, err := hooklog.Open(path, hooklog.Rotate(20_000, 50))
		for i := range int64(100) {
			if err == nil {
				err = l.WriteEvent(context.Background(), event(i+1, strings.Repeat("x", 100)))
			}
		}
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func TestProcessesAndGoroutinesShareALog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.jsonl")
	l, err := hooklog.Open(path, hooklog.Rotate(20_000, 50))
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			c := exec.Command(os.Args[0])
			c.Env = append(os.Environ(), logVariable+"="+path)
			if out, err := c.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
		all.Go(func() {
			for i := range int64(100) {
				write(t, l, event(i+1, strings.Repeat("y", 100)))
			}
		})
	}
	all.Wait()
	files, err := filepath.Glob(path + "*")
	if err != nil || len(files) < 2 {
		t.Errorf("the files are %v, %v", files, err)
	}
	count := 0
	for _, file := range files {
		events, errs := read(t, file)
		if len(errs) > 0 {
			t.Errorf("%s: %v", file, errs)
		}
		if info, err := os.Stat(file); err != nil || info.Size() > 20_000 {
			t.Errorf("%s has %d bytes, %v", file, info.Size(), err)
		}
		count += len(events)
	}
	if count != 600 {
		t.Errorf("%d events are in the files, want 600", count)
	}
}

func TestRotationKeepsTheNewestFiles(t *testing.T) {
	l, path := openLog(t, hooklog.Rotate(1, 2)) // a file for each event
	for i := range int64(5) {
		write(t, l, event(i+1, ""))
	}
	for i, file := range []string{path, path + ".1", path + ".2"} {
		events, errs := read(t, file)
		if len(errs) > 0 || len(events) != 1 || events[0].Seq != int64(5-i) {
			t.Errorf("%s has %+v, %v", file, events, errs)
		}
	}
	if _, err := os.Stat(path + ".3"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a third old file: %v", err)
	}
}

func TestRotationsByOthersAreNoticedAtOnce(t *testing.T) {
	two := hooklog.Rotate(2*int64(len(line(event(1, "")))+1), 9) // a file for two events
	first, path := openLog(t, two)
	second, err := hooklog.Open(path, two)
	if err != nil {
		t.Fatal(err)
	}
	write(t, second, event(1, ""))
	write(t, first, event(2, ""))
	write(t, first, event(3, "")) // in a new file
	write(t, second, event(4, ""))
	for file, last := range map[string]int64{path + ".1": 2, path: 4} {
		events, errs := read(t, file)
		if len(events) != 2 || events[1].Seq != last || len(errs) > 0 {
			t.Errorf("%s has %+v, %v", file, events, errs)
		}
	}
	if err := errors.Join(first.Close(), second.Close()); err != nil {
		t.Error(err)
	}
}

func TestRemovedLogsAreMadeAgain(t *testing.T) {
	l, path := openLog(t)
	write(t, l, event(1, ""))
	if err := os.Remove(path); err != nil {
		t.Skip(err) // Windows
	}
	write(t, l, event(2, ""))
	if events, errs := read(t, path); len(events) != 1 || events[0].Seq != 2 || len(errs) > 0 {
		t.Errorf("the log has %+v, %v", events, errs)
	}
	if err := errors.Join(l.Close(), l.Close()); err != nil {
		t.Error(err)
	}
}

func TestRotationFollowsLinks(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	l, err := hooklog.Open(filepath.Join(dir, "run.jsonl"))
	if err == nil {
		err = l.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("run.jsonl", link); err != nil {
		t.Skip(err)
	}
	if l, err = hooklog.Open(link, hooklog.Rotate(1, 1)); err != nil {
		t.Fatal(err)
	}
	write(t, l, event(1, ""))
	write(t, l, event(2, ""))
	if events, _ := read(t, link); len(events) != 1 || events[0].Seq != 2 {
		t.Errorf("the link leads to %+v", events)
	}
}

func TestRotationFailuresLoseNoEvent(t *testing.T) {
	l, path := openLog(t, hooklog.Rotate(1, 1))
	write(t, l, event(1, ""))
	if err := os.MkdirAll(filepath.Join(path+".1", "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := l.WriteEvent(t.Context(), event(2, "")); err == nil {
		t.Error("no error that the file cannot be renamed")
	}
	if events, errs := read(t, path); len(events) != 2 || len(errs) > 0 {
		t.Errorf("the log has %+v, %v", events, errs)
	}
}

func TestWrongLogsAreErrors(t *testing.T) {
	for _, c := range []struct {
		name  string
		write func(*hooklog.Log, string) error
	}{
		{"a closed log", func(l *hooklog.Log, _ string) error {
			return errors.Join(l.Close(), l.WriteEvent(t.Context(), event(1, "")))
		}},
		{"a directory", func(_ *hooklog.Log, path string) error {
			_, err := hooklog.Open(filepath.Dir(path))
			return err
		}},
		{"a long event", func(l *hooklog.Log, _ string) error {
			return l.WriteEvent(t.Context(), event(1, strings.Repeat("x", hooklog.MaxLine)))
		}},
		{"a payload that is not JSON", func(l *hooklog.Log, _ string) error {
			return l.WriteEvent(t.Context(), hooklog.Event{Payload: []byte("{")})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, path := openLog(t)
			if err := c.write(l, path); err == nil {
				t.Error("no error")
			}
			if text, err := os.ReadFile(path); err != nil || len(text) > 0 {
				t.Errorf("the log has %q, %v", text, err)
			}
		})
	}
}

func TestWrongOptionsPanic(t *testing.T) {
	for name, option := range map[string]func(){
		"no size":     func() { hooklog.Rotate(0, 1) },
		"no old file": func() { hooklog.Rotate(1, 0) },
		"no function": func() { hooklog.Redact(nil) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			option()
		})
	}
}

func TestRedactedTextIsNotWritten(t *testing.T) {
	redact := hooklog.Redact(func(text []byte) json.RawMessage {
		return bytes.ReplaceAll(text, []byte("secret"), []byte("***"))
	})
	secret, text := json.RawMessage(`["a secret"]`), "the secret"
	e := event(1, "a secret")
	e.Final, e.Value, e.Collected, e.Reason, e.Error = secret, secret, secret, text, text
	e.Run.Labels = map[string]string{"user": text}
	e.Ballots = []hooklog.Ballot{{By: "b", Reason: text, Value: secret}, {By: "c"}}
	e.Failures = []hooklog.Failure{{By: "b", Cause: text}}
	before := line(e)
	l, path := openLog(t, redact)
	write(t, l, e)
	var b bytes.Buffer
	write(t, hooklog.Lines(&b, redact), e)
	got, err := os.ReadFile(path)
	want := strings.ReplaceAll(before, "secret", "***") + "\n"
	if err != nil || string(got) != want || b.String() != want {
		t.Errorf("the log has\n%s%v, Lines wrote\n%s, want\n%s", got, err, b.String(), want)
	}
	if line(e) != before {
		t.Errorf("the event is now %s", line(e))
	}
	for name, f := range map[string]func([]byte) json.RawMessage{
		"a panic": func([]byte) json.RawMessage { panic("no key") },
		"no JSON": func([]byte) json.RawMessage { return []byte("{") },
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			defer func() {
				if v := recover(); b.Len() > 0 || name == "a panic" && v == nil {
					t.Errorf("Lines wrote %q", b.String())
				}
			}()
			if err := hooklog.Lines(&b, hooklog.Redact(f)).WriteEvent(t.Context(), e); err == nil {
				t.Error("no error")
			}
		})
	}
}

// A shy log leaves out the reasons.
type shyLog struct{ *hooklog.Log }

func (l shyLog) WriteEvent(ctx context.Context, e hooklog.Event) error {
	e.Reason = ""
	return l.Log.WriteEvent(ctx, e)
}

func TestSinksMayEmbedALog(t *testing.T) {
	l, path := openLog(t)
	fired := hookkit.AnyFired{Point: "P", Verdict: hookkit.Verdict{
		By: hookkit.By{Decision: "Stop", Reason: "a secret"}}}
	hooklog.Capture(shyLog{l}, "s", "P")(t.Context(), hookkit.NewRun(""), fired)()
	events, errs := read(t, path)
	if len(events) != 1 || len(errs) > 0 || events[0].Reason != "" {
		t.Errorf("the log has %+v, %v", events, errs)
	}
}

func TestLinesWithoutEndAreEnded(t *testing.T) {
	l, path := openLog(t)
	if err := os.WriteFile(path, []byte(`{"protocol":1,"se`), 0o600); err != nil {
		t.Fatal(err)
	}
	write(t, l, event(2, ""))
	events, errs := read(t, path)
	if len(events) != 1 || len(errs) != 1 || lineOf(errs[0]) != 1 {
		t.Errorf("the log has %+v, %v", events, errs)
	}
}

func TestLogsContinueAfterTruncation(t *testing.T) {
	for name, to := range map[string]func(size int64) int64{
		"to nothing":          func(int64) int64 { return 0 },
		"between two events":  func(size int64) int64 { return size },
		"within an event":     func(size int64) int64 { return size + 9 },
		"before a line break": func(size int64) int64 { return size - 1 },
	} {
		t.Run(name, func(t *testing.T) {
			l, path := openLog(t)
			write(t, l, event(1, "a"))
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			write(t, l, event(2, "b"))
			if err := os.Truncate(path, to(info.Size())); err != nil {
				t.Fatal(err)
			}
			write(t, l, event(3, "c"))
			events, errs := read(t, path)
			if n := len(events); n == 0 || events[n-1].Seq != 3 || (len(errs) > 0) != (name == "within an event") {
				t.Errorf("the log has %+v, %v", events, errs)
			}
		})
	}
}

// lineOf returns the line number in an error of Read.
func lineOf(err error) int {
	var at *hooklog.LineError
	if !errors.As(err, &at) {
		return 0
	}
	return at.Line
}

// fileEnd reads a text and then fails.
type fileEnd struct {
	io.Reader
	err error
}

func (f fileEnd) Read(p []byte) (int, error) {
	n, err := f.Reader.Read(p)
	if errors.Is(err, io.EOF) {
		err = f.err
	}
	return n, err
}

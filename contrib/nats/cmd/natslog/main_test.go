package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hookgen/hookgen/contrib/nats"
	"github.com/hookgen/hookgen/contrib/nats/embedded"
	"github.com/hookgen/hookgen/hookkit/hooklog"
	"github.com/hookgen/hookgen/hookkit/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newEvents makes events on a new server, and returns its URL too.
func newEvents(t *testing.T) (string, *nats.Conn, *nats.Events) {
	t.Helper()
	s, err := embedded.Start(t.TempDir(), embedded.SyncEvery(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	c, err := nats.Connect(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	e, err := c.Events(t.Context(), "agents", nats.EventLimits{})
	if err != nil {
		t.Fatal(err)
	}
	return s.URL(), c, e
}

func event(seq int64) hooklog.Event {
	return hooklog.Event{
		Protocol: wire.Protocol, Seq: seq, Spec: "s", Point: "P", Payload: json.RawMessage(`"\u001b[31m"`),
		Decision: "continue",
	}
}

func none(string) string { return "" }

func TestEventsBecomeLines(t *testing.T) {
	url, c, e := newEvents(t)
	for i := range 3 {
		if err := e.WriteEvent(t.Context(), event(int64(i))); err != nil {
			t.Fatal(err)
		}
	}
	var out, problems bytes.Buffer
	code := run(t.Context(), []string{"-server", url, "-events", "agents"}, none, &out, &problems)
	n := int64(0)
	for got, err := range hooklog.Read(&out) {
		if err != nil || got.Seq != n || string(got.Payload) != `"\u001b[31m"` {
			t.Errorf("the line %d is %+v, %v", n, got, err)
		}
		n++
	}
	if code != 0 || n != 3 || problems.Len() > 0 {
		t.Errorf("natslog ended with %d after %d lines: %s", code, n, &problems)
	}
	if _, err := c.JetStream().Publish(t.Context(), "events.agents", []byte("{}")); err != nil {
		t.Fatal(err)
	}
	code = run(t.Context(), []string{"-server", url, "-events", "agents"}, none, io.Discard, &problems)
	if code != 1 || !strings.Contains(problems.String(), "message 4: it is not an event") {
		t.Errorf("natslog ended with %d: %s", code, &problems)
	}
}

func TestFollowingEndsWithItsContext(t *testing.T) {
	url, _, e := newEvents(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, w := io.Pipe()
	ended := make(chan int)
	go func() {
		ended <- run(ctx, []string{"-server", url, "-events", "agents", "-follow"}, none, w, io.Discard)
	}()
	go func() { _ = e.WriteEvent(ctx, event(1)) }()
	for got, err := range hooklog.Read(r) {
		if err != nil || got.Seq != 1 {
			t.Errorf("got %+v, %v", got, err)
		}
		break
	}
	cancel()
	if code := <-ended; code != 0 {
		t.Errorf("natslog ended with %d", code)
	}
}

func TestTroubleEndsWithTwo(t *testing.T) {
	url, _, e := newEvents(t)
	if err := e.WriteEvent(t.Context(), event(1)); err != nil {
		t.Fatal(err)
	}
	r, w := io.Pipe()
	_ = r.Close()
	for name, args := range map[string][]string{
		"no name":         {"-server", url},
		"other arguments": {"-server", url, "-events", "agents", "more"},
		"missing events":  {"-server", url, "-events", "other"},
		"no server":       {"-server", "embedded:/nowhere", "-events", "agents"},
		"an unknown flag": {"-none"},
		"a closed output": {"-server", url, "-events", "agents"},
	} {
		t.Run(name, func(t *testing.T) {
			var problems bytes.Buffer
			if code := run(t.Context(), args, none, w, &problems); code != 2 || problems.Len() == 0 {
				t.Errorf("natslog ended with %d: %s", code, &problems)
			}
		})
	}
}

func TestVersionHasWhatABugReportNeeds(t *testing.T) {
	var out, problems bytes.Buffer
	code := run(t.Context(), []string{"--version"}, none, &out, &problems)
	lines := strings.Split(out.String(), "\n")
	if code != 0 || problems.Len() > 0 || len(lines) != 4 || !strings.HasPrefix(lines[0], "natslog ") ||
		lines[1] != runtime.Version()+" "+runtime.GOOS+"/"+runtime.GOARCH || !strings.HasPrefix(lines[2], "module ") {
		t.Errorf("exit code %d, printed %q and %q", code, &out, &problems)
	}
}

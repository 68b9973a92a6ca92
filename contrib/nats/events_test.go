package nats_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookgen/hookgen/contrib/nats"
	"github.com/hookgen/hookgen/hookkit/hooklog"
	"github.com/hookgen/hookgen/hookkit/wire"
)

// event returns an event of a run.
func event(run string, seq int64) hooklog.Event {
	return hooklog.Event{
		Protocol: wire.Protocol, Seq: seq, Time: time.Unix(0, seq).UTC(), Spec: "s", Point: "P", Run: wire.RunInfo{ID: run},
		Payload: json.RawMessage(`{"secret":"</x>\u2028"}`), Decision: wire.Continue,
	}
}

// eventsOf opens the events of a test.
func eventsOf(t testing.TB, c *nats.Conn, limits nats.EventLimits, opts ...hooklog.LinesOption) *nats.Events {
	t.Helper()
	e, err := c.Events(t.Context(), "test", limits, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// write writes events, or ends the test.
func write(t testing.TB, to hooklog.Sink, all ...hooklog.Event) {
	t.Helper()
	for _, e := range all {
		if err := to.WriteEvent(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
}

// summary reads all events as "run seq", and errors as texts.
func summary(t testing.TB, e *nats.Events) (all []string) {
	t.Helper()
	for event, err := range e.Read(t.Context(), false) {
		if err != nil {
			all = append(all, err.Error())
			continue
		}
		all = append(all, fmt.Sprint(event.Run.ID, " ", event.Seq))
	}
	return all
}

func TestEventsAreReadInOrder(t *testing.T) {
	c := connect(t, newServer(t).URL())
	e := eventsOf(t, c, nats.EventLimits{})
	if got := summary(t, e); got != nil {
		t.Errorf("an empty stream has %q", got)
	}
	want := []string{}
	for i := range 300 {
		write(t, e, event("a", int64(i)))
		want = append(want, fmt.Sprint("a ", i))
	}
	again, err := c.OpenEvents(t.Context(), "test")
	if err != nil {
		t.Fatal(err)
	}
	if got := summary(t, again); !slices.Equal(got, want) {
		t.Errorf("read %q", got)
	}
	for got, err := range again.Read(t.Context(), false) {
		if text, _ := json.Marshal(got); err != nil || !strings.Contains(string(text), `{"secret":"\u003c/x\u003e\u2028"}`) {
			t.Errorf("the first event is %s, %v", text, err)
		}
		break
	}
	if _, err := c.OpenEvents(t.Context(), "other"); err == nil {
		t.Error("missing events were opened")
	}
}

// TestAnEventIsStoredOnce: an event that is sent again because the answer was lost, and a run that another process
// resumes, whose events count from 1 again.
func TestAnEventIsStoredOnce(t *testing.T) {
	c := connect(t, newServer(t).URL())
	e := eventsOf(t, c, nats.EventLimits{})
	resumed := event("a", 1)
	resumed.Time = resumed.Time.Add(time.Second)
	write(t, e, event("a", 1), event("a", 1), resumed, event("b", 1), event("a", 1))
	if got := summary(t, e); !slices.Equal(got, []string{"a 1", "a 1", "b 1"}) {
		t.Errorf("stored %q", got)
	}
}

func TestFollowersGetNewEvents(t *testing.T) {
	c := connect(t, newServer(t).URL())
	e := eventsOf(t, c, nats.EventLimits{})
	write(t, e, event("a", 0))
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	stopped := errors.New("enough")
	var last error
	n := int64(0)
	for got, err := range e.Read(ctx, true) {
		if last = err; err != nil {
			break
		}
		if got.Seq != n {
			t.Errorf("the event %d came after %d", got.Seq, n)
		}
		if n++; n < 10 {
			write(t, e, event("a", n))
		} else {
			cancel(stopped)
		}
	}
	if n != 10 || !errors.Is(last, stopped) {
		t.Errorf("%d events came, then %v", n, last)
	}
}

func TestStrangeMessagesAreReported(t *testing.T) {
	c := connect(t, newServer(t).URL())
	e := eventsOf(t, c, nats.EventLimits{})
	newer := event("a", 2)
	newer.Protocol++
	write(t, e, event("a", 1), newer)
	for _, text := range []string{"", "not JSON", "{}", "{}\n{}"} {
		if _, err := c.JetStream().Publish(t.Context(), "events.test", []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	write(t, e, event("a", 3))
	var got []string
	for event, err := range e.Read(t.Context(), false) {
		strange := new(nats.EventError)
		switch {
		case err == nil:
			got = append(got, fmt.Sprint(event.Seq))
		case errors.As(err, &strange):
			got = append(got, fmt.Sprint("message ", strange.Number))
		default:
			t.Error(err)
		}
	}
	want := []string{"1", "message 2", "message 4", "message 5", "message 6", "message 6", "3"}
	if !slices.Equal(got, want) { // message 3 is empty, as an empty line of a log is
		t.Errorf("read %q, want %q", got, want)
	}
}

// TestSlowReadersLearnWhatTheyMissed: the limits remove events while a reader is busy.
func TestSlowReadersLearnWhatTheyMissed(t *testing.T) {
	c := connect(t, newServer(t).URL())
	e := eventsOf(t, c, nats.EventLimits{MaxBytes: 40 << 20})
	large := func(seq int64) hooklog.Event {
		e := event("a", seq)
		e.Reason = strings.Repeat("x", 500_000)
		return e
	}
	write(t, e, large(0))
	var seen, missed []string
	for got, err := range e.Read(t.Context(), false) {
		if err != nil {
			missed = append(missed, err.Error())
			continue
		}
		if seen = append(seen, fmt.Sprint(got.Seq)); len(seen) == 1 {
			break
		}
	}
	for i := range 100 {
		write(t, e, large(int64(i+1)))
	}
	first := true
	for got, err := range e.Read(t.Context(), false) {
		if err != nil {
			missed = append(missed, err.Error())
			continue
		}
		if seen = append(seen, fmt.Sprint(got.Seq)); first {
			first = false
			for i := range 100 {
				write(t, e, large(int64(i+101)))
			}
		}
	}
	if len(missed) == 0 || !strings.Contains(missed[0], "events before they were read") || len(seen) > 60 {
		t.Errorf("the reader saw %q and missed %q", seen, missed)
	}
}

func TestEventsAreRedactedAndBounded(t *testing.T) {
	c := connect(t, newServer(t).URL())
	e := eventsOf(t, c, nats.EventLimits{}, hooklog.Redact(func(text []byte) json.RawMessage {
		return json.RawMessage(strings.ReplaceAll(string(text), "secret", "-"))
	}))
	write(t, e, event("a", 1))
	for got, err := range e.Read(t.Context(), false) {
		if err != nil || strings.Contains(string(got.Payload), "secret") {
			t.Errorf("read %s, %v", got.Payload, err)
		}
	}
	large := event("a", 2)
	large.Reason = strings.Repeat("x", 9<<20)
	err := e.WriteEvent(t.Context(), large)
	if err == nil || !strings.Contains(err.Error(), "shorten it with hooklog.Redact") {
		t.Errorf("a large event: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := e.WriteEvent(ctx, event("a", 3)); err != nil {
		t.Errorf("an event of a cancelled fire: %v", err)
	}
	for _, limits := range []nats.EventLimits{{MaxBytes: -1}, {MaxAge: -1}, {Replicas: -1}} {
		if _, err := c.Events(t.Context(), "test", limits); err == nil {
			t.Errorf("the limits %+v were accepted", limits)
		}
	}
	for _, name := range []string{"", "a.b", "a*", "a b", ">"} {
		if _, err := c.Events(t.Context(), name, nats.EventLimits{}); err == nil {
			t.Errorf("the name %q was accepted", name)
		}
	}
}

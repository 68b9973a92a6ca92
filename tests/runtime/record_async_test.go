package runtime_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/hooklog"
	"github.com/hookgen/hookgen/tests/fixture"
)

// noText is an error whose method panics for a typed nil, which is what a hook returns that declares its err as one.
type noText struct{ text string }

func (e *noText) Error() string { return e.text }

// A record has the decision of a fire, whatever error another hook of it returned.
func TestErrorsWithoutTextAreRecorded(t *testing.T) {
	h := new(fixture.Hooks)
	var got hooklog.Event
	h.ObserveAny(fixture.Record(sinkFunc(func(e hooklog.Event) { got = e })))
	h.HandleFailures(func(context.Context, *hookkit.Failure) {})
	h.LeaveOpen.AddFunc(func(context.Context, *fixture.Run, fixture.Item) (fixture.LeaveOpenOutcome, error) {
		var failed *noText
		return nil, failed
	}, hookkit.Named("broken"))
	h.LeaveOpen.AddFunc(func(context.Context, *fixture.Run, fixture.Item) (fixture.LeaveOpenOutcome, error) {
		return fixture.Stop{Reason: "no"}, nil
	}, hookkit.Named("guard"))
	if _, err := h.LeaveOpen.Fire(t.Context(), newRun(), fixture.Item{}); err != nil {
		t.Fatal(err)
	}
	if got.By != "guard" || got.Decision != "Stop" || len(got.Failures) != 1 || got.Failures[0].By != "broken" {
		t.Errorf("recorded is %+v", got)
	}
}

// A program uses one buffer for all payloads. A record in the background has each payload as it was fired.
func TestBackgroundRecordOfAReusedBuffer(t *testing.T) {
	var mu sync.Mutex
	var got []string
	open := make(chan struct{})
	h := new(fixture.Hooks)
	reg := h.ObserveAny(fixture.Record(sinkFunc(func(e hooklog.Event) {
		<-open
		mu.Lock()
		defer mu.Unlock()
		got = append(got, string(e.Payload))
	})), hookkit.Async(100))
	buffer := []string{""}
	var want []string
	for i := range 10 {
		buffer[0] = fmt.Sprint("payload ", i)
		item := fixture.Item{ID: i, Trail: buffer}
		text, err := json.Marshal(item)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, string(text))
		h.Watch.Fire(t.Context(), nil, item)
	}
	buffer[0] = "used again"
	close(open)
	if err := reg.Drain(context.Background()); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("recorded %q", got)
	}
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/hookkit/hooklog"
)

// growing returns a record of events whose payloads have a growing list, and the payload of the last one.
func growing(t *testing.T, n int) (record, last string) {
	t.Helper()
	var text bytes.Buffer
	sink := hooklog.Lines(&text)
	var messages []string
	for i := range n {
		messages = append(messages, fmt.Sprintf(`{"n":%d,"text":"%0500d"}`, i, i))
		e := event(int64(i + 1))
		last = fmt.Sprintf(`{"messages":[%s]}`, strings.Join(messages, ","))
		e.Payload = json.RawMessage(last)
		if err := sink.WriteEvent(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	return text.String(), last
}

func show(t *testing.T, record string, args ...string) string {
	t.Helper()
	var out, problems bytes.Buffer
	i := &invocation{
		stdin: strings.NewReader(record), stdout: &out, stderr: &problems,
		pause: func(context.Context) bool { return false },
	}
	if code := i.run(t.Context(), append([]string{"show", "-"}, args...)); code != fine {
		t.Fatalf("the exit code is %d: %s", code, problems.String())
	}
	return out.String()
}

func TestSelectedEventsAreWhole(t *testing.T) {
	record, last := growing(t, 9)
	lines := 0
	for e, err := range hooklog.Read(strings.NewReader(show(t, record, "-json", "-since", "2026-11-20T12:00:08Z"))) {
		whole := e.Whole()
		if err != nil || len(whole.Omitted) > 0 {
			t.Fatalf("event %d lacks %v, %v", e.Seq, whole.Omitted, err)
		}
		if lines++; e.Seq == 9 && string(whole.Payload) != last {
			t.Errorf("the last payload is %s", whole.Payload)
		}
	}
	if lines != 2 {
		t.Errorf("%d events are selected", lines)
	}
}

// Two runs with one ID take turns: the lists in the output are those of the last lines in the output.
func TestListsOfSeveralWritersAreWhole(t *testing.T) {
	record, _ := growing(t, 9)
	other, last := growing(t, 2)
	lines := strings.SplitAfter(record, "\n")
	got := show(t, strings.Join(lines[:5], "")+other+record, "-json", "-since", "2026-11-20T12:00:02Z")
	var payload string
	for e, err := range hooklog.Read(strings.NewReader(got)) {
		whole := e.Whole()
		if err != nil || len(whole.Omitted) > 0 {
			t.Fatalf("event %d lacks %v, %v", e.Seq, whole.Omitted, err)
		}
		if e.Seq == 2 {
			payload = string(whole.Payload)
		}
	}
	if payload != last {
		t.Errorf("the payload is %s", payload)
	}
}

func TestMissingElementsAreShown(t *testing.T) {
	record, _ := growing(t, 9)
	if got := show(t, record, "-v"); strings.Contains(got, "missing") {
		t.Errorf("elements are missing in\n%s", got)
	}
	_, rest, _ := strings.Cut(record, `{"protocol":1,"seq":6,`)
	got := show(t, `{"protocol":1,"seq":6,`+rest, "-v")
	if !strings.Contains(got, "5 elements of messages in the payload") {
		t.Errorf("got\n%s", got)
	}
}

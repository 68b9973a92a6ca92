package hooklog_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/hookkit/hooklog"
	"github.com/hookgen/hookgen/hookkit/wire"
)

// asking returns the events of a run whose payloads have a growing list of messages. Each begins with the same system
// message and ends with a message that the next one does not have.
func asking(run string, steps int) (events []hooklog.Event) {
	message := func(n int, what string) string { return fmt.Sprintf(`{"n":%d,"text":"%s%0200d"}`, n, what, n) }
	messages := []string{message(0, "system")}
	for n := 1; n <= steps; n++ {
		messages = append(messages, message(n, "said"))
		payload := fmt.Sprintf(`{"step":%d,"messages":[%s],"tools":["a","b"]}`, n,
			strings.Join(append(messages[:n+1:n+1], message(n, "briefing")), ","))
		events = append(events, hooklog.Event{
			Protocol: wire.Protocol, Seq: int64(n), Spec: "example.org/spec", Point: "Ask", Run: wire.RunInfo{ID: run},
			Payload: json.RawMessage(payload), Decision: wire.Continue,
		})
	}
	return events
}

func writeAll(t *testing.T, s hooklog.Sink, events []hooklog.Event) {
	t.Helper()
	for _, e := range events {
		if err := s.WriteEvent(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
}

// readWhole reads a record, and returns the payloads and the lists that are unknown.
func readWhole(t *testing.T, text []byte) (payloads []string, unknown []hooklog.Omitted) {
	t.Helper()
	for e, err := range hooklog.Read(bytes.NewReader(text)) {
		if err != nil {
			t.Fatal(err)
		}
		whole := e.Whole()
		payloads, unknown = append(payloads, string(whole.Payload)), append(unknown, whole.Omitted...)
	}
	return payloads, unknown
}

func TestARecordIsLinearInTheListsOfARun(t *testing.T) {
	size := func(steps int) int {
		var text bytes.Buffer
		writeAll(t, hooklog.Lines(&text), asking("r", steps))
		return text.Len()
	}
	short, long := size(50), size(500)
	if long > 11*short || short > 50*1000 {
		t.Errorf("50 steps have %d bytes, and 500 steps %d", short, long)
	}
}

func TestLeftOutElementsAreReadAgain(t *testing.T) {
	shout := hooklog.Redact(func(text []byte) json.RawMessage {
		return bytes.ReplaceAll(text, []byte("said"), []byte("[ REDACTED ]"))
	})
	for name, opts := range map[string][]hooklog.LinesOption{"plain": nil, "redacted": {shout}} {
		t.Run(name, func(t *testing.T) {
			var text bytes.Buffer
			sink := hooklog.Lines(&text, opts...)
			var want []string
			runs := [2][]hooklog.Event{asking("a", 20), asking("b", 20)}
			for n := range runs[0] {
				for _, run := range runs {
					writeAll(t, sink, run[n:n+1])
					payload := string(run[n].Payload)
					if opts != nil {
						payload = strings.ReplaceAll(payload, "said", "[ REDACTED ]")
					}
					want = append(want, payload)
				}
			}
			got, unknown := readWhole(t, text.Bytes())
			if len(unknown) > 0 || len(got) != len(want) {
				t.Fatalf("%d events, unknown %v", len(got), unknown)
			}
			for i := range got {
				if got[i] != want[i] {
					t.Fatalf("event %d is %s, want %s", i, got[i], want[i])
				}
			}
			var again bytes.Buffer
			sink = hooklog.Lines(&again)
			for e, err := range hooklog.Read(&text) {
				if err != nil {
					t.Fatal(err)
				}
				writeAll(t, sink, []hooklog.Event{e})
			}
			if copied, unknown := readWhole(t, again.Bytes()); fmt.Sprint(copied) != fmt.Sprint(got) || len(unknown) > 0 {
				t.Errorf("a copy of the record has other payloads, unknown %v", unknown)
			}
		})
	}
}

// Somebody has removed the beginning of a record, or a line of it.
func TestMissingElementsAreUnknown(t *testing.T) {
	var text bytes.Buffer
	writeAll(t, hooklog.Lines(&text), asking("r", 9))
	lines := bytes.SplitAfter(text.Bytes(), []byte("\n"))
	whole, _ := readWhole(t, text.Bytes())
	for n := range 9 {
		payloads, unknown := readWhole(t, bytes.Join(append(lines[:n:n], lines[n+1:]...), nil))
		for i, payload := range payloads {
			if i < n && payload != whole[i] {
				t.Errorf("without line %d, event %d is %s", n+1, i+1, payload)
			}
		}
		want := 8 - n
		if n < 2 { // their lists are too short to be referred to
			want = 0
		}
		if len(unknown) != want {
			t.Errorf("without line %d, %d lists are unknown, want %d", n+1, len(unknown), want)
		}
		for _, o := range unknown {
			if o.In != "payload" || o.List != "messages" || o.Count < 1 {
				t.Errorf("unknown is %+v", o)
			}
		}
	}
}

func TestEachFileOfARotatedLogIsWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.jsonl")
	log, err := hooklog.Open(path, hooklog.Rotate(20_000, 20))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	events := asking("r", 60)
	writeAll(t, log, events)
	names, err := filepath.Glob(path + "*")
	if err != nil || len(names) < 4 {
		t.Fatalf("the files are %q, %v", names, err)
	}
	read := make(map[string]bool)
	for _, name := range names {
		if strings.HasSuffix(name, ".lock") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		payloads, unknown := readWhole(t, text)
		if len(unknown) > 0 {
			t.Errorf("%s refers to other files: %v", name, unknown)
		}
		for _, p := range payloads {
			read[p] = true
		}
	}
	for _, e := range events {
		if !read[string(e.Payload)] {
			t.Fatalf("the payload of event %d is lost", e.Seq)
		}
	}
}

// A sink that fails has not written the list to which the next line would refer.
func TestLinesAfterAFailureReferToNoLostLine(t *testing.T) {
	disk := new(fullDisk)
	sink := hooklog.Lines(disk)
	for n, e := range asking("r", 9) {
		disk.full = n == 4
		if err := sink.WriteEvent(t.Context(), e); (err != nil) != disk.full {
			t.Fatal(err)
		}
	}
	if payloads, unknown := readWhole(t, disk.Bytes()); len(payloads) != 8 || len(unknown) > 0 {
		t.Errorf("%d events, unknown %v", len(payloads), unknown)
	}
}

type fullDisk struct {
	bytes.Buffer
	full bool
}

func (d *fullDisk) Write(p []byte) (int, error) {
	if d.full {
		return 0, os.ErrDeadlineExceeded
	}
	return d.Buffer.Write(p)
}

// FuzzOmitted reads any record, and puts back what its lines leave out.
func FuzzOmitted(f *testing.F) {
	var text bytes.Buffer
	if err := hooklog.Lines(&text).WriteEvent(f.Context(), asking("r", 9)[8]); err != nil {
		f.Fatal(err)
	}
	f.Add(text.String(), `{"messages":[1]}`, "messages", 3)
	f.Add("", `{"messages":[1],"messages":[2]}`, "messages", 1)
	f.Add("", `[]`, "", -1)
	f.Fuzz(func(t *testing.T, before, payload, list string, count int) {
		if !json.Valid([]byte(payload)) {
			return
		}
		e := hooklog.Event{
			Protocol: wire.Protocol, Spec: "s", Point: "Ask", Payload: json.RawMessage(payload), Decision: wire.Continue,
			Omitted: []hooklog.Omitted{{In: "payload", List: list, Count: count}},
		}
		line, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		for e, err := range hooklog.Read(strings.NewReader(before + "\n" + string(line) + "\n" + before)) {
			if err == nil && !json.Valid(e.Whole().Payload) {
				t.Errorf("the payload is %s", e.Whole().Payload)
			}
		}
	})
}

// A redaction recognizes a password by the flag before it, so the flag must not be left out.
func TestALeftOutFlagDoesNotHideAPasswordFromRedaction(t *testing.T) {
	hide := hooklog.Redact(func(text []byte) json.RawMessage {
		return bytes.ReplaceAll(text, []byte(`"--password","hunter2"`), []byte(`"--password","***"`))
	})
	flag := fmt.Sprintf(`{"args":["%01100d","--password"`, 0)
	var text bytes.Buffer
	events := asking("r", 2)
	events[0].Payload = json.RawMessage(flag + `]}`)
	events[1].Payload = json.RawMessage(flag + `,"hunter2"]}`)
	writeAll(t, hooklog.Lines(&text, hide), events)
	if strings.Contains(text.String(), "hunter2") {
		t.Error("the password is in the record")
	}
	if got, unknown := readWhole(t, text.Bytes()); got[1] != flag+`,"***"]}` || len(unknown) > 0 {
		t.Errorf("the second payload is %s, unknown %v", got[1], unknown)
	}
}

// For example, logrotate copies a log and makes it empty.
func TestLinesOfAnEmptiedFileReferToNoLostLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.jsonl")
	log, err := hooklog.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	events := asking("r", 9)
	writeAll(t, log, events[:5])
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	writeAll(t, log, events[5:])
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if payloads, unknown := readWhole(t, text); len(payloads) != 4 || len(unknown) > 0 {
		t.Errorf("%d events, unknown %v", len(payloads), unknown)
	}
}

// A reader remembers lists, not the payloads that they are in.
func TestAReaderKeepsNoPayloads(t *testing.T) {
	const runs, size = 100, 400_000
	var text bytes.Buffer
	sink := hooklog.Lines(&text)
	for n := range runs {
		e := asking(fmt.Sprint(n), 1)[0]
		e.Payload = fmt.Appendf(nil, `{"text":"%0*d","list":["%01100d"]}`, size, n, n)
		writeAll(t, sink, []hooklog.Event{e})
	}
	before, n := heap(), 0
	for range hooklog.Read(&text) {
		if n++; n < runs {
			continue
		}
		if after := heap(); after > before+runs*size/4 {
			t.Errorf("the heap grows from %d to %d bytes", before, after)
		}
	}
}

// For example, two programs continue one suspended run by mistake, or take their run IDs from requests.
func TestTwoWritersOfOneRun(t *testing.T) {
	var text bytes.Buffer
	sinks := [2]hooklog.Sink{hooklog.Lines(&text), hooklog.Lines(&text)}
	programs := [2][]hooklog.Event{asking("r", 20), asking("r", 20)}
	var want []string
	for n := range programs[0] {
		for i, events := range programs {
			events[n].Payload = bytes.ReplaceAll(events[n].Payload, []byte("said"), fmt.Append(nil, "said", i))
			writeAll(t, sinks[i], events[n:n+1])
			want = append(want, string(events[n].Payload))
			if n == 7 && i == 0 { // it begins again
				sinks[i] = hooklog.Lines(&text)
			}
		}
	}
	got, unknown := readWhole(t, text.Bytes())
	if !slices.Equal(got, want) || len(unknown) > 0 {
		t.Errorf("%d of %d events, unknown %v", len(got), len(want), unknown)
	}
}

func TestEventsWithoutARunOfTwoProgramsAreWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.jsonl")
	programs := [2][]hooklog.Event{asking("", 5), asking("", 5)}
	var logs [2]*hooklog.Log
	for i := range logs {
		var err error
		if logs[i], err = hooklog.Open(path); err != nil {
			t.Fatal(err)
		}
		defer logs[i].Close()
	}
	for n := range programs[0] {
		for i, events := range programs {
			events[n].Payload = bytes.ReplaceAll(events[n].Payload, []byte("said"), fmt.Append(nil, "said", i))
			writeAll(t, logs[i], events[n:n+1])
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if payloads, unknown := readWhole(t, text); len(payloads) != 10 || len(unknown) > 0 {
		t.Errorf("%d events, unknown %v", len(payloads), unknown)
	}
}

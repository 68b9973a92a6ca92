package record_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/record"
	"github.com/hookgen/hookgen/builtin/redact"
	"github.com/hookgen/hookgen/hookkit/hooklog"
	"github.com/hookgen/hookgen/hookkit/wire"
)

// eventOfRun returns an event of a run with a payload.
func eventOfRun(run, payload string) hooklog.Event {
	return hooklog.Event{
		Protocol: wire.Protocol, Spec: "example.org/spec", Point: "Ask", Decision: wire.Continue,
		Run: wire.RunInfo{ID: run}, Payload: json.RawMessage(payload),
	}
}

// A redactor that takes long for the events of one run does not stop the others, and the chain has all events.
func TestSlowRedactionStopsNoOtherRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	begun, released := make(chan bool), make(chan bool)
	log := &record.Audit{Path: path, Redact: redact.Redactor{
		Patterns: []*regexp.Regexp{regexp.MustCompile(`slow-\d+`)},
		Mark: func(_, _ string) string {
			close(begun)
			<-released
			return "[removed]"
		},
	}}
	slow := make(chan error)
	go func() { slow <- log.WriteEvent(t.Context(), eventOfRun("slow", `{"text":"slow-1"}`)) }()
	<-begun
	const runs = 64
	others := make(chan error, runs)
	for i := range runs { // some may share a lock with the slow one
		go func() { others <- log.WriteEvent(t.Context(), eventOfRun(fmt.Sprint("run ", i), `{"text":"quick"}`)) }()
	}
	if err := <-others; err != nil { // one of them ends, although the slow one has not
		t.Error(err)
	}
	close(released)
	for range runs - 1 {
		if err := <-others; err != nil {
			t.Error(err)
		}
	}
	if err := <-slow; err != nil {
		t.Error(err)
	}
	if s := verified(t, path, record.AuditCheck{}); s.Records != runs+1 || s.Lost != 0 {
		t.Errorf("verified %+v", s)
	}
	text := string(fixture.ReadFile(t, path))
	if strings.Contains(text, "slow-1") || !strings.Contains(text, "[removed]") {
		t.Errorf("the log has the text that was to be removed: %s", text)
	}
}

// After each rotation, the lines of all runs are whole without the file before.
func TestEachFileOfManyRunsIsWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	log := &record.Audit{Path: path}
	const runs, steps = 40, 3
	after := ""
	for file := range 3 {
		for step := range steps {
			for run := range runs {
				messages := make([]string, file*steps+step+1)
				for i := range messages {
					messages[i] = fmt.Sprintf(`{"n":%d,"text":"%01000d"}`, i, run)
				}
				e := eventOfRun(fmt.Sprint("run ", run), `{"messages":[`+strings.Join(messages, ",")+`]}`)
				if err := log.WriteEvent(t.Context(), e); err != nil {
					t.Fatal(err)
				}
			}
		}
		text := fixture.ReadFile(t, path)
		if most := steps * runs * ((file+1)*1100 + 700); len(text) > most {
			t.Errorf("file %d has %d bytes, more than %d: messages are written again", file, len(text), most)
		}
		for e, err := range hooklog.Read(bytes.NewReader(text)) {
			if whole := e.Whole(); err != nil || len(whole.Omitted) > 0 {
				t.Fatalf("file %d: an event lacks %v, %v", file, whole.Omitted, err)
			}
		}
		s := verified(t, path, record.AuditCheck{After: after})
		if after = s.Hash; s.Records != steps*runs {
			t.Errorf("file %d: %+v", file, s)
		}
		if err := os.Rename(path, fmt.Sprint(path, file)); err != nil {
			t.Fatal(err)
		}
	}
}

// A writer is killed after any byte of its line. The next one keeps these bytes, says so in the chain, and continues.
func TestAuditKeepsALineThatWasCutAnywhere(t *testing.T) {
	dir := t.TempDir()
	key := []byte("key")
	whole := filepath.Join(dir, "whole.jsonl")
	payload := `{"messages":[{"text":"` + "héllo" + `","hash":"` + strings.Repeat("0", 64) + `"}]}`
	log := &record.Audit{Path: whole, Key: key}
	first := 0
	for range 2 {
		first = 0
		if text, err := os.ReadFile(whole); err == nil {
			first = len(text)
		}
		if err := log.WriteEvent(t.Context(), eventOfRun("run", payload)); err != nil {
			t.Fatal(err)
		}
	}
	text := fixture.ReadFile(t, whole)
	for at := range len(text) + 1 {
		if testing.Short() && at%7 > 0 && at < len(text)-10 && (at < first-2 || at > first+2) {
			continue
		}
		path := filepath.Join(dir, "cut.jsonl")
		if err := os.WriteFile(path, text[:at], 0o600); err != nil {
			t.Fatal(err)
		}
		next := &record.Audit{Path: path, Key: key}
		for range 2 {
			if err := next.WriteEvent(t.Context(), eventOfRun("next", payload)); err != nil {
				t.Fatalf("cut at %d: %v", at, err)
			}
		}
		now := fixture.ReadFile(t, path)
		if !bytes.HasPrefix(now, text[:at]) {
			t.Fatalf("cut at %d: the bytes of the killed writer are changed", at)
		}
		records, torn := 2, 1
		switch {
		case at >= len(text)-1: // without the line break, it is a whole record
			records, torn = 4, 0
		case at >= first-1 && at <= first:
			records, torn = 3, 0
		case at > first:
			records = 3
		case at == 0:
			torn = 0
		}
		s, err := record.VerifyAudit(bytes.NewReader(now), record.AuditCheck{Key: key})
		if err != nil || s.Records != records || s.Torn != torn || s.Lost != 0 {
			t.Fatalf("cut at %d of %d, first %d: %+v, %v", at, len(text), first, s, err)
		}
		events, broken := 0, 0
		for _, err := range hooklog.Read(bytes.NewReader(now)) {
			if events++; err != nil {
				events, broken = events-1, broken+1
			}
			if errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatalf("cut at %d: the log ends with an incomplete line: %v", at, err)
			}
		}
		if events != records || broken != torn {
			t.Fatalf("cut at %d: %d events and %d incomplete lines, want %d and %d", at, events, broken, records, torn)
		}
	}
}

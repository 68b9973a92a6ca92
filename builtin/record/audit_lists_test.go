package record_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/record"
	"github.com/hookgen/hookgen/hookkit/hooklog"
	"github.com/hookgen/hookgen/hookkit/wire"
)

// Of two programs that write to one log, the second one does not know that the first one has begun a new file.
func TestEachFileOfASharedAuditIsWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.jsonl")
	programs := []*record.Audit{
		{Path: path, HeadFile: path + ".head"}, {Path: path, HeadFile: path + ".head"},
	}
	var messages []string
	write := func() {
		messages = append(messages, fmt.Sprintf(`{"n":%d,"text":"%01000d"}`, len(messages), 0))
		for i, a := range programs {
			err := a.WriteEvent(t.Context(), hooklog.Event{
				Protocol: wire.Protocol, Spec: "example.org/spec", Point: "Ask", Decision: wire.Continue,
				Run:     wire.RunInfo{ID: fmt.Sprint("run", i)},
				Payload: json.RawMessage(`{"messages":[` + strings.Join(messages, ",") + `]}`),
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	for range 5 {
		write()
	}
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	write()
	write()
	for file, events := range map[string]int{path + ".1": 10, path: 4} {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		n := 0
		for e, err := range hooklog.Read(f) {
			if whole := e.Whole(); err != nil || len(whole.Omitted) > 0 {
				t.Errorf("%s: event %d lacks %v, %v", filepath.Base(file), n, whole.Omitted, err)
			}
			n++
		}
		if n != events {
			t.Errorf("%s has %d events, want %d", filepath.Base(file), n, events)
		}
	}
}

package record_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/fixture"
	"github.com/hookgen/hookgen/builtin/record"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

func TestVerifyAuditFindsEveryChange(t *testing.T) {
	key := []byte("a key")
	for _, keyed := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "audit.jsonl")
		log := &record.Audit{Path: path}
		check := record.AuditCheck{}
		if keyed {
			log.Key, check.Key = key, key
		}
		var hooks agent.Hooks
		hooks.Use(log)
		run := agent.NewRun(&agent.Env{})
		for i := range 5 {
			call := agent.ToolCallRequest{ID: fmt.Sprint(i), Name: "x"}
			_, _ = hooks.BeforeTool.Fire(t.Context(), run, &call)
		}
		whole := verified(t, path, check)
		lines := strings.SplitAfter(strings.TrimSuffix(string(fixture.ReadFile(t, path)), "\n"), "\n")
		lines[4] += "\n"
		for name, change := range map[string]struct {
			lines []string
			want  string
		}{
			"a changed value": {[]string{lines[0], strings.Replace(lines[1], `"tool":"x"`, `"tool":"y"`, 1), lines[2],
				lines[3], lines[4]}, "line 2: the hash does not match the line"},
			"a removed line":      {[]string{lines[0], lines[2], lines[3], lines[4]}, "line 2: it does not continue"},
			"a removed beginning": {lines[1:], "line 1: it continues the record"},
			"lines exchanged":     {[]string{lines[0], lines[2], lines[1], lines[3], lines[4]}, "line 2: it does not continue"},
			"a doubled line": {[]string{lines[0], lines[1], lines[1], lines[2], lines[3], lines[4]},
				"line 3: it does not continue"},
			"an inserted text": {[]string{lines[0], "hello\n", lines[1], lines[2], lines[3], lines[4]},
				"line 2: not a record, and the record after it does not confirm it"},
			"a text at the end": {append(append([]string{}, lines...), "hello\n"),
				"line 6: not a record, and no record after it"},
			"a cut end":  {lines[:4], "records were removed from its end"},
			"a cut line": {[]string{lines[0], lines[1], lines[2], lines[3], lines[4][:50]}, "line 5: not a record"},
		} {
			with := check
			with.Head = whole.Hash
			_, err := record.VerifyAudit(strings.NewReader(strings.Join(change.lines, "")), with)
			if err == nil || !strings.Contains(err.Error(), change.want) {
				t.Errorf("%s, keyed %v: %v, want %q", name, keyed, err, change.want)
			}
		}
		wrong := map[string]string{"another": "it was written without the key"}
		if keyed {
			wrong = map[string]string{"": "pass the key", "another": "the key is another one"}
		}
		for other, want := range wrong {
			_, err := record.VerifyAudit(bytes.NewReader(fixture.ReadFile(t, path)), record.AuditCheck{Key: []byte(other)})
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("keyed %v, checked with %q: %v", keyed, other, err)
			}
		}
	}
	if _, err := record.VerifyAudit(io.MultiReader(strings.NewReader("{}"), badReader{}),
		record.AuditCheck{}); err == nil || !strings.Contains(err.Error(), "torn cable") {
		t.Errorf("a reader's failure: %v", err)
	}
}

type badReader struct{}

func (badReader) Read([]byte) (int, error) { return 0, errors.New("torn cable") }

func TestAuditContinuesItsChain(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "audit.jsonl")
	fire := func(log *record.Audit) {
		var hooks agent.Hooks
		hooks.Use(log)
		call := agent.ToolCallRequest{ID: "1", Name: "x"}
		_, _ = hooks.BeforeTool.Fire(t.Context(), agent.NewRun(&agent.Env{}), &call)
	}
	log := &record.Audit{Path: path, Sync: true}
	fire(log)
	fire(&record.Audit{Path: path}) // after a restart
	fire(log)                       // a second Audit on the same file
	if s := verified(t, path, record.AuditCheck{}); s.Records != 3 {
		t.Errorf("state: %+v", s)
	}

	// The program crashes in the middle of a line.
	whole := fixture.ReadFile(t, path)
	for _, torn := range []string{`{"time":"20`, "\n\nx\ny", strings.Repeat("z", 200_000)} {
		if err := os.WriteFile(path, append(bytes.Clone(whole), torn...), 0o600); err != nil {
			t.Fatal(err)
		}
		fire(&record.Audit{Path: path})
		s := verified(t, path, record.AuditCheck{})
		if s.Records != 4 || s.Torn == 0 {
			t.Errorf("after %.20q: %+v", torn, s)
		}
		changed := bytes.Replace(fixture.ReadFile(t, path), []byte(strings.TrimSpace(torn)), []byte("changed"), 1)
		if _, err := record.VerifyAudit(bytes.NewReader(changed), record.AuditCheck{}); err == nil {
			t.Errorf("a changed unfinished line %.20q was not found", torn)
		}
	}
	// Only the last newline is missing; then the very first line is incomplete. The second line is incomplete too, so the
	// file has no record yet.
	for _, left := range []string{strings.TrimSuffix(string(whole), "\n"), `{"time":"2026-`, `{"t`,
		"{\n{\"time\":\"2026-\n\n{\"ti"} {
		if err := os.WriteFile(path, []byte(left), 0o600); err != nil {
			t.Fatal(err)
		}
		fire(&record.Audit{Path: path})
		verified(t, path, record.AuditCheck{})
	}

	// Log rotation moves the file away.
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	fire(log)
	head := verified(t, path, record.AuditCheck{})
	if err := os.Rename(path, filepath.Join(dir, "old.jsonl")); err != nil {
		t.Fatal(err)
	}
	fire(log)
	if s := verified(t, path, record.AuditCheck{After: head.Hash}); s.Records != 1 || s.Seq != head.Seq+1 {
		t.Errorf("the new file: %+v", s)
	}
}

func TestReplayAuditIncludesSubRuns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	helper := &loop.Agent{Name: "helper", Model: looptest.NewScript(looptest.Reply("helped"))}
	one := looptest.Harness{
		Turns: []looptest.Turn{looptest.Calls(looptest.Call("helper", `{"task":"x"}`), looptest.Call("rm", nil)),
			looptest.Reply("done")},
		Tools: []agent.Tool{loop.Subagent(helper), &looptest.Tool{Name: "rm"}},
		Hooks: []agent.Hook{&record.Audit{Path: path}, fixture.DenyTool("rm", "never")},
	}
	one.Run(t, "one")
	looptest.Harness{Turns: []looptest.Turn{looptest.Reply("other")},
		Hooks: []agent.Hook{&record.Audit{Path: path}}}.Run(t, "two")
	records := auditRecords(t, path)
	run := records[0].Run

	var seen hookkit.Recorder
	if err := record.ReplayAudit(t.Context(), bytes.NewReader(fixture.ReadFile(t, path)), run, &seen); err != nil {
		t.Fatal(err)
	}
	events := seen.Events()
	if len(events) != len(records)-2 { // without the records of the second run
		t.Errorf("%d events of %d records", len(events), len(records))
	}
	runs := make(map[string]bool)
	denied := false
	for i, e := range events {
		runs[e.Run] = true
		if e.Point != records[i].Point || e.Kind != hookkit.Fired || e.Start.IsZero() {
			t.Errorf("event %d: %+v", i, e)
		}
		denied = denied || e.Point == "OnPermission" && e.Decision == "Deny" && e.Reason == "never" && e.Hook != ""
	}
	if len(runs) != 2 || !denied {
		t.Errorf("runs %v, denied %v", runs, denied)
	}

	seen.Reset()
	broken := append([]byte("not a record\n"), fixture.ReadFile(t, path)...)
	if err := record.ReplayAudit(t.Context(), bytes.NewReader(broken), "", &seen); err == nil ||
		!strings.Contains(err.Error(), "line 1") {
		t.Errorf("a line that is no record: %v", err)
	}
	if n := len(seen.Events()); n != len(records) {
		t.Errorf("all runs: %d events of %d records", n, len(records))
	}
	if err := record.ReplayAudit(t.Context(), strings.NewReader(""), "nobody", &seen); err == nil ||
		!strings.Contains(err.Error(), `"nobody"`) {
		t.Errorf("an unknown run: %v", err)
	}
}

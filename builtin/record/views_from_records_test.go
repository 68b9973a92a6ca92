package record_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/hookgen/hookgen/builtin/memory"
	"github.com/hookgen/hookgen/builtin/record"
	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit/hooklog"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// The views that write files and memories show the same from a record as from the run itself.
func TestWritingViewsReadRecords(t *testing.T) {
	dir := t.TempDir()
	type views struct {
		provenance *record.Provenance
		tree       *record.Tree
		episodes   *record.Episodes
	}
	viewsIn := func(name string) views {
		in := filepath.Join(dir, name)
		return views{
			&record.Provenance{Dir: filepath.Join(in, "steps"), Snapshot: true}, &record.Tree{Dir: filepath.Join(in, "tree")},
			&record.Episodes{Store: &memory.Facts{Share: share.Everyone}},
		}
	}
	live, read := viewsIn("live"), viewsIn("read")
	var log bytes.Buffer
	hooks := new(agent.Hooks)
	hooks.ObserveAny(agent.Record(hooklog.Lines(&log)))
	ran := looptest.Harness{
		Agent: &loop.Agent{Name: "porter", Hooks: hooks},
		Turns: completeTurns(looptest.NewClock(time.Unix(1e9, 0))),
		Tools: []agent.Tool{&looptest.Tool{Name: "look"}, &looptest.Tool{Name: "open"}, &looptest.Tool{Name: "burn"},
			&looptest.Tool{Name: "wait"}, &looptest.Tool{Name: "ask", Result: "yes"}},
		Hooks: append(completeHooks(), live.provenance, live.tree, live.episodes),
	}.Do(t, t.Context(), loop.Request{Task: "Open the door.", ID: "r1", Conversation: "c", User: "ann"})
	if ran.Failed != nil {
		t.Fatal(ran.Failed)
	}
	if err := record.Read(t.Context(), hooklog.Read(&log), read.provenance, read.tree, read.episodes); err != nil {
		t.Fatal(err)
	}
	shown := func(v views) string {
		run, err := record.ReadTrajectory(filepath.Join(v.provenance.Dir, "r1"))
		if err != nil {
			t.Fatal(err)
		}
		run.StartedAt, run.EndedAt, run.Summary, run.Snapshot.Limits = 0, 0, "", nil
		for i := range run.LLMCalls {
			run.LLMCalls[i].Timestamp, run.LLMCalls[i].DurationMS = 0, 0
		}
		for i := range run.Steps {
			run.Steps[i].Timestamp, run.Steps[i].DurationMS = 0, 0
		}
		calls, err := v.tree.Read(agent.Identity{User: "ann", Conversation: "c"})
		if err != nil {
			t.Error(err)
		}
		tree := calls.Markdown()
		episodes, err := memory.Episodes(t.Context(), v.episodes.Store, 100)
		if err != nil || len(episodes) == 0 {
			t.Errorf("there are the episodes %v, %v", episodes, err)
		}
		for _, e := range episodes {
			tree += fmt.Sprintln(e.Outcome, e.Agent, e.Run, string(e.Payload))
		}
		text, err := json.Marshal(run)
		if err != nil {
			t.Error(err)
		}
		return string(text) + "\n" + tree
	}
	if got, want := shown(read), shown(live); got != want {
		t.Errorf("from the record\n%s\nlive\n%s", got, want)
	}
}

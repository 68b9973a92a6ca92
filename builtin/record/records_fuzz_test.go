package record

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/fixture"
	"github.com/hookgen/hookgen/builtin/session"
	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/generated/agent"
)

func FuzzRunHistory(f *testing.F) {
	one := `{"execution_id":"a","execution_number":1,"status":"completed","step_count":1,` +
		`"usage":{"input_tokens":1},"duration":1.5,"started_at":1e9,"completed_at":1e9,` +
		`"stop_reason":"a","stop_message":"","error_count":1}`
	fixture.SeedFiles(f, `[]`, `[`+one+`]`, `[`+one+`,{},null,`+one+`]`)
	f.Fuzz(func(t *testing.T, data []byte) {
		history := &History{Store: new(session.Map), Keep: 3, Share: share.Everyone}
		key := historyKey(agent.Identity{}, "a")
		runs := func(data []byte) ([]HistoryEntry, error) {
			if err := history.Store.Put(t.Context(), key, data); err != nil {
				t.Fatal(err)
			}
			return history.Runs(t.Context(), agent.Identity{}, "a")
		}
		entries, err := runs(data)
		ended := history.OnRunEnd(t.Context(), agent.NewRun(&agent.Env{Agent: "a"}), agent.AgentResult{Agent: "a"})
		if err != nil {
			left, _ := history.Store.Get(t.Context(), key)
			if !strings.Contains(err.Error(), key) || entries != nil || ended == nil || !bytes.Equal(left, data) {
				t.Errorf("%v, %v; then %v, and %s became %s", entries, err, ended, data, left)
			}
			return
		}
		more, err := history.Runs(t.Context(), agent.Identity{}, "a")
		if ended != nil || err != nil || len(more) != min(len(entries)+1, 3) {
			t.Errorf("%d runs and one more are %d (%v, %v)", len(entries), len(more), ended, err)
		}
		fixture.SameAgain(t, runs, entries)
	})
}

func FuzzReadTrajectory(f *testing.F) {
	fixture.SeedFiles(f, `{"run_id":"a"}`,
		`{"run_id":"a","started_at":1,"metadata":{"a":[1,{"b":null}]},"snapshot":{},`+
			`"steps":[{},{"step_num":1,"tool_calls":[{}]}],"llm_calls":[{"metadata":{"a":1}},null]}`)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		read := func(data []byte) (TrajectoryRun, error) {
			if err := os.WriteFile(filepath.Join(dir, trajectoryFile), data, 0o600); err != nil {
				t.Fatal(err)
			}
			return ReadTrajectory(dir)
		}
		r, err := read(data)
		if err != nil {
			if !strings.Contains(err.Error(), trajectoryFile) || r.RunID != "" || r.Steps != nil {
				t.Errorf("%+v, %v", r, err)
			}
			return
		}
		if r.RunID == "" {
			t.Errorf("%s is of no run", data)
		}
		fixture.SameAgain(t, read, r)
	})
}

func FuzzReplay(f *testing.F) {
	fixture.SeedFiles(f, `{"response":{"content":"a"}}`,
		`{"timestamp":1,"method":"generate","response":{"content":"a",`+
			`"tool_calls":[{"id":"1","name":"t","args_text":"x"}],"usage":{"input_tokens":1},`+
			`"finish_reason":"stop","extra":{"a":1}}}`,
		`{"timestamp":1,"method":"a","error":"a","prompt_too_long":{}}`, `{"error":"a"}`)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		read := func(data []byte) (storedReply, error) {
			if err := os.WriteFile(filepath.Join(dir, callFile(0, "response.json")), data, 0o600); err != nil {
				t.Fatal(err)
			}
			return readCall(dir, 0)
		}
		call, err := read(data)
		replayed, failed := Replay(dir)
		if (err == nil) != (failed == nil) {
			t.Fatalf("a call with the error %v is replayed with %v", err, failed)
		}
		if err != nil {
			if !strings.Contains(err.Error(), callFile(0, "response.json")) || replayed != nil {
				t.Errorf("%v beside %v", replayed, err)
			}
			return
		}
		fixture.SameAgain(t, read, call)
		var request agent.LLMRequest
		if call.Method == methodTools {
			request.Tools = []agent.ToolSchema{{Name: "t"}}
		}
		reply, err := replayed.Generate(t.Context(), request)
		known := call.Method == "" || call.Method == methodPlain || call.Method == methodTools
		if answered := err == nil; answered != (known && call.Response != nil && call.PromptTooLong == nil) {
			t.Errorf("%s is replayed as %+v, %v", data, reply, err)
		}
		if _, err := replayed.Generate(t.Context(), request); err == nil {
			t.Error("one recorded call answers two")
		}
	})
}

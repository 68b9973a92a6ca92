package record

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit/hooklog"
)

// Whatever a record holds, its views have a value, or Read says which event it cannot read.
func FuzzViews(f *testing.F) {
	event := func(point, payload string) string {
		return `{"protocol":1,"seq":1,"spec":"github.com/hookgen/hookgen/spec/agentspec","point":"` + point +
			`","run":{"id":"a","labels":{"user":"u"}},"decision":"continue","payload":` + payload + "}\n"
	}
	fixture.SeedFiles(f, event("OnRunStart", `{"agent":"a"}`)+event("OnRunEnd", `{"calls":[{"err":"x"}],"messages":[{}]}`),
		event("AfterStep", `{"results":[{"call":{"name":"x"}},{}]}`)+event("AfterTool", `{"attempts":1}`),
		event("AfterLLM", `null`)+event("OnBudgetExceeded", `{"kind":"tokens"}`)+event("OnRunEnd", `[]`))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		metrics, timing, history := new(Metrics), new(Timing), &History{Keep: 3}
		err := Read(t.Context(), hooklog.Read(bytes.NewReader(data)), metrics, timing, history, &Summary{Dir: dir})
		if runs := history.Runs(agent.Identity{}, ""); len(runs) > 3 || len(runs) > metrics.Report().Runs && err == nil &&
			!slices.ContainsFunc(runs, func(r HistoryEntry) bool { return r.Status == "suspended" }) {
			t.Errorf("%d runs, counted %d, %v", len(runs), metrics.Report().Runs, err)
		}
		_ = metrics.Report().String()
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

package builtin

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hookgen/hookgen/generated/agent"
)

const hostileMessages = `[{"role":"user","content":"a\u0000\ud800"},{"role":"assistant","content":"","tool_calls":[{"id":"1","name":"t","args_text":"not json"},{"id":"2","name":"t","args":{"a":[1e400]},"args_text":"{}","step":-1}],"extra":{"x":null,"y":[1]}},` +
	`{"role":"tool","tool_call_id":"1","content":"x","is_error":true,"parts":[{"media_type":"image/png","data":"AAEC"},{}]},{}]`

// seedFiles adds files with a valid body, parts of it, it with its keys twice and in capitals, and hostile values.
func seedFiles(f *testing.F, valid ...string) {
	for _, s := range valid {
		f.Add([]byte(s))
		f.Add([]byte(s[:len(s)/2]))
		f.Add([]byte(strings.ToUpper(s)))
		f.Add([]byte(" " + strings.TrimSuffix(s, "}") + "," + strings.TrimPrefix(s, "{")))
		f.Add([]byte(strings.ReplaceAll(s, `1`, `1e2`)))
		f.Add([]byte(strings.ReplaceAll(s, `"a"`, `null`)))
	}
	for _, s := range hostileJSON {
		f.Add([]byte(s))
	}
}

// sameAgain checks that what was decoded is the same when it is encoded and decoded again.
func sameAgain[T any](t *testing.T, decode func([]byte) (T, error), was T) {
	t.Helper()
	first, err := json.Marshal(was)
	if err != nil {
		t.Fatalf("%+v was read and cannot be written: %v", was, err)
	}
	is, err := decode(first)
	if err != nil {
		t.Fatalf("%s was written and cannot be read: %v", first, err)
	}
	if second, err := json.Marshal(is); err != nil || !bytes.Equal(first, second) {
		t.Errorf("%s came back as %s (%v)", first, second, err)
	}
}

func FuzzLoadSession(f *testing.F) {
	seedFiles(f, `{"id":"a","messages":[]}`, `{"id":"a","messages":`+hostileMessages+`,"state":{"a":{"b":1},"a2":null,"":[]}}`, `{"messages":[{"role":"user","content":"1"}]}`)
	f.Fuzz(func(t *testing.T, data []byte) {
		sessions := Sessions{Store: new(MapStore)}
		load := func(data []byte) (agent.Session, error) {
			if err := sessions.Store.Put(t.Context(), "id", data); err != nil {
				t.Fatal(err)
			}
			return sessions.Load(t.Context(), "id")
		}
		session, err := load(data)
		if err != nil {
			if !strings.Contains(err.Error(), `"id"`) || !errors.As(err, new(*corruptSession)) || session.Messages != nil {
				t.Errorf("%+v, %v", session, err)
			}
			return
		}
		if session.ID != "id" || session.Messages == nil {
			t.Errorf("loaded %+v", session)
		}
		sameAgain(t, load, session)
		if err := sessions.Save(t.Context(), session); err != nil {
			t.Errorf("%s was loaded and cannot be saved: %v", data, err)
		}
	})
}

func FuzzLatestCheckpoint(f *testing.F) {
	seedFiles(f, `{"step_number":1}`, `{"step_number":1,"session_log_data":{"entries":["#1"],"current_theory":"a"},"conversation_data":{"id":"a","messages":`+hostileMessages+`},`+
		`"config_snapshot":{"max_steps":1,"temperature":1.5,"budget_remaining":-1},"tool_results_store":{"a":"b"},"counters":{"steps":1,"usage":{"input_tokens":1,"cost":1e308}},"metadata":{"a":"a"},"created_at":1e10}`)
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(io.Discard, nil))) // what is skipped is logged
	f.Cleanup(func() { slog.SetDefault(before) })
	f.Fuzz(func(t *testing.T, data []byte) {
		store := new(MapStore)
		latest := func(data []byte) (CheckpointState, error) {
			for key, value := range map[string][]byte{"n/step_1": data, "n/step_01": data, "n/step_2": []byte(`{"step_number":1}`), "n/step_3": data[:len(data)/2]} {
				if err := store.Put(t.Context(), key, value); err != nil {
					t.Fatal(err)
				}
			}
			return LatestCheckpoint(t.Context(), store, "n")
		}
		state, err := latest(data)
		if err != nil {
			if !errors.As(err, new(*agent.NotFound)) || state.StepNumber != 0 {
				t.Errorf("%+v, %v", state, err)
			}
			return
		}
		if state.StepNumber != 1 && state.StepNumber != 3 {
			t.Errorf("step %d is the latest", state.StepNumber)
		}
		if state.StepNumber == 1 {
			sameAgain(t, latest, state)
		}
	})
}

func FuzzRunHistory(f *testing.F) {
	one := `{"execution_id":"a","execution_number":1,"status":"completed","step_count":1,"usage":{"input_tokens":1},"duration":1.5,"started_at":1e9,"completed_at":1e9,"stop_reason":"a","stop_message":"","error_count":1}`
	seedFiles(f, `[]`, `[`+one+`]`, `[`+one+`,{},null,`+one+`]`)
	f.Fuzz(func(t *testing.T, data []byte) {
		history := &RunHistory{Store: new(MapStore), Keep: 3}
		runs := func(data []byte) ([]RunEntry, error) {
			if err := history.Store.Put(t.Context(), historyKey("a"), data); err != nil {
				t.Fatal(err)
			}
			return history.Runs(t.Context(), "a")
		}
		entries, err := runs(data)
		ended := history.OnRunEnd(t.Context(), agent.NewRun(&agent.Env{Agent: "a"}), agent.AgentResult{Agent: "a"})
		if err != nil {
			left, _ := history.Store.Get(t.Context(), historyKey("a"))
			if !strings.Contains(err.Error(), historyKey("a")) || entries != nil || ended == nil || !bytes.Equal(left, data) {
				t.Errorf("%v, %v; then %v, and %s became %s", entries, err, ended, data, left)
			}
			return
		}
		more, err := history.Runs(t.Context(), "a")
		if ended != nil || err != nil || len(more) != min(len(entries)+1, 3) {
			t.Errorf("%d runs and one more are %d (%v, %v)", len(entries), len(more), ended, err)
		}
		sameAgain(t, runs, entries)
	})
}

func FuzzMemoryFile(f *testing.F) {
	seedFiles(f, `{"facts":[],"preferences":[],"episodes":[]}`,
		`{"facts":[{"id":"a","key":"k","value":{"a":[1]},"scope":"s","source":1,"updated_at":1.5,"valid_from":null,"valid_to":-1,"invalidated_at":1e11,"supersedes":"a"},{"key":"k","value":null,"scope":"s"},{"key":"k","scope":"s"}],`+
			`"preferences":[{"key":"p","value":"a","updated_at":253402300799},{"key":"p","value":2}],"episodes":[{"kind":"a","payload":null,"outcome":true,"timestamp":1,"agent":"a"},{"payload":{"a":1}}]}`,
		`{"facts":[{"key":"k","updated_at":-62135596800,"valid_from":1e-9}]}`,
		`{"episodes":[{"kind":"\u2028","payload":{"a":{"b":["<1>"]},"\u0085":1,"c":"\r"},"outcome":[1, 2]},{"payload":["a"]}]}`)
	f.Fuzz(func(t *testing.T, data []byte) {
		given := new(MemoryStore)
		episode := Episode{Kind: string(data), Payload: data, Outcome: string(data)}
		if err := given.AddEpisode(t.Context(), episode); err != nil {
			t.Error(err)
		}
		renderedHolds(t, given)
		m := new(MemoryFile)
		if err := m.decode(data); err != nil {
			return
		}
		first, err := m.encode()
		if err != nil {
			t.Fatalf("%s was read and cannot be written: %v", data, err)
		}
		again := new(MemoryFile)
		if err := again.decode(first); err != nil {
			t.Fatalf("%s was written and cannot be read: %v", first, err)
		}
		if second, err := again.encode(); err != nil || !bytes.Equal(first, second) {
			t.Errorf("%s came back as %s (%v)", first, second, err)
		}
		if is, was := renderedHolds(t, again), renderedHolds(t, m); is != was {
			t.Errorf("%s is rendered as %q, and as %q when it was written and read", data, was, is)
		}
		standing := make(map[factKey]bool)
		for _, fact := range m.facts {
			at := keyOf(fact.Key, fact.Scope)
			if fact.Stands() && standing[at] {
				t.Errorf("two facts stand under %v: %+v", at, m.facts)
			}
			standing[at] = standing[at] || fact.Stands()
		}
	})
}

// renderedHolds checks that every entry of a memory is one line of limited length in a prompt, and returns the text.
func renderedHolds(t *testing.T, m Memory) string {
	t.Helper()
	const most = 4
	text, err := RenderMemory(t.Context(), m, most, most)
	if again, _ := RenderMemory(t.Context(), m, most, most); err != nil || again != text {
		t.Errorf("rendered as %q, %v, then as %q", text, err, again)
	}
	preferences, _ := m.Preferences(t.Context())
	facts, _ := m.Facts(t.Context(), "")
	episodes, _ := m.Recent(t.Context(), most, "")
	entries := min(len(preferences), most) + min(len(facts), most) + len(episodes)
	for line := range strings.SplitSeq(text, "\n") {
		switch {
		case strings.HasPrefix(line, "- "):
			entries--
		case line == "Known preferences:", line == "Known facts:", line == "Recent outcomes:", text == "":
		default:
			t.Errorf("%q is neither a title nor an entry", line)
		}
		if utf8.RuneCountInString(line) > 700 || !isLine(line) {
			t.Errorf("a line is %q", line)
		}
	}
	if entries != 0 {
		t.Errorf("%d entries have no line: %q", entries, text)
	}
	return text
}

func FuzzReadTrajectory(f *testing.F) {
	seedFiles(f, `{"run_id":"a"}`, `{"run_id":"a","started_at":1,"metadata":{"a":[1,{"b":null}]},"snapshot":{},"steps":[{},{"step_num":1,"tool_calls":[{}]}],"llm_calls":[{"metadata":{"a":1}},null]}`)
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
		sameAgain(t, read, r)
	})
}

func FuzzReplay(f *testing.F) {
	seedFiles(f, `{"response":{"content":"a"}}`, `{"timestamp":1,"method":"generate","response":{"content":"a","tool_calls":[{"id":"1","name":"t","args_text":"x"}],"usage":{"input_tokens":1},"finish_reason":"stop","extra":{"a":1}}}`,
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
		sameAgain(t, read, call)
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

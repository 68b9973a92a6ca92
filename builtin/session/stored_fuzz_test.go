package session

import (
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/generated/agent"
)

func FuzzLoadSession(f *testing.F) {
	fixture.SeedFiles(f, `{"id":"a","messages":[]}`,
		`{"id":"a","messages":`+fixture.HostileMessages+`,"state":{"a":{"b":1},"a2":null,"":[]}}`,
		`{"messages":[{"role":"user","content":"1"}]}`)
	f.Fuzz(func(t *testing.T, data []byte) {
		sessions, id := Sessions{Store: new(Map)}, agent.Identity{Conversation: "id"}
		load := func(data []byte) (agent.Session, error) {
			if err := sessions.Store.Put(t.Context(), sessionKey(id), data); err != nil {
				t.Fatal(err)
			}
			return sessions.Load(t.Context(), id)
		}
		session, err := load(data)
		if err != nil {
			if !strings.Contains(err.Error(), `"id"`) || session.Messages != nil {
				t.Errorf("%+v, %v", session, err)
			}
			return
		}
		if session.Identity != id || session.Messages == nil {
			t.Errorf("loaded %+v", session)
		}
		fixture.SameAgain(t, load, session)
		if err := sessions.Save(t.Context(), session); err != nil {
			t.Errorf("%s was loaded and cannot be saved: %v", data, err)
		}
	})
}

func FuzzLatestCheckpoint(f *testing.F) {
	fixture.SeedFiles(f, `{"step_number":1,"chain":"a","first":true}`,
		`{"step_number":1,"chain":"a","first":true,"from":0,"conversation":"a","messages":`+fixture.HostileMessages+`,`+
			`"counters":{"steps":1,"usage":{"input_tokens":1,"cost":1e308}},"task":"a","time":"2030-01-01T00:00:00Z"}`)
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(io.Discard, nil))) // skipped checkpoints are logged
	f.Cleanup(func() { slog.SetDefault(before) })
	f.Fuzz(func(t *testing.T, data []byte) {
		store := new(Map)
		latest := func(data []byte) (CheckpointState, error) {
			n := agent.Identity{Conversation: "n"}
			for key, value := range map[string][]byte{partKey(n, 1): data, countersKey(n): data,
				partKey(n, 2): []byte(`{"step_number":1}`), partKey(n, 3): data[:len(data)/2]} {
				if err := store.Put(t.Context(), key, value); err != nil {
					t.Fatal(err)
				}
			}
			return Latest(t.Context(), store, n)
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
			fixture.SameAgain(t, func(data []byte) (CheckpointState, error) {
				var s CheckpointState
				if err := json.Unmarshal(data, &s); err != nil {
					return s, err
				}
				part, err := json.Marshal(checkpointPart{s, "a", true, 0})
				if err != nil {
					return s, err
				}
				return latest(part)
			}, state)
		}
	})
}

package session_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/session"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// part returns the JSON of a checkpoint with one message, which is named after the chain and the step.
func part(chain string, step, from, minute int, more string) string {
	first := ""
	if from == 0 {
		first = `"first":true,`
	}
	return fmt.Sprintf(`{"step_number":%d,"chain":%q,%s"from":%d,"time":"2030-01-01T00:%02d:00Z",%s"messages":[`+
		`{"role":"user","content":"%s%d"}]}`, step, chain, first, from, minute, more, chain, step)
}

// A program that is killed between two operations of the store leaves checkpoints of several runs.
func TestLatestJoinsTheNewestWholeChain(t *testing.T) {
	for _, c := range []struct {
		name  string
		parts map[int]string
		want  string
	}{
		{"one chain", map[int]string{1: part("a", 1, 0, 1, ""), 2: part("a", 2, 1, 2, "")}, "user:a1 user:a2"},
		{"a newer chain with fewer steps", map[int]string{
			2: part("b", 2, 0, 9, ""), 3: part("a", 3, 0, 1, ""), 4: part("a", 4, 1, 2, ""),
		}, "user:b2"},
		{"an older chain with fewer steps", map[int]string{
			2: part("b", 2, 0, 1, ""), 3: part("a", 3, 0, 8, ""), 4: part("a", 4, 1, 9, ""),
		}, "user:a3 user:a4"},
		{"chains of the same time", map[int]string{1: part("b", 1, 0, 5, ""), 2: part("a", 2, 0, 5, "")}, "user:a2"},
		{"a missing part", map[int]string{1: part("a", 1, 0, 1, ""), 3: part("a", 3, 2, 3, "")}, "user:a1"},
		{"a missing part, and one that would fit", map[int]string{
			1: part("a", 1, 0, 1, ""), 3: part("a", 3, 2, 3, ""), 4: part("a", 4, 1, 4, ""),
		}, "user:a1"},
		{"a chain that begins again", map[int]string{
			1: part("a", 1, 0, 1, ""), 2: part("a", 2, 7, 2, ""), 3: part("a", 3, 0, 3, ""), 4: part("a", 4, 1, 4, ""),
		}, "user:a3 user:a4"},
		{"no beginning", map[int]string{2: part("a", 2, 1, 2, "")}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			store := new(session.Map)
			for step, text := range c.parts {
				if err := store.Put(t.Context(), stepKey(step), []byte(text)); err != nil {
					t.Fatal(err)
				}
			}
			saved, err := session.Latest(t.Context(), store, agent.Identity{Conversation: "c"})
			if got := fixture.Transcript(saved.Messages); got != c.want {
				t.Errorf("joined %q, %v, want %q", got, err, c.want)
			}
			if missing := errors.As(err, new(*agent.NotFound)); missing != (c.want == "") {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

// A checkpoint has the task only if it changed, so it remains until a later checkpoint replaces it.
func TestTheTaskRemainsUntilReplaced(t *testing.T) {
	for second, want := range map[string]string{"": "go", `"task":"",`: "go", `"task":"on",`: "on"} {
		t.Run(want+second, func(t *testing.T) {
			store := new(session.Map)
			for step, text := range map[int]string{1: part("a", 1, 0, 1, `"task":"go",`), 2: part("a", 2, 1, 2, second)} {
				if err := store.Put(t.Context(), stepKey(step), []byte(text)); err != nil {
					t.Fatal(err)
				}
			}
			s, err := session.Latest(t.Context(), store, agent.Identity{Conversation: "c"})
			if err != nil || s.Task != want {
				t.Errorf("the task is %q, %v, want %q", s.Task, err, want)
			}
		})
	}
}

func TestUnreadableCheckpointsAreLogged(t *testing.T) {
	var log bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	t.Cleanup(func() { slog.SetDefault(before) })
	store := new(session.Map)
	checkpointed(t, store, 1)
	for _, foreign := range []string{"checkpoint///c/step/09", "checkpoint///c/step/x", "checkpoint///c/step/-1",
		"checkpoint///c/step/0", "checkpoint///c/step/+8", "checkpoint///c/other/9"} {
		if err := store.Put(t.Context(), foreign, []byte("torn")); err != nil {
			t.Fatal(err)
		}
	}
	keys := []string{stepKey(2), stepKey(3), stepKey(4), "checkpoint///c/counters"}
	for _, key := range keys {
		text := map[string]string{stepKey(3): `{"step_number":2}`, stepKey(4): `{"step_number":4}`}[key]
		if err := store.Put(t.Context(), key, []byte(cmp.Or(text, "torn"))); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := session.Latest(t.Context(), store, agent.Identity{Conversation: "c"}); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"invalid character", "it is of step 2", "it is not a checkpoint", "invalid character"} {
		if found, _ := regexp.MatchString("key="+keys[i]+` error="`+want, log.String()); !found {
			t.Errorf("%s is not in the log with %q:\n%s", keys[i], want, &log)
		}
	}
	if n := strings.Count(log.String(), "\n"); n != len(keys) {
		t.Errorf("%d lines in the log:\n%s", n, &log)
	}
}

// A crash between two operations can lose the counters. Those of the last checkpoint are then the best ones.
func TestCountersAreRestoredForTheSameTask(t *testing.T) {
	for _, c := range []struct {
		name, task string
		lost       bool // the counters
		between    bool // a run with another task crashes in its first step
		calls      int  // model calls, including those before the crash
	}{
		{"same task", "go", false, false, 4},
		{"same task without counters", "go", true, false, 3},
		{"same task after another one", "go", false, true, 1},
		{"no task", "", false, false, 4},
		{"no task without counters", "", true, false, 3},
		{"another task", "more", false, false, 1},
		{"another task without counters", "more", true, false, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			store := new(session.Map)
			looptest.Harness{ // the third step is not in a checkpoint, and the fourth fails
				Turns: callTurns(3, looptest.Error(errors.New("crash"))), Tools: []agent.Tool{&looptest.Tool{Name: "x"}},
				Hooks: []agent.Hook{&session.Checkpoint{Store: store, Every: 2}},
			}.Do(t, t.Context(), loop.Request{Task: "go", Conversation: "c"})
			if c.between {
				looptest.Harness{Hooks: []agent.Hook{&session.Checkpoint{Store: store, Resume: true}}}.
					Do(t, t.Context(), loop.Request{Task: "other", Conversation: "c"})
			}
			if c.lost {
				if err := store.Delete(t.Context(), "checkpoint///c/counters"); err != nil {
					t.Fatal(err)
				}
			}
			ran := looptest.Harness{Turns: []looptest.Turn{looptest.Reply("done")},
				Hooks: []agent.Hook{&session.Checkpoint{Store: store, Resume: true}}}.
				Do(t, t.Context(), loop.Request{Task: c.task, Conversation: "c"})
			if ran.Failed != nil || ran.ModelCalls != c.calls {
				t.Errorf("%d model calls, want %d, %v", ran.ModelCalls, c.calls, ran.Failed)
			}
		})
	}
}

func TestARunWithoutANameIsReported(t *testing.T) {
	for _, c := range []struct {
		name, conversation string
		reports            int
	}{
		{"no name", "", 1}, {"a name", "c", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			var reported []error
			store := new(session.Map)
			helper := &loop.Agent{Name: "helper", Model: looptest.NewScript(looptest.Reply("helped"))}
			looptest.Harness{
				Turns: []looptest.Turn{looptest.Call("helper", `{"task":"a"}`), looptest.Reply("done")},
				Tools: []agent.Tool{loop.Subagent(helper)},
				Hooks: []agent.Hook{&session.Checkpoint{Store: store, Resume: true,
					OnError: func(err error) { reported = append(reported, err) }}},
			}.Do(t, t.Context(), loop.Request{Task: "go", Conversation: c.conversation})
			if len(reported) != c.reports {
				t.Errorf("reported %v", reported)
			}
			if keys, _ := store.Keys(t.Context(), ""); len(keys) != 0 {
				t.Errorf("a completed run leaves %q", keys)
			}
		})
	}
}

// The run crashes after its first step and is resumed by a hook that saves every third step.
func TestAResumedRunContinuesTheChain(t *testing.T) {
	for _, c := range []struct{ name, task, wantTask string }{
		{"same task", "go", "go"}, {"no task", "", "go"}, {"another task", "more", "more"},
	} {
		for _, compacts := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, compacted: %t", c.name, compacts), func(t *testing.T) {
				store := new(session.Map)
				checkpointed(t, store, 1)
				turns := slices.Repeat([]looptest.Turn{looptest.Call("x", nil)}, 5)
				looptest.Harness{
					Turns: append(turns, looptest.Error(errors.New("crash"))), Tools: []agent.Tool{&looptest.Tool{Name: "x"}},
					Agent: &loop.Agent{Compactor: &dropping{}},
					Hooks: []agent.Hook{&session.Checkpoint{Store: store, Every: 3, Resume: true}, agent.ShouldCompactFunc(func(
						_ context.Context, _ *agent.Run, use agent.ContextUse,
					) (agent.ShouldCompactOutcome, error) {
						if !compacts || len(use.Messages) < 6 {
							return nil, nil
						}
						return agent.Compact{}, nil
					})},
				}.Do(t, t.Context(), loop.Request{Task: c.task, Conversation: "c"})
				want := []string{"checkpoint///c/counters", stepKey(1), stepKey(3), stepKey(6)}
				if compacts { // the whole conversation is in the last one
					want = []string{"checkpoint///c/counters", stepKey(6)}
				}
				if keys, _ := store.Keys(t.Context(), ""); !slices.Equal(keys, want) {
					t.Errorf("keys: %q", keys)
				}
				value, _ := store.Get(t.Context(), stepKey(3))
				if c.task != "more" && bytes.Contains(value, []byte(`"task":"go"`)) {
					t.Errorf("the task is repeated: %s", value)
				}
				saved, err := session.Latest(t.Context(), store, agent.Identity{Conversation: "c"})
				if err != nil || saved.Task != c.wantTask {
					t.Errorf("the task is %q, %v", saved.Task, err)
				}
			})
		}
	}
}

// A message of the model can contain the same text as the new task.
func TestTheTaskIsLeftOutOnlyOnce(t *testing.T) {
	for _, c := range []struct{ name, task, want string }{
		{"the same task", "go", "user:go assistant: tool:y"},
		{"another task", "more", "user:go assistant: tool:y user:more"},
		{"the output of a tool", "y", "user:go assistant: tool:y user:y"},
	} {
		t.Run(c.name, func(t *testing.T) {
			store := new(session.Map)
			checkpointed(t, store, 1)
			ran := looptest.Harness{Turns: []looptest.Turn{looptest.Reply("done")},
				Hooks: []agent.Hook{&session.Checkpoint{Store: store, Resume: true}}}.
				Do(t, t.Context(), loop.Request{Task: c.task, Conversation: "c"})
			if got := fixture.Transcript(ran.Script.Requests()[0].Messages); got != c.want {
				t.Errorf("the model was asked %q, want %q", got, c.want)
			}
		})
	}
}

// The disk is full during one step: the next checkpoint must have the content of the lost one too.
func TestALostCheckpointIsInTheNext(t *testing.T) {
	for _, lost := range []string{stepKey(1), stepKey(2)} {
		t.Run(lost, func(t *testing.T) {
			store := &full{key: lost}
			checkpointed(t, store, 3)
			saved, err := session.Latest(t.Context(), store, agent.Identity{Conversation: "c"})
			if err != nil || saved.StepNumber != 3 || len(saved.Messages) != 7 {
				t.Errorf("%+v, %v", saved, err)
			}
		})
	}
}

// full is a store that cannot store the value of one key.
type full struct {
	session.Map
	key string
}

func (f *full) Put(ctx context.Context, key string, value []byte) error {
	if key == f.key {
		return errors.New("no space left")
	}
	return f.Map.Put(ctx, key, value)
}

// Some hosts have no counters that a hook can restore.
func TestAHostWithoutCountersResumes(t *testing.T) {
	store := new(session.Map)
	checkpointed(t, store, 2)
	var hooks agent.Hooks
	hooks.Use(&session.Checkpoint{Store: store, Resume: true})
	start := agent.RunStart{Task: "go"}
	run := agent.NewRun(&agent.Env{Conversation: named("c")})
	if _, err := hooks.OnRunStart.Fire(t.Context(), run, &start); err != nil {
		t.Fatal(err)
	}
	if got := fixture.Transcript(start.Messages); got != "user:go assistant: tool:y assistant: tool:y" {
		t.Errorf("continues with %q", got)
	}
}

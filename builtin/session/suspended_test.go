package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/session"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// asking makes the agent of a process, whose tool pay needs the approval of a person who answers later.
func asking(script *looptest.Script, hooks ...agent.Hook) *loop.Agent {
	a := &loop.Agent{
		Model: script, Tools: []agent.Tool{&looptest.Tool{Name: "pay", Result: "paid"}}, Hooks: new(agent.Hooks),
		Approver: fixture.Later{},
	}
	a.Hooks.Use(agent.OnPermissionFunc(func(
		context.Context, *agent.Run, agent.ToolCallRequest,
	) (agent.OnPermissionOutcome, error) {
		return agent.Ask{}, nil
	}))
	for _, h := range hooks {
		a.Hooks.Use(h)
	}
	return a
}

// TestSuspendedRunIsSavedWithoutOpenCall: the conversation can be continued while the call waits, and the rest of
// the suspended run is added when it is resumed.
func TestSuspendedRunIsSavedWithoutOpenCall(t *testing.T) {
	for _, c := range []struct {
		name     string
		other    bool // another run uses the conversation in the meantime
		compacts bool // the resumed run keeps its last two messages
		want     string
	}{
		{"Alone", false, false, "user:hi assistant: tool:paid assistant:done"},
		{"AnotherRunInBetween", true, false, "user:hi user:and? assistant:later assistant: tool:paid assistant:done"},
		{"Compacted", false, true, "assistant: tool:paid assistant:done"},
	} {
		t.Run(c.name, func(t *testing.T) {
			store := session.Dir{Path: t.TempDir()}
			persist := func() agent.Hook { return &session.Persist{Store: session.Sessions{Store: store}} }
			id := agent.Identity{Conversation: "c", User: "ann"}
			script := looptest.NewScript(looptest.Call("pay", nil), looptest.Reply("done"))
			first, err := looptest.Ended(asking(script, persist()).Do(t.Context(), loop.Request{
				Task: "hi", Conversation: id.Conversation, User: id.User,
			}))
			if err != nil || first.Suspended == nil {
				t.Fatalf("%+v, %v", first.Stop, err)
			}
			if got := savedOf(t, store, id); got != "user:hi" {
				t.Errorf("saved %s", got)
			}
			if c.other {
				later := asking(looptest.NewScript(looptest.Reply("later")), persist())
				_, err := looptest.Ended(later.Do(t.Context(), loop.Request{
					Task: "and?", Conversation: id.Conversation, User: id.User,
				}))
				if err != nil {
					t.Fatal(err)
				}
			}
			second := asking(script, persist())
			if c.compacts {
				second.Compactor = lastTwo{}
				second.Hooks.ShouldCompact.AddFunc(func(
					context.Context, *agent.Run, agent.ContextUse,
				) (agent.ShouldCompactOutcome, error) {
					return agent.Compact{}, nil
				})
			}
			got, err := looptest.Ended(second.Resume(t.Context(), *first.Suspended,
				loop.AnswerTo(first.Suspended.Questions[0], agent.Approval{Allow: true})))
			if err != nil || got.Reply != "done" {
				t.Fatalf("%+v, %v", got, err)
			}
			if got := savedOf(t, store, id); got != c.want {
				t.Errorf("saved %s, want %s", got, c.want)
			}
		})
	}
}

// lastTwo keeps the last two messages of a conversation.
type lastTwo struct{}

func (lastTwo) Compact(_ context.Context, _ *agent.Env, c agent.Compaction) (agent.Compacted, error) {
	return agent.Compacted{Messages: c.Messages[len(c.Messages)-2:]}, nil
}

// TestCheckpointLeavesASuspendedStepOut: a checkpoint has only complete steps, and a resumed run uses its own state.
func TestCheckpointLeavesASuspendedStepOut(t *testing.T) {
	store := session.Dir{Path: t.TempDir()}
	checkpoint := func() agent.Hook { return &session.Checkpoint{Store: store, Every: 1, Resume: true} }
	script := looptest.NewScript(looptest.Call("pay", nil), looptest.Call("pay", nil), looptest.Reply("done"))
	result, err := looptest.Ended(asking(script, checkpoint()).Do(t.Context(), loop.Request{
		Task: "hi", Conversation: "c",
	}))
	for range 2 {
		if err != nil || result.Suspended == nil {
			t.Fatalf("%+v, %v", result.Stop, err)
		}
		id := agent.Identity{Conversation: "c"}
		if last, err := session.Latest(t.Context(), store, id); err == nil {
			if got := fixture.Transcript(last.Messages); got != "user:hi assistant: tool:paid" {
				t.Errorf("the checkpoint has %s", got)
			}
		}
		result, err = looptest.Ended(asking(script, checkpoint()).Resume(t.Context(), *result.Suspended,
			loop.AnswerTo(result.Suspended.Questions[0], agent.Approval{Allow: true})))
	}
	if err != nil || result.Reply != "done" || result.Steps != 3 || len(result.Warnings) > 0 {
		t.Errorf("%+v, %v", result, err)
	}
}

// Several workers find the answer to the same question, and each tries to resume the run.
func TestASuspendedRunIsResumedOnce(t *testing.T) {
	dir, kept := t.TempDir(), new(session.Map)
	for name, open := range map[string]func() session.SwapStore{
		"in memory": func() session.SwapStore { return kept },
		"in files":  func() session.SwapStore { return session.Dir{Path: dir} },
	} {
		t.Run(name, func(t *testing.T) {
			script := looptest.NewScript(looptest.Call("pay", nil), looptest.Reply("done"))
			first, err := looptest.Ended(asking(script).Run(t.Context(), "hi"))
			if err != nil || first.Suspended == nil {
				t.Fatalf("%+v, %v", first.Stop, err)
			}
			text, err := json.Marshal(first.Suspended)
			if err != nil {
				t.Fatal(err)
			}
			if err := open().Put(t.Context(), first.Suspended.ID, text); err != nil {
				t.Fatal(err)
			}
			var resumed atomic.Int32
			var all sync.WaitGroup
			for range 8 {
				all.Go(func() {
					swapped, err := open().Swap(t.Context(), first.Suspended.ID, text, nil)
					if err == nil && !swapped {
						return // another worker has it
					}
					var s agent.Suspension
					if err := errors.Join(err, json.Unmarshal(text, &s)); err != nil {
						t.Error(err)
						return
					}
					a := asking(looptest.NewScript(looptest.Reply("done")))
					answer := loop.AnswerTo(s.Questions[0], agent.Approval{Allow: true})
					if result, err := a.Resume(t.Context(), s, answer); err != nil || result.Calls[0].Output != "paid" {
						t.Errorf("%+v, %v", result, err)
					}
					resumed.Add(1)
				})
			}
			all.Wait()
			if n := resumed.Load(); n != 1 {
				t.Errorf("it was resumed %d times", n)
			}
		})
	}
}

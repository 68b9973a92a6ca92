package systems

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/prompt"
	"github.com/hookgen/hookgen/builtin/session"
	"github.com/hookgen/hookgen/builtin/window"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// stagedStore has a stage before and a stage after each action of a session store.
type stagedStore struct {
	agent.SessionStore
	events *diary
	fail   error // of the stage before saving
}

func (s stagedStore) Load(ctx context.Context, id agent.Identity) (agent.Session, error) {
	session, err := s.SessionStore.Load(ctx, id)
	s.events.note("after load")
	return session, err
}

func (s stagedStore) Save(ctx context.Context, session agent.Session) error {
	s.events.note("before save")
	if s.fail != nil {
		return s.fail
	}
	session.Messages = append(session.Messages, agent.Message{Role: agent.RoleUser, Content: "before save"})
	err := s.SessionStore.Save(ctx, session)
	session.Messages[0].Content = "after save"
	s.events.note("after save")
	return err
}

func TestStagesSkillsAndGoingBack(t *testing.T) {
	t.Run("stages", func(t *testing.T) {
		events := new(diary)
		store := stagedStore{SessionStore: session.Sessions{Store: new(session.Map)}, events: events}
		run := func() *looptest.Ran {
			return looptest.Harness{Turns: working(0), Hooks: all[agent.Hook](&session.Persist{Store: store})}.Do(
				t, t.Context(), loop.Request{Task: "x", Conversation: "c"})
		}
		run()
		events.want(t, "after load", "after load", "before save", "after save")
		session, err := store.SessionStore.Load(t.Context(), agent.Identity{Conversation: "c"})
		if n := len(session.Messages); err != nil || n != 3 || session.Messages[0].Content != "x" ||
			session.Messages[2].Content != "before save" {
			t.Errorf("stored %+v, %v", session.Messages, err)
		}
		store.fail = errors.New("the stage failed")
		reported := false
		for _, e := range run().Trace.Events() {
			reported = reported || e.Failure != nil && strings.Contains(e.Failure.Error(), "the stage failed")
		}
		if !reported {
			t.Error("the failure of a stage is not reported")
		}
	})
	t.Run("skills", func(t *testing.T) {
		skills := &prompt.Skills{List: []prompt.Skill{
			{Name: "free"}, {Name: "reader", Tools: all("read"), Model: "small"}, {Name: "writer", Model: "large"},
		}}
		for _, c := range []struct {
			name   string
			load   []string
			status string // of the call of work
			model  string
		}{
			{"none", nil, "succeeded", ""},
			{"no list, no model", all("free"), "succeeded", ""},
			{"list and model", all("reader"), "refused", "small"},
			{"the last model", all("reader", "writer"), "succeeded", "large"},
			{"unknown skill", all("other"), "succeeded", ""},
		} {
			t.Run(c.name, func(t *testing.T) {
				var turns []looptest.Turn
				for _, name := range c.load {
					turns = append(turns, looptest.Call("load_skill", map[string]string{"name": name}))
				}
				ran := looptest.Harness{
					Turns: append(turns, working(1)...), Tools: all(skills.Tool(), agent.Tool(work())),
					Hooks: all[agent.Hook](skills),
				}.Run(t, "x")
				requests := ran.Script.Requests()
				last := ran.Calls[len(ran.Calls)-1]
				if string(last.Status) != c.status || requests[len(requests)-1].Model != c.model {
					t.Errorf("the call was %s, the model is %q", last.Status, requests[len(requests)-1].Model)
				}
				if c.status == "refused" {
					contains(t, last.Err, "reader", "work", "read")
				}
			})
		}
	})
	t.Run("going back", func(t *testing.T) {
		back := func(to string) looptest.Turn {
			return looptest.Call("go_back", `{"checkpoint":`+to+`,"guidance":"look elsewhere"}`)
		}
		for _, c := range []struct {
			name  string
			turns []looptest.Turn
			want  string // in the last request
			gone  string
			last  agent.CallStatus
		}{
			{"marks", nil, "[CHECKPOINT 2]", "BACK", agent.CallSucceeded},
			{"back with guidance", all(back("1")), "look elsewhere", "[CHECKPOINT 2]", agent.CallSucceeded},
			{"unknown mark", all(back("9")), "[CHECKPOINT 2]", "[BACK", agent.CallRefused},
			{"three times", all(back("1"), back("1"), back("1")), "[BACK", "[CHECKPOINT 2]", agent.CallSucceeded},
			{"four times", all(back("1"), back("1"), back("1"), back("1")), "the limit", "[CHECKPOINT 2]", agent.CallRefused},
		} {
			t.Run(c.name, func(t *testing.T) {
				hook := &window.Retrospective{}
				ran := looptest.Harness{
					Turns: append(append(working(2)[:2], c.turns...), looptest.Reply("ok")),
					Tools: all(hook.Tool(), agent.Tool(work())), Hooks: all[agent.Hook](hook),
				}.Run(t, "x")
				text := requestText(t, ran, len(ran.Script.Requests())-1)
				contains(t, text, c.want)
				lacks(t, text, c.gone)
				if got := ran.Calls[len(ran.Calls)-1].Status; got != c.last || ran.Steps != 3+len(c.turns) {
					t.Errorf("the last call was %s, %d steps", got, ran.Steps)
				}
			})
		}
	})
}

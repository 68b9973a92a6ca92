package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// work runs a worker in a bubble until f has returned.
func work(t *testing.T, w *Worker, f func(ctx context.Context)) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- w.Run(ctx) }()
	f(ctx)
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// recordOf returns the record of a log.
func recordOf(id string, entries []Entry) (*record, error) {
	r := &record{id: id}
	return r, r.foldAll(entries)
}

func clerk(model agent.Model, tools ...agent.Tool) map[string]*loop.Agent {
	return map[string]*loop.Agent{"clerk": {Name: "clerk", Model: model, Tools: tools, Approver: Later{}}}
}

type agentModel func(agent.LLMRequest) agent.LLMResponse

func (m agentModel) Generate(_ context.Context, req agent.LLMRequest) (agent.LLMResponse, error) {
	return m(req), nil
}

func task(id string) Task { return Task{ID: id, Agent: "clerk", Text: "work"} }

func TestTaskRunsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemory(simLifetime).store()
		model := looptest.NewScript(looptest.Call("look", nil), looptest.Reply("fine"))
		look := &looptest.Tool{Name: "look", Result: "sun"}
		w := &Worker{Store: store, Name: "w", Agents: clerk(model, look), Logger: quiet}
		work(t, w, func(ctx context.Context) {
			c := NewClient(store)
			for range 4 {
				if err := c.Submit(ctx, task("a")); err != nil {
					t.Error(err)
				}
			}
			r, err := c.Wait(ctx, "a")
			if err != nil || r.State != Done || r.Reply != "fine" || r.Steps != 2 || r.ToolCalls != 1 || r.Worker != "w" {
				t.Errorf("%+v, %v", r, err)
			}
			if err := c.Submit(ctx, task("a")); err != nil || look.Count() != 1 {
				t.Errorf("%v, %d calls", err, look.Count())
			}
			if err := c.Answer(ctx, "a", Answer{}); !errors.Is(err, ErrConflict) {
				t.Errorf("an answer to the ended run: %v", err)
			}
			other := task("a")
			other.Text = "other work"
			if err := c.Submit(ctx, other); err == nil {
				t.Error("another task with the same ID was accepted")
			}
			all, err := c.List(ctx)
			if err != nil || len(all) != 1 || all[0].State != Done || all[0].Claims != 1 {
				t.Errorf("%+v, %v", all, err)
			}
		})
	})
}

func TestWrongTasksAreRefused(t *testing.T) {
	c := NewClient(newMemory(simLifetime).store())
	for name, task := range map[string]Task{
		"NoID": {Agent: "a", Text: "x"}, "Wildcard": {ID: "*", Agent: "a", Text: "x"},
		"Dot":    {ID: "a.b", Agent: "a", Text: "x"},
		"LongID": {ID: strings.Repeat("a", 65), Agent: "a", Text: "x"}, "NoAgent": {ID: "a", Text: "x"},
		"NoText": {ID: "a", Agent: "a"}, "Data": {ID: "a", Agent: "a", Text: "x", Data: []byte("{")},
		"Tenant": {ID: "a", Agent: "a", Text: "x", Tenant: "\xff"}, // JSON would make it the same as "\xfe"
		"User":   {ID: "a", Agent: "a", Text: "x", User: "\xff"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := c.Submit(t.Context(), task); err == nil {
				t.Error("it was accepted")
			}
		})
	}
	for _, id := range []string{"", "*", ">", "a.b", "unknown"} {
		if _, err := c.Status(t.Context(), id); err == nil {
			t.Errorf("%q has a status", id)
		}
		if _, err := c.History(t.Context(), id); err == nil || id == "unknown" && !errors.Is(err, ErrNotFound) {
			t.Errorf("the history of %q: %v", id, err)
		}
		if _, err := c.Wait(t.Context(), id); id == "unknown" && !errors.Is(err, ErrNotFound) {
			t.Errorf("%q: %v", id, err)
		}
	}
}

func TestErrorsOfATaskAreInOrder(t *testing.T) {
	bad := Task{ID: "a", Agent: "\xff", Text: "x", Conversation: "\xff", User: "\xff", Tenant: "\xff"}
	want := bad.check().Error()
	for _, field := range []string{"agent", "conversation", "user", "tenant"} {
		_, rest, found := strings.Cut(want, "the "+field)
		if want = rest; !found {
			t.Fatalf("the error about the %s is not in its place", field)
		}
	}
}

func TestStoppedWorkerGivesRunBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemory(simLifetime).store()
		c := NewClient(store)
		begun := make(chan struct{})
		slow := loop.Tool("slow", "", func(context.Context, struct{}) (string, error) {
			close(begun)
			time.Sleep(5 * time.Second) // the worker is told to stop meanwhile
			return "ok", nil
		})
		first := &Worker{
			Store: store, Name: "first", Logger: quiet, Agents: clerk(looptest.NewScript(looptest.Call("slow", nil)), slow),
		}
		if err := c.Submit(t.Context(), task("a")); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		work(t, first, func(context.Context) { <-begun })
		s, err := c.Status(t.Context(), "a")
		if err != nil || s.State != Queued || s.Step != 1 {
			t.Errorf("%+v, %v", s, err)
		}
		second := &Worker{Store: store, Name: "second", Logger: quiet,
			Agents: clerk(looptest.NewScript(looptest.Reply("done")), slow)}
		work(t, second, func(ctx context.Context) {
			r, err := c.Wait(ctx, "a")
			if err != nil || r.Reply != "done" || r.Steps != 2 || r.ToolCalls != 1 || r.Claims != 2 {
				t.Errorf("%+v, %v", r, err)
			}
		})
		if took := time.Since(start); took >= simLifetime {
			t.Errorf("the second worker waited %v for the claim of the first", took)
		}
	})
}

func TestGraceEndsAHangingStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemory(simLifetime).store()
		c := NewClient(store)
		hang := &looptest.Tool{Name: "hang", Hang: true}
		w := &Worker{Store: store, Logger: quiet, Grace: time.Second,
			Agents: clerk(looptest.NewScript(looptest.Call("hang", nil)), hang)}
		if err := c.Submit(t.Context(), task("a")); err != nil {
			t.Fatal(err)
		}
		work(t, w, func(context.Context) {
			synctest.Wait()
			time.Sleep(100 * time.Millisecond)
		})
		s, err := c.Status(t.Context(), "a")
		if err != nil || s.State != Queued || s.Step != 0 {
			t.Errorf("%+v, %v", s, err)
		}
		again := &Worker{Store: store, Logger: quiet, Agents: clerk(looptest.NewScript(), hang)}
		work(t, again, func(ctx context.Context) {
			s, err := c.WaitFor(ctx, "a", func(s Status) bool { return s.State == Suspended })
			if err != nil || len(s.Questions) != 1 || !s.Questions[0].Doubt || s.Questions[0].Call.Name != "hang" {
				t.Errorf("%+v, %v", s, err)
			}
		})
	})
}

func TestCallInDoubt(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer func(Question) Answer
		calls  int
		reply  string
		cause  agent.Cause
	}{
		{"Retry", func(q Question) Answer { return Retry(q, "ann") }, 1, "paid", agent.CauseCompleted},
		{"Happened", func(q Question) Answer { return Happened(q, "it was paid", "ann") }, 0, "it was paid",
			agent.CauseCompleted},
		{"Stop", func(q Question) Answer { return Stop(q, "unclear", "ann") }, 0, "", agent.CauseStopRequested},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store, status := inDoubt(t)
				q := status.Questions[0]
				pay := &looptest.Tool{Name: "pay", Result: "paid"}
				client := NewClient(store)
				for _, wrong := range []Answer{
					Decide(q, agent.Approval{}), {Answer: loop.Answer{Question: "x"}}, {Answer: loop.Answer{Question: q.ID}},
				} {
					if err := client.Answer(t.Context(), "a", wrong); err == nil {
						t.Errorf("%+v was accepted", wrong)
					}
				}
				if err := client.Answer(t.Context(), "a", c.answer(q)); err != nil {
					t.Fatal(err)
				}
				if err := client.Answer(t.Context(), "a", c.answer(q)); !errors.Is(err, ErrConflict) {
					t.Errorf("the second answer: %v", err)
				}
				model := looptest.NewScript(looptest.Func(func(_ context.Context, req agent.LLMRequest) (agent.LLMResponse, error) {
					return agent.LLMResponse{Content: req.Messages[len(req.Messages)-1].Content}, nil
				}))
				work(t, &Worker{Store: store, Logger: quiet, Agents: clerk(model, pay)}, func(ctx context.Context) {
					r, err := client.Wait(ctx, "a")
					if err != nil || r.State != Done || r.Reply != c.reply || r.Cause != c.cause || pay.Count() != c.calls {
						t.Errorf("%+v, %v, %d calls", r, err, pay.Count())
					}
				})
			})
		})
	}
}

// inDoubt returns a store with a run whose worker stopped while it called the tool pay.
func inDoubt(t *testing.T) (Store, Status) {
	t.Helper()
	store := newMemory(simLifetime).store()
	client := NewClient(store)
	hang := &looptest.Tool{Name: "pay", Hang: true}
	if err := client.Submit(t.Context(), task("a")); err != nil {
		t.Fatal(err)
	}
	w := &Worker{Store: store, Name: "gone", Logger: quiet, Grace: time.Second,
		Agents: clerk(looptest.NewScript(looptest.Call("pay", nil)), hang)}
	work(t, w, func(context.Context) { time.Sleep(time.Second) })
	var status Status
	work(t, &Worker{Store: store, Logger: quiet, Agents: clerk(looptest.NewScript(), hang)}, func(ctx context.Context) {
		var err error
		status, err = client.WaitFor(ctx, "a", func(s Status) bool { return s.State == Suspended })
		if err != nil || len(status.Questions) != 1 || status.Questions[0].Worker != "gone" {
			t.Fatalf("%+v, %v", status, err)
		}
	})
	return store, status
}

// TestRefusedCallIsNotMadeAgain: a call was made, and then the hooks refuse it while its step is repeated. The model
// must not read that it was not made.
func TestRefusedCallIsNotMadeAgain(t *testing.T) {
	for name, after := range map[string]int{"UntilItPasses": 3, "ForEver": 1 << 30} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := newMemory(simLifetime).store()
				client := NewClient(store)
				pay, hang := &looptest.Tool{Name: "pay", Result: "paid"}, &looptest.Tool{Name: "hang", Hang: true}
				model := looptest.NewScript(looptest.Calls(looptest.Call("pay", nil), looptest.Call("hang", nil)))
				agents := clerk(model, pay, loop.ReadOnly(hang))
				if err := client.Submit(t.Context(), task("a")); err != nil {
					t.Fatal(err)
				}
				work(t, &Worker{Store: store, Logger: quiet, Grace: time.Second, Agents: agents}, func(context.Context) {
					time.Sleep(time.Second)
				})
				agents = clerk(looptest.NewScript(looptest.Reply("done")), pay, loop.ReadOnly(&looptest.Tool{Name: "hang"}))
				fires := 0
				agents["clerk"].Hooks = loop.Hooks(agent.BeforeToolFunc(func(
					_ context.Context, _ *agent.Run, call agent.ToolCallRequest,
				) (agent.BeforeToolOutcome, error) {
					if fires++; call.Name == "pay" && fires < after {
						return nil, errDown
					}
					return nil, nil
				}))
				work(t, &Worker{Store: store, Logger: quiet, Agents: agents}, func(ctx context.Context) {
					r, err := client.Wait(ctx, "a")
					if pay.Count() != 1 || err != nil {
						t.Errorf("%d calls, %v", pay.Count(), err)
					}
					if done := r.State == Done && r.Reply == "done" && r.ToolCalls == 2; done != (after == 3) {
						t.Errorf("%+v", r)
					}
					if failed := r.State == Failed && strings.Contains(r.Err, `"pay" was made`); failed == (after == 3) {
						t.Errorf("%+v", r)
					}
				})
			})
		})
	}
}

// TestSubagentInDoubt: a sub-agent begins anew after a crash, so its finished calls count too.
func TestSubagentInDoubt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemory(simLifetime).store()
		client := NewClient(store)
		pay, hang := &looptest.Tool{Name: "pay"}, &looptest.Tool{Name: "hang", Hang: true}
		helper := &loop.Agent{Name: "helper", Tools: []agent.Tool{pay, loop.ReadOnly(hang)},
			Model: looptest.NewScript(looptest.Call("pay", nil), looptest.Call("hang", nil))}
		agents := clerk(looptest.NewScript(looptest.Call("helper", `{"task":"x"}`)), loop.Idempotent(loop.Subagent(helper)))
		if err := client.Submit(t.Context(), task("a")); err != nil {
			t.Fatal(err)
		}
		work(t, &Worker{Store: store, Logger: quiet, Grace: time.Second, Agents: agents}, func(context.Context) {
			time.Sleep(time.Second)
		})
		work(t, &Worker{Store: store, Logger: quiet, Agents: agents}, func(ctx context.Context) {
			s, err := client.WaitFor(ctx, "a", func(s Status) bool { return s.State == Suspended })
			if err != nil || len(s.Questions) != 1 || s.Questions[0].Call.Name != "helper" ||
				!strings.Contains(s.Questions[0].Prompt, "pay") || strings.Contains(s.Questions[0].Prompt, "hang") {
				t.Errorf("%+v, %v", s.Questions, err)
			}
		})
	})
}

func TestUnreadableRunsAreLeft(t *testing.T) {
	for name, text := range map[string]string{
		"Version": `{"version":2,"kind":"claimed"}`, "Kind": `{"version":1,"kind":"paused"}`,
		"NoJSON": `hello`, "NoContent": `{"version":1,"kind":"saved"}`,
		"Twice": `{"version":1,"kind":"submitted","task":{}}`,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMemory(simLifetime)
				c := NewClient(m.store())
				if err := c.Submit(t.Context(), task("a")); err != nil {
					t.Fatal(err)
				}
				m.logs["a"] = append(m.logs["a"], Entry{Number: m.next(), Event: []byte(text)})
				w := &Worker{Store: m.store(), Logger: quiet, Agents: clerk(looptest.NewScript())}
				work(t, w, func(ctx context.Context) {
					if s, err := c.Status(ctx, "a"); !errors.Is(err, ErrUnreadable) {
						t.Errorf("%+v, %v", s, err)
					}
					time.Sleep(10 * time.Minute)
				})
				if len(m.queue) != 0 || len(m.logs["a"]) != 2 || w.Stats().SetAside != 0 || w.Stats().Left != 1 {
					t.Errorf("%d in the queue, %d events, %+v", len(m.queue), len(m.logs["a"]), w.Stats())
				}
			})
		})
	}
}

func asks(context.Context, *agent.Run, agent.ToolCallRequest) (agent.OnPermissionOutcome, error) {
	return agent.Ask{Prompt: "sure?"}, nil
}

// TestRunsWaitForTheirAgent: a person has answered, and a worker with another version of the agent refuses to continue
// the run. Before it gives up, a worker with the right version may begin.
func TestRunsWaitForTheirAgent(t *testing.T) {
	for _, c := range []struct {
		name string
		wait time.Duration // before a worker has the right version
		want State
	}{
		{"soon", time.Minute, Done},
		{"never", time.Hour, Failed},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := newMemory(simLifetime).store()
				client := NewClient(store)
				if err := client.Submit(t.Context(), task("a")); err != nil {
					t.Fatal(err)
				}
				pay := &looptest.Tool{Name: "pay", Result: "paid"}
				agents := func(turns ...looptest.Turn) map[string]*loop.Agent {
					all := clerk(looptest.NewScript(turns...), pay)
					all["clerk"].Hooks = new(agent.Hooks)
					all["clerk"].Hooks.OnPermission.AddFunc(asks)
					return all
				}
				var s Status
				work(t, &Worker{Store: store, Logger: quiet, Agents: agents(looptest.Call("pay", nil))}, func(ctx context.Context) {
					var err error
					s, err = client.WaitFor(ctx, "a", func(s Status) bool { return s.State == Suspended })
					if err != nil {
						t.Error(err)
					}
				})
				answer := Decide(s.Questions[0], agent.Approval{Allow: true, By: "ann"})
				if err := client.Answer(t.Context(), "a", answer); err != nil {
					t.Fatal(err)
				}
				other := agents()
				other["clerk"].Name = "renamed"
				work(t, &Worker{Store: store, Logger: quiet, Agents: other}, func(context.Context) { time.Sleep(c.wait) })
				work(t, &Worker{Store: store, Logger: quiet, Agents: agents(looptest.Reply("ok"))}, func(ctx context.Context) {
					r, err := client.Wait(ctx, "a")
					if err != nil || r.State != c.want || (r.State == Failed) != strings.Contains(r.Err, `the agent "clerk"`) {
						t.Errorf("%+v, %v", r, err)
					}
				})
			})
		})
	}
}

// TestRunsKeepTheirVersion: a run begins on a worker with the first version of the hooks, and waits for a person while
// the workers get the second one. A worker with the first one does not have its agent. Hours later, the run continues
// with the first one, with its data.
func TestRunsKeepTheirVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := NewMemory(simLifetime)
		client := NewClient(store)
		first := task("a")
		first.Data = []byte(`{ "customer": 7 }`)
		if err := errors.Join(client.Submit(t.Context(), first), client.Submit(t.Context(), first)); err != nil {
			t.Fatal(err)
		}
		data := ""
		pay := loop.Tool("pay", "", func(ctx context.Context, _ struct{}) (string, error) {
			data = string(agentspec.EnvOf(ctx).Data)
			return "paid", nil
		})
		worker := func(version string, turns ...looptest.Turn) *Worker {
			agents := clerk(looptest.NewScript(turns...), pay)
			agents["clerk"].Hooks = loop.Hooks(agent.OnPermissionFunc(asks))
			return &Worker{Store: store, Logger: quiet, Name: version, Hooks: version, Agents: agents}
		}
		var s Status
		work(t, worker("v1", looptest.Call("pay", nil)), func(ctx context.Context) {
			s, _ = client.WaitFor(ctx, "a", func(s Status) bool { return s.State == Suspended })
		})
		if len(s.Questions) != 1 || s.Hooks != "v1" {
			t.Fatalf("%+v", s)
		}
		answer := Decide(s.Questions[0], agent.Approval{Allow: true, By: "ann"})
		if err := client.Answer(t.Context(), "a", answer); err != nil {
			t.Fatal(err)
		}
		work(t, worker("v2"), func(ctx context.Context) {
			time.Sleep(time.Hour)
			other := worker("v1")
			other.Agents = map[string]*loop.Agent{"other": other.Agents["clerk"]}
			work(t, other, func(context.Context) { time.Sleep(time.Hour) })
			work(t, worker("v1", looptest.Reply("done")), func(ctx context.Context) {
				r, err := client.Wait(ctx, "a")
				if err != nil || r.State != Done || r.Worker != "v1" || data != `{"customer":7}` {
					t.Errorf("%+v, %v, data %s", r, err, data)
				}
			})
		})
	})
}

func TestUnknownAgentFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemory(simLifetime).store()
		c := NewClient(store)
		other := task("a")
		other.Agent = "other"
		if err := c.Submit(t.Context(), other); err != nil {
			t.Fatal(err)
		}
		work(t, &Worker{Store: store, Logger: quiet, Agents: clerk(looptest.NewScript())}, func(ctx context.Context) {
			r, err := c.Wait(ctx, "a")
			if err != nil || r.State != Failed || !strings.Contains(r.Err, `"other"`) {
				t.Errorf("%+v, %v", r, err)
			}
		})
	})
}

// TestBusyWorkersKeepTheirRuns: the worker with the agent of a run is busy for some minutes. Meanwhile only a worker
// without the agent takes the run.
func TestBusyWorkersKeepTheirRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemory(simLifetime).store()
		c := NewClient(store)
		if err := c.Submit(t.Context(), task("a")); err != nil {
			t.Fatal(err)
		}
		other := map[string]*loop.Agent{"other": {Name: "other", Model: looptest.NewScript()}}
		work(t, &Worker{Store: store, Logger: quiet, Agents: other}, func(context.Context) { time.Sleep(5 * time.Minute) })
		w := &Worker{Store: store, Logger: quiet, Agents: clerk(looptest.NewScript(looptest.Reply("done")))}
		work(t, w, func(ctx context.Context) {
			if r, err := c.Wait(ctx, "a"); err != nil || r.State != Done {
				t.Errorf("%+v, %v", r, err)
			}
		})
	})
}

func TestWorkerChecksItsConfiguration(t *testing.T) {
	store := newMemory(simLifetime).store()
	for name, w := range map[string]*Worker{
		"NoStore": {Agents: clerk(nil)}, "NoAgents": {Store: store},
		"NilAgent": {Store: store, Agents: map[string]*loop.Agent{"a": nil}},
		"Negative": {Store: store, Agents: clerk(nil), Slots: -1},
	} {
		t.Run(name, func(t *testing.T) {
			if err := w.Run(t.Context()); err == nil {
				t.Error("no error")
			}
		})
	}
}

func FuzzEvents(f *testing.F) {
	for _, e := range []event{
		{Kind: submitted, Task: &Task{ID: "a", Agent: "b", Text: "c"}}, {Kind: claimed, Claim: &Token{Message: 1, Try: 1}},
		{Kind: begun, Call: &call{Key: "1.a", Unit: "1.a"}}, {Kind: finished, Outcome: &outcome{Key: "1.a"}},
		{Kind: ended, Result: &Result{State: Done}},
	} {
		e.Version = version
		data, err := json.Marshal(e)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		first, err := json.Marshal(event{Version: version, Kind: submitted, Task: &Task{ID: "a"}})
		if err != nil {
			t.Fatal(err)
		}
		rec, err := recordOf("a", []Entry{{Number: 1, Event: first}, {Number: 2, Event: data}})
		if err != nil && !errors.Is(err, ErrUnreadable) {
			t.Errorf("%v", err)
		}
		_ = rec.status()
		_ = rec.doubts()
	})
}

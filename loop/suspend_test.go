package loop_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hooktest"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// later is an approver whose answer comes later.
func later() *approver {
	return &approver{f: func(context.Context, agent.Question) (agent.Approval, error) {
		return agent.Approval{Pending: true}, nil
	}}
}

var asked = time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)

// yes is the answer of a person.
func yes() agent.Approval { return agent.Approval{Allow: true, Reason: "fine", By: "ann", At: asked} }

// A site is a program that is restarted: each process makes its agent anew, and the models and the log go on.
type site struct {
	mu  sync.Mutex
	log []string // the tools that ran, with their arguments

	drawn []uint64 // from Env.Random

	turns  map[string][]looptest.Turn // by agent
	models map[string]*looptest.Script
	build  func(s *site) *loop.Agent
	asks   []string // the tools that need an approval
	person agent.Approver
	hooks  []agent.Hook

	recorders []*hooktest.Recorder // one per process
}

func (s *site) tool(name string) agent.Tool {
	return &looptest.Tool{Name: name, Func: func(_ context.Context, call agent.ToolCallRequest) (string, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.log = append(s.log, name+string(call.Args))
		return "result of " + name, nil
	}}
}

func (s *site) agent(name string, tools ...agent.Tool) *loop.Agent {
	if s.models == nil {
		s.models = make(map[string]*looptest.Script)
	}
	if s.models[name] == nil {
		s.models[name] = looptest.NewScript(s.turns[name]...).Named(name)
	}
	return &loop.Agent{Name: name, Model: s.models[name], Tools: tools}
}

// process makes the agent of a new process.
func (s *site) process() *loop.Agent {
	a := s.build(s)
	a.Hooks, a.Approver = new(agent.Hooks), s.person
	a.Hooks.Use(asksFor(s.asks...))
	a.Hooks.Use(beforeLLMOf(func(run *agent.Run) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.drawn = append(s.drawn, run.Env.Random.Uint64())
	}))
	for _, h := range s.hooks {
		a.Hooks.Use(h)
	}
	s.recorders = append(s.recorders, hooktest.Record(a.Hooks.Points()))
	return a
}

// asksFor returns a hook that asks for permission of the tools.
func asksFor(tools ...string) agent.Hook {
	return permission(func(call agent.ToolCallRequest) (agent.OnPermissionOutcome, error) {
		if slices.Contains(tools, call.Name) {
			return agent.Ask{Prompt: "may it?"}, nil
		}
		return nil, nil
	})
}

func beforeLLMOf(f func(run *agent.Run)) agent.Hook {
	return agent.BeforeLLMFunc(func(
		_ context.Context, run *agent.Run, _ agent.LLMRequest,
	) (agent.BeforeLLMOutcome, error) {
		f(run)
		return nil, nil
	})
}

func (s *site) count(point string) (n int) {
	for _, rec := range s.recorders {
		n += rec.Count(point)
	}
	return n
}

// sent returns a state as it arrives in another process.
func sent(t testing.TB, s *agent.Suspension) agent.Suspension {
	t.Helper()
	if s == nil {
		t.Fatal("the run is not suspended")
	}
	data, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var got agent.Suspension
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	return got
}

// finish answers the questions, each time in a new process, until the run ends.
func (s *site) finish(t testing.TB, result agent.AgentResult, each bool) agent.AgentResult {
	t.Helper()
	for range 20 {
		if result.Suspended == nil {
			return result
		}
		var answers []loop.Answer
		for _, q := range result.Suspended.Questions {
			if !each || len(answers) == 0 {
				answers = append(answers, loop.AnswerTo(q, yes()))
			}
		}
		var err error
		if result, err = looptest.Ended(s.process().Resume(t.Context(), sent(t, result.Suspended), answers...)); err != nil {
			t.Fatal(err)
		}
	}
	t.Fatal("the run does not end")
	return result
}

func suspendable() map[string]func() *site {
	call, calls, reply := looptest.Call, looptest.Calls, looptest.Reply
	main := func(t ...looptest.Turn) map[string][]looptest.Turn { return map[string][]looptest.Turn{"main": t} }
	both := func(main, other []looptest.Turn) map[string][]looptest.Turn {
		return map[string][]looptest.Turn{"main": main, "other": other}
	}
	plain := func(s *site) *loop.Agent { return s.agent("main", s.tool("pay"), s.tool("look")) }
	nested := func(s *site) *loop.Agent {
		other := s.agent("other", s.tool("pay"), s.tool("look"))
		return s.agent("main", s.tool("look"), loop.Subagent(other))
	}
	pay := []string{"pay"}
	return map[string]func() *site{
		"OneCall": func() *site {
			return &site{asks: pay, build: plain, turns: main(call("pay", `{"a": 1}`), reply("ok"))}
		},
		"BetweenOthers": func() *site {
			return &site{asks: pay, build: plain, turns: main(
				calls(call("look", `{"n":1}`), call("pay", `{"a":1}`), call("look", `{"n":2}`), call("none", nil)), reply("ok"))}
		},
		"TwoQuestions": func() *site {
			return &site{asks: pay, build: plain, turns: main(
				calls(call("pay", `{"a":1}`), call("pay", `{"a":2}`)), reply("ok"))}
		},
		"TwoSteps": func() *site {
			return &site{asks: pay, build: plain, turns: main(
				call("look", nil), call("pay", `{"a":1}`), call("look", nil), call("pay", `{"a":2}`), reply("ok"))}
		},
		"Cached": func() *site {
			cached := atTool("pay", agent.SkipTool{Result: agent.ToolCallResult{Output: "cached"}, Reason: "known"}, nil)
			return &site{asks: pay, build: plain, hooks: hooks(cached), turns: main(
				calls(call("pay", nil), call("pay", nil)), reply("ok"))}
		},
		"DoneTool": func() *site {
			return &site{asks: []string{"done"}, turns: main(calls(call("done", `{"answer":"42"}`), call("look", nil))),
				build: func(s *site) *loop.Agent {
					a := s.agent("main", s.tool("look"))
					a.Done = doneTool
					return a
				}}
		},
		"HandoffCall": func() *site {
			return &site{asks: []string{"transfer_to_other"},
				turns: both(turns(calls(call("transfer_to_other", `{"task":"t"}`), call("look", nil))), turns(reply("ok"))),
				build: func(s *site) *loop.Agent {
					a := s.agent("main", s.tool("look"))
					a.Handoffs = []*loop.Agent{s.agent("other")}
					return a
				}}
		},
		"HandoffBesideAQuestion": func() *site {
			return &site{asks: pay,
				turns: both(turns(calls(call("transfer_to_other", `{"task":"t"}`), call("pay", nil))), turns(reply("ok"))),
				build: func(s *site) *loop.Agent {
					a := s.agent("main", s.tool("pay"))
					a.Handoffs = []*loop.Agent{s.agent("other")}
					return a
				}}
		},
		"HandoffTarget": func() *site {
			return &site{asks: pay,
				turns: both(turns(calls(call("look", nil), call("transfer_to_other", nil))),
					turns(call("pay", nil), call("pay", `{"a":2}`), reply("ok"))),
				build: func(s *site) *loop.Agent {
					a := s.agent("main", s.tool("look"))
					a.Handoffs = []*loop.Agent{s.agent("other", s.tool("pay"))}
					return a
				}}
		},
		"Subagent": func() *site {
			return &site{asks: pay, build: nested, turns: both(
				turns(calls(call("look", nil), call("other", `{"task":"t"}`), call("look", `{"n":2}`)), reply("ok")),
				turns(calls(call("look", `{"n":3}`), call("pay", nil)), reply("inner")))}
		},
		"SubagentsInTurn": func() *site {
			return &site{asks: pay, build: nested, turns: both(
				turns(call("other", `{"task":"t"}`), call("other", `{"task":"u"}`), reply("ok")),
				turns(call("pay", nil), reply("one"), call("pay", nil), reply("two")))}
		},
		"SubagentOfASubagent": func() *site {
			return &site{asks: pay, turns: map[string][]looptest.Turn{
				"main":  turns(call("other", `{"task":"t"}`), reply("ok")),
				"other": turns(call("third", `{"task":"u"}`), reply("inner")),
				"third": turns(call("pay", nil), call("pay", `{"a":2}`), reply("innermost")),
			}, build: func(s *site) *loop.Agent {
				third := s.agent("third", s.tool("pay"))
				return s.agent("main", loop.Subagent(s.agent("other", loop.Subagent(third))))
			}}
		},
		"SubagentWithHooks": func() *site {
			return &site{turns: both(turns(call("other", `{"task":"t"}`), reply("ok")),
				turns(calls(call("look", nil), call("pay", nil)), reply("inner"))),
				build: func(s *site) *loop.Agent {
					other := s.agent("other", s.tool("pay"), s.tool("look"))
					other.Hooks = loop.Hooks(asksFor("pay"))
					return s.agent("main", loop.Subagent(other))
				}}
		},
		"HandoffTargetWithHooks": func() *site {
			return &site{asks: pay, turns: both(turns(call("transfer_to_other", nil)),
				turns(call("look", nil), call("pay", nil), reply("ok"))),
				build: func(s *site) *loop.Agent {
					other := s.agent("other", s.tool("pay"), s.tool("look"))
					other.Hooks = loop.Hooks(asksFor("look"))
					a := s.agent("main")
					a.Handoffs = []*loop.Agent{other}
					return a
				}}
		},
		"ToolThatSpawnsTwo": func() *site {
			return &site{asks: pay, turns: map[string][]looptest.Turn{
				"main":  turns(call("both", nil), reply("ok")),
				"first": turns(call("look", nil), reply("one")),
				"other": turns(call("pay", nil), reply("two")),
			}, build: func(s *site) *loop.Agent {
				first, other := s.agent("first", s.tool("look")), s.agent("other", s.tool("pay"))
				spawns := &looptest.Tool{Name: "both", Func: func(ctx context.Context, _ agent.ToolCallRequest) (string, error) {
					one, err := loop.Spawn(ctx, first, loop.Request{Task: "t"})
					if err != nil {
						return "", err
					}
					two, err := loop.Spawn(ctx, other, loop.Request{Task: "u"})
					return one.Reply + two.Reply, err
				}}
				return s.agent("main", spawns)
			}}
		},
	}
}

// TestP11_ASuspendedRunEndsLikeAnother: a run that was suspended and resumed has the conversation, the counters and the
// result of one whose questions were answered at once, and its tools ran once, with the exact arguments.
func TestP11_ASuspendedRunEndsLikeAnother(t *testing.T) {
	for name, start := range suspendable() {
		for _, each := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/OneAtATime=%t", name, each), func(t *testing.T) {
				req := loop.Request{Task: "x", ID: "run", Seed: 7, User: "ann", Tenant: "acme"}
				atOnce := start()
				atOnce.person = &approver{f: func(context.Context, agent.Question) (agent.Approval, error) { return yes(), nil }}
				want, err := looptest.Ended(atOnce.process().Do(t.Context(), req))
				if err != nil {
					t.Fatal(err)
				}
				s := start()
				s.person = later()
				first, err := looptest.Ended(s.process().Do(t.Context(), req))
				if err != nil || first.Suspended == nil || first.Stop.Cause != agent.CauseSuspended || first.Reply != "" {
					t.Fatalf("not suspended: %+v, %v", first, err)
				}
				got := s.finish(t, first, each)
				slices.Sort(atOnce.log)
				slices.Sort(s.log)
				if diff := cmp.Diff(atOnce.log, s.log); diff != "" {
					t.Errorf("the tools ran differently (-at once +later):\n%s", diff)
				}
				if diff := cmp.Diff(atOnce.drawn, s.drawn); diff != "" {
					t.Errorf("the random numbers differ (-at once +later):\n%s", diff)
				}
				for _, r := range []*agent.AgentResult{&want, &got} { // the calls of the resumed part only
					r.Elapsed, r.Calls = 0, nil
				}
				if diff := cmp.Diff(compacted(t, want), compacted(t, got)); diff != "" {
					t.Errorf("the results differ (-at once +later):\n%s", diff)
				}
				checkAnswered(t, got.Messages)
				for _, point := range []string{
					"BeforeTool", "OnPermission", "OnPermissionGranted", "AfterTool", "AfterLLM", "OnHandoff", "CheckDone",
					"OnDoneAccepted", "ShouldStop",
				} {
					if a, b := atOnce.count(point), s.count(point); a != b {
						t.Errorf("%s fired %d times, without suspension %d times", point, b, a)
					}
				}
				for _, rec := range s.recorders {
					checkPairedParts(t, rec)
				}
			})
		}
	}
}

// compacted returns a result as JSON, because arguments in the conversation lose their blanks in a state.
func compacted(t testing.TB, result agent.AgentResult) (value any) {
	t.Helper()
	data, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &value); err != nil {
		t.Fatal(err)
	}
	return value
}

// checkPairedParts checks the points of one process. BeforeTool and AfterTool may be in different processes.
func checkPairedParts(t testing.TB, rec *hooktest.Recorder) {
	t.Helper()
	for start, end := range map[string]string{
		"OnRunStart": "OnRunEnd", "BeforeStep": "AfterStep", "OnSubagentStart": "OnSubagentStop",
	} {
		if a, b := rec.Count(start), rec.Count(end); a != b {
			t.Errorf("%s fired %d times, %s %d times", start, a, end, b)
		}
	}
}

// suspended starts a run that waits for the answer about one of two calls.
func suspended(t testing.TB, more ...looptest.Turn) (*site, agent.AgentResult) {
	t.Helper()
	return suspendedAs(t, "BetweenOthers", more...)
}

// suspendedAs is suspended for another case of suspendable.
func suspendedAs(t testing.TB, name string, more ...looptest.Turn) (*site, agent.AgentResult) {
	t.Helper()
	s := suspendable()[name]()
	s.turns["main"] = append(s.turns["main"], more...)
	s.person = later()
	result, err := looptest.Ended(s.process().Do(t.Context(), loop.Request{Task: "x", ID: "run"}))
	if err != nil {
		t.Fatal(err)
	}
	return s, result
}

func TestP11_OnlyTheCallsBeforeTheQuestionRun(t *testing.T) {
	s, result := suspended(t)
	rec := s.recorders[0]
	if len(s.log) != 1 || s.log[0] != `look{"n":1}` || rec.Count("AroundTool") != 1 || rec.Count("AfterTool") != 1 {
		t.Errorf("ran %v", s.log)
	}
	if got := result.Suspended.Questions; len(got) != 1 || got[0].Call.Name != "pay" || got[0].ID == "" ||
		got[0].Run != "run" || got[0].Digest == "" || got[0].Prompt != "may it?" {
		t.Errorf("questions %+v", got)
	}
	rec.Times(t, "BeforeTool", 4) // the other calls are decided
	rec.Times(t, "ShouldStop", 1) // before the first step
	steps := hooktest.PayloadsOf[agent.StepResult](rec, "AfterStep")
	if len(steps) != 1 || !steps[0].Suspended || steps[0].Results != nil || steps[0].Err != "" {
		t.Errorf("steps %+v", steps)
	}
	if len(s.person.(*approver).questions) != 1 {
		t.Error("the approver was asked more than once")
	}
}

func TestP11_HooksGetNoState(t *testing.T) {
	s, result := suspended(t)
	if len(result.Suspended.State) == 0 {
		t.Fatal("the caller has no state")
	}
	for _, point := range []string{"BeforeRunEnd", "OnRunEnd"} {
		for _, r := range hooktest.PayloadsOf[agent.AgentResult](s.recorders[0], point) {
			if r.Suspended == nil || r.Suspended.State != nil || len(r.Suspended.Questions) != 1 {
				t.Errorf("%s: %+v", point, r.Suspended)
			}
		}
	}
}

func TestP11_TheAnswerDecidesTheCall(t *testing.T) {
	forbid := permission(func(call agent.ToolCallRequest) (agent.OnPermissionOutcome, error) {
		if strings.Contains(string(call.Args), "forbidden") {
			return agent.Deny{Reason: "rule"}, nil
		}
		return nil, nil
	})
	for _, c := range []struct {
		name   string
		answer agent.Approval
		ran    string // the call of pay
		denied agent.DenialKind
		stop   agent.Cause
	}{
		{"Yes", agent.Approval{Allow: true, By: "ann", At: asked}, `pay{"a":1}`, "", agent.CauseCompleted},
		{"No", agent.Approval{By: "ann", At: asked}, "", agent.DeniedByPerson, agent.CauseCompleted},
		{"OtherArguments", agent.Approval{Allow: true, Args: []byte(`{"a": 2}`), By: "ann", At: asked}, `pay{"a": 2}`, "",
			agent.CauseCompleted},
		{"ForbiddenArguments", agent.Approval{Allow: true, Args: []byte(`{"a":"forbidden"}`)}, "", agent.DeniedByVote,
			agent.CauseCompleted},
		{"InvalidArguments", agent.Approval{Allow: true, Args: []byte(`{`)}, "", agent.DeniedByApprover,
			agent.CauseCompleted},
		{"InPlaceOfTheTool", agent.Approval{Allow: true, Output: "paid in cash", By: "ann", At: asked}, "", "",
			agent.CauseCompleted},
		{"InPlaceOfTheToolAndNo", agent.Approval{Output: "paid in cash"}, "", agent.DeniedByPerson, agent.CauseCompleted},
		{"OutputAndArguments", agent.Approval{Allow: true, Output: "paid in cash", Args: []byte(`{"a":2}`)}, "",
			agent.DeniedByApprover, agent.CauseCompleted},
		{"NoAndStop", agent.Approval{StopRun: true, By: "ann", At: asked}, "", agent.DeniedByPerson,
			agent.CauseStopRequested},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, result := suspended(t)
			s.hooks = hooks(forbid)
			got, err := looptest.Ended(s.process().Resume(t.Context(), sent(t, result.Suspended),
				loop.AnswerTo(result.Suspended.Questions[0], c.answer)))
			if err != nil || got.Stop.Cause != c.stop {
				t.Fatalf("stopped by %v, %v", got.Stop, err)
			}
			checkAnswered(t, got.Messages)
			rec := s.recorders[1]
			rec.Times(t, "BeforeTool", 0)
			rec.Times(t, "AfterTool", 3)
			ran := slices.IndexFunc(s.log, func(l string) bool { return strings.HasPrefix(l, "pay") })
			if (ran >= 0) != (c.ran != "") || ran >= 0 && s.log[ran] != c.ran {
				t.Errorf("ran %v", s.log)
			}
			given := slices.ContainsFunc(got.Calls, func(r agent.ToolCallResult) bool {
				return r.Status == agent.CallSkipped && r.Output == "paid in cash"
			})
			if instead := c.answer.Output != "" && c.denied == ""; given != instead {
				t.Errorf("the person's text is a result: %t; %+v", given, got.Calls)
			}
			grants := hooktest.PayloadsOf[agent.Grant](rec, "OnPermissionGranted")
			denials := hooktest.PayloadsOf[agent.Denial](rec, "OnPermissionDenied")
			if c.denied == "" {
				if len(denials) != 0 || len(grants) != 1 || grants[0].AnsweredBy != "ann" || !grants[0].AnsweredAt.Equal(asked) {
					t.Errorf("grants %+v, denials %+v", grants, denials)
				}
				return
			}
			if len(grants) != 0 || len(denials) != 1 || denials[0].Kind != c.denied || denials[0].AnsweredBy != c.answer.By {
				t.Errorf("grants %+v, denials %+v", grants, denials)
			}
		})
	}
}

func TestP11_AnswersAreBoundToTheirCall(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(a *loop.Answer) []loop.Answer
		want string
	}{
		{"None", func(*loop.Answer) []loop.Answer { return nil }, "no answer"},
		{"OtherQuestion", func(a *loop.Answer) []loop.Answer { a.Question += "0"; return []loop.Answer{*a} }, "not pending"},
		{"OtherCall", func(a *loop.Answer) []loop.Answer { a.Digest = "00"; return []loop.Answer{*a} }, "another call"},
		{"Twice", func(a *loop.Answer) []loop.Answer { return []loop.Answer{*a, *a} }, "two answers"},
		{"Pending", func(a *loop.Answer) []loop.Answer { a.Pending = true; return []loop.Answer{*a} }, "leave it out"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, result := suspended(t)
			answer := loop.AnswerTo(result.Suspended.Questions[0], yes())
			got, err := looptest.Ended(s.process().Resume(t.Context(), sent(t, result.Suspended), c.edit(&answer)...))
			if !errors.Is(err, loop.ErrNotStarted) || !strings.Contains(err.Error(), c.want) || got.Agent != "" ||
				len(s.log) != 1 {
				t.Errorf("%+v, %v", got, err)
			}
			s.recorders[1].Times(t, "OnRunStart", 0)
		})
	}
}

func TestP11_AChangedStateIsRefused(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(s *agent.Suspension)
		want string
	}{
		{"Version", func(s *agent.Suspension) { s.Version++ }, "version"},
		{"NoState", func(s *agent.Suspension) { s.State = nil }, "no State"},
		{"State", func(s *agent.Suspension) { s.State[len(s.State)/2] ^= 1 }, "digest"},
		{"ID", func(s *agent.Suspension) { s.ID = "run.9" }, "fields differ"},
		{"Run", func(s *agent.Suspension) { s.Run = "other" }, "fields differ"},
		{"Owner", func(s *agent.Suspension) { s.Owner.User = "eve" }, "fields differ"},
		{"ShownArguments", func(s *agent.Suspension) { s.Questions[0].Call.Args = []byte(`{"a":2}`) }, "fields differ"},
		{"OtherAgent", func(s *agent.Suspension) {
			reseal(s, `"agent":"main"`, `"agent":"spy"`)
			s.Agent, s.Questions[0].Agent = "spy", "spy"
		}, `the agent "spy"`},
		{"StoredArguments", func(s *agent.Suspension) {
			reseal(s, `"args":"eyJhIjoxfQ=="`, `"args":"eyJhIjoyfQ=="`)
		}, "not about"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, result := suspended(t)
			state := sent(t, result.Suspended)
			c.edit(&state)
			_, err := s.process().Resume(t.Context(), state, loop.AnswerTo(result.Suspended.Questions[0], yes()))
			if !errors.Is(err, loop.ErrNotStarted) || !strings.Contains(err.Error(), c.want) || len(s.log) != 1 {
				t.Errorf("%v", err)
			}
		})
	}
}

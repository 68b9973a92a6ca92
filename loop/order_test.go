package loop_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// ordered records when the calls of one reply run, and decides them as their names say.
type ordered struct {
	mu    sync.Mutex
	log   []string             // "begin 3", "end 3" and "after 3", for the call with the id 3
	begun map[string]time.Time // of the first attempt at a call
	endAt string               // the id of the call after which a hook ends the run
}

func (o *ordered) add(what, id string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.log = append(o.log, what+" "+id)
	if _, ok := o.begun[id]; what == "begin" && !ok {
		o.begun[id] = time.Now()
	}
}

// first and last return the position of an entry, or -1.
func (o *ordered) first(what, id string) int { return slices.Index(o.log, what+" "+id) }

func (o *ordered) last(what, id string) int {
	for i, entry := range slices.Backward(o.log) {
		if entry == what+" "+id {
			return i
		}
	}
	return -1
}

func (o *ordered) Bind(h *agent.Hooks) {
	h.Use(agent.BeforeToolFunc(func(
		_ context.Context, _ *agent.Run, call agent.ToolCallRequest,
	) (agent.BeforeToolOutcome, error) {
		o.add("before", call.ID)
		if call.Name == "skipped" {
			return agent.SkipTool{}, nil
		}
		return nil, nil
	}))
	h.Use(agent.OnPermissionFunc(func(
		_ context.Context, _ *agent.Run, call agent.ToolCallRequest,
	) (agent.OnPermissionOutcome, error) {
		switch {
		case call.Name == "denied":
			return agent.Deny{}, nil
		case strings.HasPrefix(call.Name, "asks"):
			return agent.Ask{}, nil
		}
		return nil, nil
	}))
	h.Use(agent.AroundToolFunc(func(
		ctx context.Context, _ *agent.Run, call agent.ToolCallRequest, next agent.AroundToolNext,
	) (hookkit.Answer[agent.ToolCallResult], error) {
		o.add("begin", call.ID)
		defer o.add("end", call.ID)
		return next.Call(ctx, call)
	}))
	h.Use(agent.AfterToolFunc(func(
		_ context.Context, _ *agent.Run, result agent.ToolCallResult,
	) (agent.AfterToolOutcome, error) {
		o.add("after", result.Call.ID)
		if result.Call.ID == o.endAt {
			return agent.EndTurn{Reply: "ended"}, nil
		}
		return nil, nil
	}))
}

// slow returns a tool that takes a second of the test's clock.
func slow(name string) agent.Tool {
	return &looptest.Tool{Name: name, Delay: time.Second}
}

// inner returns a sub-agent that calls the tool of its own once. Its calls have ids that start with "inner".
func inner(name string, tool agent.Tool) agent.Tool {
	return loop.Subagent(&loop.Agent{Name: name, Tools: tools(tool), Model: model(
		func(req agent.LLMRequest) (agent.LLMResponse, error) {
			if len(req.Messages) > 1 {
				return agent.LLMResponse{Content: "ok"}, nil
			}
			return agent.LLMResponse{ToolCalls: []agent.ToolCallRequest{{ID: "inner" + name, Name: tool.Schema().Name}}}, nil
		})})
}

// toolKinds are the names of the tools of TestCallsKeepTheOrderOfEffects. The value says whether the tool may run
// while others do. A person is asked about asksread when the calls before it have returned.
var toolKinds = map[string]bool{
	"read": true, "marked": true, "helper": true, "waiting": true, "asksread": true,
	"write": false, "asks": false, "fails": false, "panics": false, "stuck": false, "late": false, "denied": false,
	"skipped": false, "unknown": false, "cancels": false, "stops": false,
}

func orderedTools(cancel func(), release chan struct{}) []agent.Tool {
	return []agent.Tool{
		loop.ReadOnly(slow("read")), loop.Concurrent(slow("marked")), loop.ReadOnly(slow("asksread")),
		inner("helper", slow("write")), inner("waiting", slow("asks")),
		slow("write"), slow("asks"), slow("denied"), slow("skipped"),
		&looptest.Tool{Name: "fails", Delay: time.Second, Err: errBoom},
		&looptest.Tool{Name: "panics", Delay: time.Second, Panic: "boom"},
		&looptest.Tool{Name: "late", Hang: true},
		&looptest.Tool{Name: "stuck", Func: func(context.Context, agent.ToolCallRequest) (string, error) {
			<-release
			return "", nil
		}},
		&looptest.Tool{Name: "cancels", Func: func(context.Context, agent.ToolCallRequest) (string, error) {
			cancel()
			return "", nil
		}},
		&looptest.Tool{Name: "stops", Func: func(context.Context, agent.ToolCallRequest) (string, error) {
			return "", &agent.ToolError{Message: "no credit", StopRun: true}
		}},
	}
}

// TestCallsKeepTheOrderOfEffects: calls that may change something run alone and in call order, and consecutive calls
// that are read-only or marked Concurrent overlap.
func TestCallsKeepTheOrderOfEffects(t *testing.T) {
	names := make([]string, 0, len(toolKinds))
	for name := range toolKinds {
		names = append(names, name)
	}
	slices.Sort(names)
	rapid.Check(t, func(rt *rapid.T) {
		drawn := rapid.SliceOfN(rapid.SampledFrom(names), 1, 8).Draw(rt, "calls")
		rare := func(label string, one int) bool { return rapid.IntRange(1, one).Draw(rt, label) == 1 }
		endAt := ""
		if rare("ends", 4) {
			endAt = fmt.Sprint(rapid.IntRange(0, len(drawn)-1).Draw(rt, "ends at"))
		}
		stream, oneByOne := rare("stream", 3), rare("one answer at a time", 2)
		var problems []string
		synctest.Test(t, func(t *testing.T) { problems = runOrdered(t, drawn, endAt, stream, oneByOne) })
		if len(problems) > 0 {
			rt.Fatal(strings.Join(problems, "\n"))
		}
	})
}

// runOrdered runs a reply with the calls of the tools drawn, and returns every break of the order of effects.
func runOrdered(t *testing.T, drawn []string, endAt string, stream, oneByOne bool) (problems []string) {
	release := make(chan struct{})
	defer close(release)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	o := &ordered{begun: make(map[string]time.Time), endAt: endAt}
	calls := make([]agent.ToolCallRequest, len(drawn))
	for i, name := range drawn {
		calls[i] = agent.ToolCallRequest{ID: fmt.Sprint(i), Name: name}
		if name == "helper" || name == "waiting" {
			calls[i].Args = fmt.Appendf(nil, `{"task":"%d"}`, i)
		}
	}
	a := &loop.Agent{
		Tools: orderedTools(cancel, release), Hooks: new(agent.Hooks), Limits: loop.Limits{ToolTime: time.Minute},
		Approver: later(), Model: model(func(req agent.LLMRequest) (agent.LLMResponse, error) {
			if len(req.Messages) > 1 {
				return agent.LLMResponse{Content: "ok"}, nil
			}
			return agent.LLMResponse{ToolCalls: calls}, nil
		}),
	}
	a.Hooks.Use(o)
	bad := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	got, err := runAny(ctx, a, loop.Request{Task: "x"}, stream)
	for got.Suspended != nil {
		answers := make([]loop.Answer, 0, len(got.Suspended.Questions))
		for _, q := range got.Suspended.Questions {
			answers = append(answers, loop.AnswerTo(q, agent.Approval{Allow: true, By: "ann"}))
		}
		if oneByOne {
			answers = answers[len(answers)-1:]
		}
		got, err = runAny(ctx, a, loop.Request{Suspended: got.Suspended, Answers: answers}, stream)
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		bad("the run failed: %v", err)
	}
	problems = append(problems, o.broken(drawn)...)
	report := &collected{TB: t}
	checkAnswered(report, got.Messages)
	return append(problems, report.problems...)
}

// broken returns each break of the order of effects in the log.
func (o *ordered) broken(drawn []string) (problems []string) {
	bad := func(format string, args ...any) {
		problems = append(problems, fmt.Sprintf(format, args...)+fmt.Sprintf(" (%v)", o.log))
	}
	begins := slices.IndexFunc(o.log, func(entry string) bool { return strings.HasPrefix(entry, "begin") })
	together := func(i, j int) bool { // no call between i and j has to run alone
		for k := i; k <= j; k++ {
			if id := fmt.Sprint(k); !toolKinds[drawn[k]] && (o.first("begin", id) >= 0 || k == i || k == j) {
				return false
			}
		}
		return true
	}
	for j := range drawn {
		id := fmt.Sprint(j)
		if at := o.last("before", id); begins >= 0 && at > begins {
			bad("BeforeTool of call %s fired after a call had begun", id)
		}
		first, last := o.first("after", id), o.last("after", id)
		if decided := o.first("before", id) >= 0; decided && first < 0 || first != last {
			bad("AfterTool of call %s did not fire once", id)
		}
		if o.last("end", id) > first {
			bad("AfterTool of call %s fired before the call had ended", id)
		}
		for i := range j {
			earlier := fmt.Sprint(i)
			if after := o.first("after", earlier); after > first && first >= 0 {
				bad("AfterTool of call %s fired before that of call %s", id, earlier)
			}
			begin, end := o.first("begin", id), o.last("end", earlier)
			switch {
			case begin < 0 || end < 0:
			case !together(i, j) && (end > begin || o.first("after", earlier) > begin):
				bad("call %s (%s) began before call %s (%s) was over", id, drawn[j], earlier, drawn[i])
			case together(i, j) && !slices.Contains(drawn, "waiting") && !slices.Contains(drawn[i+1:j+1], "asksread") &&
				!o.begun[id].Equal(o.begun[earlier]):
				bad("call %s (%s) did not overlap with call %s (%s)", id, drawn[j], earlier, drawn[i])
			}
		}
	}
	if at := o.first("after", o.endAt); at >= 0 {
		for _, entry := range o.log[at:] {
			if strings.HasPrefix(entry, "begin") {
				bad("%s after a hook had ended the run", entry)
			}
		}
	}
	return problems
}

// runAny runs a request as Do or as a stream.
func runAny(ctx context.Context, a *loop.Agent, req loop.Request, stream bool) (got agent.AgentResult, err error) {
	if !stream {
		return looptest.Ended(a.Do(ctx, req))
	}
	for event, failed := range a.Stream(ctx, req) {
		if err = failed; event.Kind == loop.EventEnd {
			got, err = looptest.Ended(*event.End, failed)
		}
	}
	return got, err
}

func TestALaterCallSeesAnEarlierWrite(t *testing.T) {
	for range 100 {
		var file string
		reads := ""
		ran := looptest.Harness{
			Turns: turns(looptest.Calls(
				looptest.Call("write", nil), looptest.Call("shell", nil),
			), looptest.Reply("ok")),
			Tools: tools(
				&looptest.Tool{Name: "write", Func: func(context.Context, agent.ToolCallRequest) (string, error) {
					file = "new"
					return "", nil
				}},
				&looptest.Tool{Name: "shell", Func: func(context.Context, agent.ToolCallRequest) (string, error) {
					reads = file
					return "", nil
				}},
			),
		}.Run(t, "x")
		if reads != "new" {
			t.Fatalf("the shell read %q: %+v", reads, ran.AgentResult)
		}
	}
}

// TestP3_APersonSeesTheStateThatACallWillMeet: the calls before a question have run when it is asked, and the calls
// after it have not, also in a run that is suspended and resumed.
func TestP3_APersonSeesTheStateThatACallWillMeet(t *testing.T) {
	names := []string{"write1", "asks1", "look1", "write2", "asks2", "write3"}
	for _, c := range []struct {
		name    string
		pending string // the calls whose answers come later
		rounds  [][]string
		early   string // the calls that somebody was asked about early
		ran     []string
	}{
		{"AtOnce", "", nil, "", nil},
		{"BothTogether", "asks1 asks2", [][]string{{"asks1", "asks2"}}, "asks2", []string{"write1"}},
		{"OneByOne", "asks1 asks2", [][]string{{"asks1"}, {"asks2"}}, "asks2", []string{"write1"}},
		{"LastFirst", "asks1 asks2", [][]string{{"asks2"}, {"asks1"}}, "asks2", []string{"write1"}},
		{"OnlyTheSecond", "asks2", [][]string{{"asks2"}}, "", names[:4]},
	} {
		t.Run(c.name, func(t *testing.T) {
			var log, early []string
			asked := make(map[string][]string)
			var calls []looptest.Turn
			var all []agent.Tool
			for _, name := range names {
				tool := agent.Tool(&looptest.Tool{Name: name, Func: func(context.Context, agent.ToolCallRequest) (string, error) {
					log = append(log, name)
					return "did " + name, nil
				}})
				if strings.HasPrefix(name, "look") {
					tool = loop.ReadOnly(tool)
				}
				calls, all = append(calls, looptest.Call(name, nil)), append(all, tool)
			}
			h := looptest.Harness{
				Turns: turns(looptest.Calls(calls...), looptest.Reply("ok")), Tools: all,
				Hooks: hooks(&ordered{begun: make(map[string]time.Time)}),
				Agent: &loop.Agent{Approver: &approver{f: func(_ context.Context, q agent.Question) (agent.Approval, error) {
					asked[q.Call.Name] = slices.Clone(log)
					if q.Early {
						early = append(early, q.Call.Name)
					}
					return agent.Approval{Allow: true, Pending: strings.Contains(c.pending, q.Call.Name)}, nil
				}}},
			}
			ran := h.Run(t, "x")
			got, err := ran.AgentResult, ran.Failed
			if strings.Join(early, " ") != c.early || c.ran != nil && !slices.Equal(log, c.ran) {
				t.Errorf("ran %v, asked early about %v", log, early)
			}
			for _, round := range c.rounds {
				var answers []loop.Answer
				for _, q := range got.Suspended.Questions {
					if slices.Contains(round, q.Call.Name) {
						answers = append(answers, loop.AnswerTo(q, yes()))
					}
				}
				got, err = looptest.Ended(ran.Agent.Resume(t.Context(), sent(t, got.Suspended), answers...))
			}
			if err != nil || got.Reply != "ok" || !slices.Equal(log, names) {
				t.Errorf("replied %q, %v, ran %v", got.Reply, err, log)
			}
			for i, name := range names {
				if before, ok := asked[name]; ok && c.early != name && !slices.Equal(before, names[:i]) {
					t.Errorf("asked about %s after %v", name, before)
				}
			}
			checkAnswered(t, got.Messages)
			checkPaired(t, ran.Recorder)
		})
	}
}

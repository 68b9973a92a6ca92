package window_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/window"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hooktest"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
	"github.com/hookgen/hookgen/spec/agentspec"
)

func ExampleGuard() {
	var hooks agent.Hooks
	hooks.Use(&window.Guard{FullFor: 1})
	run := agent.NewRun(nil)
	req := agent.LLMRequest{Messages: []agent.Message{
		fixture.User("Which files are large?"),
		calling("list", "1"), answering("1", `["a.go","b.go","c.go","d.go",`+strings.Repeat(`"e.go",`, 20)+`"f.go"]`),
		calling("size", "2"), answering("2", "a.go has 9000 lines"),
	}}
	_, _ = hooks.BeforeLLM.Fire(context.Background(), run, &req)
	fmt.Println(req.Messages[2].Content)
	fmt.Println(req.Messages[4].Content)
	// Output:
	// [earlier result: list of 25 items]
	// - a.go
	// - b.go
	// - c.go
	// a.go has 9000 lines
}

func calling(tool, id string) agent.Message {
	return agent.Message{Role: agent.RoleAssistant,
		ToolCalls: []agent.ToolCallRequest{{ID: id, Name: tool, Args: []byte(`{}`)}}}
}

func answering(id, text string) agent.Message {
	return agent.Message{Role: agent.RoleTool, ToolCallID: id, Content: text}
}

// steps returns a task and n steps, each with one call and the result.
func steps(n int, result string) []agent.Message {
	out := []agent.Message{fixture.User("the task")}
	for i := range n {
		id := fmt.Sprint(i + 1)
		out = append(out, calling("read", id), answering(id, result))
	}
	return out
}

// bodies describes the tool results in messages: full, blanked, summary or cut.
func bodies(messages []agent.Message) string {
	var out []string
	for _, m := range messages {
		switch {
		case m.Role != agent.RoleTool:
		case m.Content == "(truncated by context window manager)":
			out = append(out, "blanked")
		case strings.HasPrefix(m.Content, "[earlier result: "):
			out = append(out, "summary")
		case strings.Contains(m.Content, "[truncated: "):
			out = append(out, "cut")
		default:
			out = append(out, "full")
		}
	}
	return strings.Join(out, " ")
}

func TestGuardShortensResultsBeforeDroppingMessages(t *testing.T) {
	text := strings.Repeat("x", 1000) // 254 tokens
	for _, c := range []struct {
		name     string
		window   *window.Guard
		messages []agent.Message
		want     string
		left     int
	}{
		{"all fits", &window.Guard{FullFor: limit.None}, steps(5, text), "full full full full full", 11},
		{"the oldest are blanked", &window.Guard{FullFor: limit.None, Max: 1000}, steps(5, text),
			"blanked blanked blanked full full", 11},
		{"the last messages stay", &window.Guard{FullFor: limit.None, Max: 700, Keep: 4}, steps(5, text),
			"blanked blanked blanked full full", 11},
		{"then messages go", &window.Guard{FullFor: limit.None, Max: 400, Keep: 4}, steps(5, text), "full", 3},
		{"to the least", &window.Guard{FullFor: limit.None, Max: 100, Keep: 4}, steps(5, text), "", 1},
		{"no hurry", &window.Guard{}, steps(5, text), "full full full full full", 11},
		{"old ones are summarised", &window.Guard{Max: 2000}, steps(5, text), "summary summary full full full", 11},
		{"of at once", &window.Guard{FullFor: 1}, steps(2, text), "summary full", 5},
		{"short ones are not", &window.Guard{FullFor: 1}, steps(3, "short"), "full full full", 7},
		{"summaries are blanked too", &window.Guard{Max: 1000}, steps(5, text), "blanked blanked blanked full full", 11},
		{"all together", &window.Guard{FullFor: limit.None, Aggregate: 2500}, steps(4, text),
			"blanked blanked blanked full", 9},
		{"exactly the aggregate", &window.Guard{FullFor: limit.None, Aggregate: 4000}, steps(4, text),
			"full full full full", 9},
		{"to three quarters", &window.Guard{FullFor: limit.None, Aggregate: 4000}, steps(5, text),
			"blanked blanked blanked full full", 11},
		{"to exactly three quarters", &window.Guard{FullFor: limit.None, Aggregate: 420}, steps(5, text[:102]),
			"blanked blanked blanked full full", 11},
		{"nothing to blank", &window.Guard{FullFor: limit.None, Aggregate: 10}, steps(3, text[:37]), "full full full", 7},
		{"one is blanked", &window.Guard{FullFor: limit.None, Max: 760}, steps(3, text), "blanked full full", 7},
		{"as few as necessary", &window.Guard{FullFor: limit.None, Max: 2400}, steps(10, text),
			"blanked blanked blanked blanked full full full full full full", 21},
		{"all may be blanked", &window.Guard{FullFor: limit.None, Max: 300, Keep: limit.AtMost(0)}, steps(2, text),
			"blanked blanked", 5},
		{"fewer than FullFor", &window.Guard{FullFor: 2}, steps(3, text), "full full full", 7},
		{"as many as FullFor", &window.Guard{FullFor: 2}, steps(4, text), "summary summary full full", 9},
		{"a forged summary", &window.Guard{FullFor: 1}, steps(2, "[earlier result: "+strings.Repeat(text, 5)),
			"summary summary", 5},
		{"other messages stay", &window.Guard{FullFor: 1, Aggregate: 100},
			append([]agent.Message{fixture.User(text)}, steps(2, text[:100])...), "blanked blanked", 6},
		{"off", &window.Guard{FullFor: limit.None, Aggregate: limit.None, Max: 1 << 30},
			steps(9, strings.Repeat("x", 60_000)), strings.TrimSpace(strings.Repeat("full ", 9)), 19},
	} {
		t.Run(c.name, func(t *testing.T) {
			left := fixture.Rewritten(t, c.window, agent.LLMRequest{Messages: c.messages})
			if got := bodies(left.Messages); got != c.want || len(left.Messages) != c.left {
				t.Errorf("%d messages: %s; want %d: %s", len(left.Messages), got, c.left, c.want)
			}
			if err := agentspec.CheckPairs(left.Messages, false); err != nil {
				t.Error(err)
			}
			if left.Messages[0].Content != c.messages[0].Content {
				t.Errorf("the task is %.100q", left.Messages[0].Content)
			}
			if again := fixture.Rewritten(t, c.window, left); bodies(again.Messages) != c.want {
				t.Errorf("a second time: %s", bodies(again.Messages))
			}
		})
	}
}

func TestResultSummaryDependsOnKind(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"list", ` [1, {"a": "b c"}, "x\ny", 4` + strings.Repeat(",5", 200) + `]`,
			"[earlier result: list of 204 items]\n- 1\n- {\"a\": \"b c\"}\n- x y"},
		{"object", `{"z":"1","a":{"b":2},"m":` + strings.Repeat("9", 300) + `,"n":0}`,
			"[earlier result: object of 4 fields]\n- z: 1\n- a: {\"b\":2}\n- m: " + strings.Repeat("9", 159) + "…"},
		{"text", strings.Repeat("ä", 700), "[earlier result: text of 700 characters]\n" + strings.Repeat("ä", 499) + "…"},
		{"broken JSON", "[1," + strings.Repeat("2,", 400),
			"[earlier result: text of 803 characters]\n[1," + strings.Repeat("2,", 248) + "…"},
	} {
		t.Run(c.name, func(t *testing.T) {
			left := fixture.Rewritten(t, &window.Guard{FullFor: 1},
				agent.LLMRequest{Messages: []agent.Message{calling("a", "1"), answering("1", c.body), calling("a", "2"),
					answering("2", "")}})
			if got := left.Messages[1].Content; got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// A hook of the run and one of its sub-agent can both shorten a request.
func TestASummaryIsNotSummarizedAgain(t *testing.T) {
	key := strings.Repeat("k", 80)
	body := fmt.Sprintf(`{"%[1]sa":"%[2]s","%[1]sb":"%[2]s","%[1]sc":"%[2]s"}`, key[1:], strings.Repeat("v", 300))
	messages := []agent.Message{calling("a", "1"), answering("1", body), calling("a", "2"), answering("2", "")}
	once := fixture.Rewritten(t, &window.Guard{FullFor: 1}, agent.LLMRequest{Messages: messages})
	twice := fixture.Rewritten(t, &window.Guard{FullFor: 1}, once)
	if a, b := once.Messages[1].Content, twice.Messages[1].Content; a != b || len(a) < 600 {
		t.Errorf("once\n%s\ntwice\n%s", a, b)
	}
}

// Providers cache the beginning of a request that repeats the one before.
func TestRequestsRepeatTheirBeginning(t *testing.T) {
	text := strings.Repeat("x", 1000)
	for _, c := range []struct {
		name          string
		hook          agent.Hook
		first, second []agent.Message
		want          string // the results in the second request
	}{
		{"TokenBudget", &window.TokenBudget{Max: 2000}, steps(10, text), steps(11, text), "full full full"},
		{"Guard drops messages", &window.Guard{FullFor: limit.None, Max: 300, Keep: 4}, steps(40, text[:30]),
			steps(41, text[:30]), "full full full"},
		{"Guard blanks results", &window.Guard{FullFor: limit.None, Aggregate: 420}, steps(5, text[:102]),
			steps(6, text[:102]), "blanked blanked blanked full full full"},
		{"Guard summarizes results", &window.Guard{Max: 9000}, steps(5, strings.Repeat(text, 4)),
			steps(6, strings.Repeat(text, 4)), "summary summary full full full full"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var hooks agent.Hooks
			hooks.Use(c.hook)
			run := agent.NewRun(new(agent.Env))
			var requests [][]agent.Message
			for _, messages := range [][]agent.Message{c.first, c.second} {
				req := agent.LLMRequest{Messages: messages}
				if _, err := hooks.BeforeLLM.Fire(t.Context(), run, &req); err != nil {
					t.Fatal(err)
				}
				requests = append(requests, req.Messages)
			}
			before, now := requests[0], requests[1]
			if len(now) != len(before)+2 || !slices.EqualFunc(before, now[:len(before)],
				func(a, b agent.Message) bool { return a.Content == b.Content }) {
				t.Errorf("%d messages, then %d: %s, then %s", len(before), len(now), bodies(before), bodies(now))
			}
			if got := bodies(now); got != c.want {
				t.Errorf("the second request has %s, want %s", got, c.want)
			}
		})
	}
}

// A request that needs no change passes without a decision, which traces and records would show.
func TestChangesOfRequestsAreNamed(t *testing.T) {
	text := strings.Repeat("x", 1000)
	for _, c := range []struct {
		name     string
		hook     agent.Hook
		messages []agent.Message
		want     string
	}{
		{"Guard fits", &window.Guard{}, steps(5, text), ""},
		{"Guard blanks", &window.Guard{FullFor: limit.None, Max: 1000}, steps(5, text),
			"kept within 1000 tokens: 3 results blanked"},
		{"Guard summarizes", &window.Guard{Max: 2000}, steps(5, text), "kept within 2000 tokens: 2 results summarised"},
		{"Guard drops", &window.Guard{FullFor: limit.None, Max: 60, Keep: 4}, steps(5, text[:30]),
			"kept within 60 tokens: 6 of 11 messages left out"},
		{"TokenBudget fits", &window.TokenBudget{}, steps(5, text), ""},
		{"TokenBudget drops one", &window.TokenBudget{Max: 200, Keep: 2}, []agent.Message{
			fixture.User(text), fixture.User("now")}, "truncated to 200 tokens: 1 of 2 messages left out"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var hooks agent.Hooks
			hooks.Use(c.hook)
			record := hooktest.Record(hooks.Points())
			req := agent.LLMRequest{Messages: c.messages}
			if _, err := hooks.BeforeLLM.Fire(t.Context(), agent.NewRun(new(agent.Env)), &req); err != nil {
				t.Fatal(err)
			}
			outcome, reason := "Replace", c.want
			if c.want == "" {
				outcome = ""
			}
			hook, _, _ := strings.Cut(c.name, " ")
			if outcome == "" {
				record.Decided(t, "BeforeLLM", "", "", "")
				return
			}
			record.Decided(t, "BeforeLLM", "window."+hook, outcome, reason)
		})
	}
}

func TestErrorsOfToolsAreTruncated(t *testing.T) {
	long := strings.Repeat("x", 50_000)
	for _, c := range []struct{ name, output, err string }{
		{"neither", "a", "b"}, {"output", long, "b"}, {"error", "a", long}, {"both", long, long},
	} {
		t.Run(c.name, func(t *testing.T) {
			var hooks agent.Hooks
			hooks.Use(&window.Guard{MaxOutput: 100})
			record := hooktest.Record(hooks.Points())
			got := agent.ToolCallResult{Output: c.output, Err: c.err}
			if _, err := hooks.AfterTool.Fire(t.Context(), agent.NewRun(nil), &got); err != nil {
				t.Fatal(err)
			}
			if got.Output[0] != c.output[0] || got.Err[0] != c.err[0] || len(got.Output) > 100 || len(got.Err) > 100 {
				t.Errorf("got %+v", got)
			}
			if c.name == "neither" {
				record.Decided(t, "AfterTool", "", "", "")
			}
		})
	}
}

func TestAttachmentsAreRemovedWithResults(t *testing.T) {
	picture := answering("1", "")
	picture.Parts = []agent.Part{{MediaType: "image/png", Data: make([]byte, 100_000)}}
	messages := []agent.Message{fixture.User("u"), calling("a", "1"), picture, calling("a", "2"), answering("2", "r")}
	for name, w := range map[string]*window.Guard{"summarised": {FullFor: 1},
		"blanked": {FullFor: limit.None, Max: 4000, Keep: 2}} {
		if left := fixture.Rewritten(t, w, agent.LLMRequest{Messages: messages}); left.Messages[2].Parts != nil ||
			len(left.Messages) != 5 {
			t.Errorf("%s: %d messages, %d attachments", name, len(left.Messages), len(left.Messages[2].Parts))
		}
	}
}

func TestGuardBoundsEveryRequestOfARun(t *testing.T) {
	long := strings.Repeat("all work and no play ", 500)
	ran := looptest.Harness{
		Turns: fixture.Work(8),
		Tools: []agent.Tool{&looptest.Tool{Name: "work", Result: long}},
		Hooks: []agent.Hook{&window.Guard{Max: 1500, MaxOutput: 2000}},
		Agent: &loop.Agent{Instructions: strings.Repeat("i", 1000)},
	}.Run(t, "the task")
	if ran.Failed != nil {
		t.Fatal(ran.Failed)
	}
	for i, req := range ran.Script.Requests() {
		if n := agentspec.EstimateTokens(req.Messages) + agentspec.EstimateTools(req.Tools); n > 1500 {
			t.Errorf("prompt %d has %d tokens", i, n)
		}
		if err := agentspec.CheckPairs(req.Messages, false); err != nil {
			t.Errorf("prompt %d: %v", i, err)
		}
	}
	for _, m := range ran.Messages {
		if m.Role == agent.RoleTool &&
			(utf8.RuneCountInString(m.Content) > 2000 || !strings.Contains(m.Content, "[truncated: ")) {
			t.Errorf("stored: %d characters", utf8.RuneCountInString(m.Content))
		}
	}
	last := ran.Script.Requests()[8].Messages
	if got := bodies(last); got != "blanked blanked blanked blanked summary full full full" && len(last) < 10 {
		t.Errorf("the last prompt: %s", got)
	}
}

func TestGuardReportsRequestThatCannotFit(t *testing.T) {
	ran := looptest.Harness{
		Turns: fixture.Work(2), Tools: fixture.Worker(), Hooks: []agent.Hook{&window.Guard{Max: 100}},
		Agent: &loop.Agent{Instructions: strings.Repeat("i", 4000)},
	}.Run(t, "the task")
	if ran.Failed != nil || ran.Reply != "ok" {
		t.Errorf("got %v", ran.Failed)
	}
	exceeded := hooktest.PayloadsOf[agent.BudgetExceeded](ran.Recorder, "OnBudgetExceeded")
	if len(exceeded) != 3 || exceeded[2].By != "window.Guard" || exceeded[2].Kind != agent.BudgetContext ||
		exceeded[2].Limit != 100 || !exceeded[2].Estimated {
		t.Errorf("reported %+v", exceeded)
	}
}

// mapStore is a store in memory that fails with err if err is set.
type mapStore struct {
	mu   sync.Mutex
	data map[string]string
	puts int
	err  error
}

func (s *mapStore) Get(_ context.Context, key string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if v, ok := s.data[key]; ok {
		return []byte(v), s.err
	}
	return nil, &agent.NotFound{Key: key}
}

func (s *mapStore) Put(_ context.Context, key string, value []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	if s.data == nil {
		s.data = make(map[string]string)
	}
	s.data[key] = string(value)
	s.puts++
	return nil
}

func (s *mapStore) Delete(context.Context, string) error { return nil }

func (s *mapStore) Keys(context.Context, string) ([]string, error) {
	return slices.Sorted(maps.Keys(s.data)), nil
}

func TestShortenedResultsCanBeRecalled(t *testing.T) {
	store := &mapStore{data: map[string]string{"secret": "s", "result////secret": "s"}}
	whole := strings.Repeat("0123456789", 400)
	var got []string
	recall := func(args string) looptest.Turn {
		return looptest.Func(func(_ context.Context, req agent.LLMRequest) (agent.LLMResponse, error) {
			last := req.Messages[len(req.Messages)-1].Content
			got = append(got, last)
			_, key, _ := strings.Cut(req.Messages[2].Content, "recall key ")
			key, _, _ = strings.Cut(key, "]")
			reply := looptest.Call("recall", fmt.Sprintf(args, key)).Response()
			reply.ToolCalls[0].ID = fmt.Sprint("r", len(got))
			return reply, nil
		})
	}
	ran := looptest.Harness{
		Turns: []looptest.Turn{
			looptest.Call("work", nil), recall(`{"key":"%s"}`), recall(`{"key":"%s","offset":3600}`),
			recall(`{"key":"%s","offset":1e9}`), recall(`{"key":"%.0ssecret"}`),
			looptest.Func(func(_ context.Context, req agent.LLMRequest) (agent.LLMResponse, error) {
				got = append(got, req.Messages[len(req.Messages)-1].Content)
				return looptest.Reply("ok").Response(), nil
			}),
		},
		Tools: []agent.Tool{&looptest.Tool{Name: "work", Result: whole}, window.RecallTool{Store: store, MaxChars: 1800}},
		Hooks: []agent.Hook{&window.Guard{Recall: store, FullFor: 2, MaxOutput: 2000}},
	}.Run(t, "x")
	if ran.Failed != nil {
		t.Fatal(ran.Failed)
	}
	for i, want := range []string{
		" characters missing; recall key result-",
		whole[:1800] + "\n[characters 0 to 1800 of 4000; continue with offset 1800]",
		whole[3600:] + "\n[characters 3600 to 4000 of 4000, the end]",
		"\n[characters 4000 to 4000 of 4000, the end]",
		`there is no result under the key "secret"`,
	} {
		if !strings.Contains(got[i], want) || utf8.RuneCountInString(got[i]) > 2000 {
			t.Errorf("%d: got %q, want %q", i, got[i], want)
		}
	}
	if summary := ran.Script.Requests()[5].Messages[2].Content; !strings.HasPrefix(summary,
		"[earlier result: text of 2000 characters; recall key result-") {
		t.Errorf("after two steps the result is %.100q", summary)
	}
	if store.puts != 2 { // the result, and the first recall, which is summarised too
		t.Errorf("%d results were kept", store.puts)
	}
}

func TestFailingRecallStoreIsReported(t *testing.T) {
	var told []error
	w := &window.Guard{Recall: &mapStore{err: errors.New("disk full")}, OnError: func(err error) {
		told = append(told, err)
	}}
	ran := looptest.Harness{
		Turns: fixture.Work(1), Tools: []agent.Tool{&looptest.Tool{Name: "work", Result: strings.Repeat("x", 40_000)}},
		Hooks: []agent.Hook{w},
	}.Run(t, "x")
	if ran.Failed != nil || len(told) != 1 || !strings.Contains(told[0].Error(), "disk full") ||
		strings.Contains(ran.Calls[0].Output, "recall") {
		t.Errorf("%v, told %v", ran.Failed, told)
	}
}

func TestRecallToolRefusesInvalidKeys(t *testing.T) {
	store := &mapStore{data: map[string]string{
		"result-../../etc/pass": "s", "result////result-0123456789abcdef": "found", "result///c/result-fedcba9876543210": "s",
		"result////secret": "s",
	}}
	for args, want := range map[string]string{
		`{"key":"result-0123456789abcdef"}`:           "",
		`{"key":"result-0123456789ABCDEF"}`:           "there is no result",
		`{"key":"result-../../etc/pass"}`:             "there is no result",
		`{"key":"result-fedcba9876543210"}`:           "there is no result",
		`{"key":"secret"}`:                            "there is no result",
		`{"key":""}`:                                  "there is no result",
		`{"key":`:                                     "cannot be read",
		`{"key":"` + strings.Repeat("k", 9999) + `"}`: "there is no result",
	} {
		t.Run(fmt.Sprintf("%.60s", args), func(t *testing.T) {
			text, err := window.RecallTool{Store: store}.Call(t.Context(), agent.ToolCallRequest{Args: []byte(args)})
			got := fmt.Sprint(err)
			if (text == "found") != (want == "") {
				t.Errorf("the text is %q", text)
			}
			failed := new(agent.ToolError)
			if errors.As(err, &failed) && failed.NoRetry != (want == "there is no result") {
				t.Errorf("the model may try again: %t", !failed.NoRetry)
			}
			if want == "" && err != nil || !strings.Contains(got, want) && want != "" || len(got) > 300 {
				t.Errorf("got %s, want %q", got, want)
			}
		})
	}
	call := agent.ToolCallRequest{Args: []byte(`{"key":"result-0123456789abcdef"}`)}
	failing := &mapStore{data: store.data, err: errors.New("disk error")}
	for want, tool := range map[string]window.RecallTool{
		"the recall tool has no store":              {},
		"RecallTool.MaxChars is -1":                 {Store: store, MaxChars: -1},
		"the result cannot be read: disk error":     {Store: failing},
		"there is no result under the key \"result": {Store: new(mapStore)},
	} {
		if _, err := tool.Call(t.Context(), call); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %q", err, want)
		}
	}
	if s := (window.RecallTool{}).Schema(); !json.Valid(s.Parameters) || !s.ReadOnly {
		t.Errorf("got %+v", s)
	}
}

func TestGuardTakesItsLimitFromTheModel(t *testing.T) {
	for _, c := range []struct {
		window, reserve, maxTokens, want int
	}{
		{20_000, 0, 0, 10_000}, {50_000, 0, 0, 37_000}, {50_000, 1000, 0, 49_000}, {50_000, 0, 2000, 48_000},
		{0, 0, 0, 115_000},
	} {
		t.Run(fmt.Sprintf("%d, %d, %d", c.window, c.reserve, c.maxTokens), func(t *testing.T) {
			var hooks agent.Hooks
			hooks.Use(&window.Guard{Reserve: c.reserve, FullFor: limit.None, Aggregate: limit.None})
			for over, want := range map[int]int{0: 3, 1: 1} { // one token over the limit drops the oldest
				run := agent.NewRun(&agent.Env{Tokens: fixture.Counter(func(m []agent.Message) int {
					if len(m) == 3 {
						return c.want + over
					}
					return 1
				})})
				fixture.Votes(&hooks, run, c.window, 1)
				req := agent.LLMRequest{MaxTokens: c.maxTokens,
					Messages: []agent.Message{fixture.User("a"), fixture.User("b"), fixture.User("c")}}
				_, err := hooks.BeforeLLM.Fire(t.Context(), run, &req)
				if err != nil || (len(req.Messages) == 3) != (want == 3) {
					t.Errorf("%+v: with %d tokens more %d messages are left, %v", c, over, len(req.Messages), err)
				}
			}
		})
	}
}

func TestInvalidGuardPanicsInBind(t *testing.T) {
	for want, w := range map[string]*window.Guard{
		"window.Guard: Max is -2": {Max: -2},
		"Reserve is -1":           {Reserve: -1},
	} {
		t.Run(want, func(t *testing.T) {
			fixture.MustPanic(t, want, func() { new(agent.Hooks).Use(w) })
		})
	}
}

func TestShorteningEndsWithTheConversation(t *testing.T) {
	text := strings.Repeat("x", 1000)
	var hooks agent.Hooks
	hooks.Use(&window.Guard{FullFor: limit.None, Max: 1000})
	run := agent.NewRun(new(agent.Env))
	rewritten := func(messages []agent.Message) string {
		req := agent.LLMRequest{Messages: messages}
		if _, err := hooks.BeforeLLM.Fire(t.Context(), run, &req); err != nil {
			t.Fatal(err)
		}
		return bodies(req.Messages)
	}
	if got := rewritten(steps(5, text)); got != "blanked blanked blanked full full" {
		t.Errorf("a long conversation has %s", got)
	}
	if got := rewritten(steps(6, text)); got != "blanked blanked blanked full full full" {
		t.Errorf("a step later it has %s", got)
	}
	compacted := append([]agent.Message{fixture.User("a summary")}, steps(2, text)...)
	if got := rewritten(compacted); got != "full full" {
		t.Errorf("after a compaction the conversation has %s", got)
	}
}

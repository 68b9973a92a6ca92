package agentspec_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/hookgen/hookgen/spec/agentspec"
)

// payloads returns one value of each payload type, with every field set.
func payloads() []any {
	call := agentspec.ToolCallRequest{ID: "a", Name: "work", Args: []byte(`{"n":1}`), Step: 2}
	message := agentspec.Message{
		Role: agentspec.RoleAssistant, Content: "text", Parts: []agentspec.Part{{MediaType: "image/png", Data: []byte{1}}},
		Name: "n", ToolCalls: []agentspec.ToolCallRequest{call}, ToolCallID: "x", IsError: true, Reasoning: "r",
		Extra: map[string]json.RawMessage{"signature": json.RawMessage(`"s"`)},
	}
	messages := []agentspec.Message{message}
	half, seed := 0.5, uint64(7)
	response := agentspec.LLMResponse{
		Step: 1, Content: "c", ToolCalls: []agentspec.ToolCallRequest{call}, FinishReason: "stop",
		Usage: agentspec.Usage{Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4, Cost: 0.5}, Model: "m", ID: "i",
		Elapsed: time.Second,
	}
	result := agentspec.ToolCallResult{
		Call: call, Output: "o", Err: "e", Elapsed: time.Second, Status: agentspec.CallFailed, Kind: agentspec.FailTool,
		NoRetry: true, Attempts: 2, By: "b", Reason: "r",
		Warnings: []string{"w"}, Context: []string{"c"},
	}
	stepResult := agentspec.StepResult{
		Step: agentspec.Step{Number: 1}, Response: &response, Results: []agentspec.ToolCallResult{result}, Err: "e",
	}
	step := agentspec.Step{Number: 2, Max: 5, Usage: response.Usage, Elapsed: time.Second, Last: &stepResult, Done: true}
	signal := agentspec.EndRun{Cause: agentspec.CauseTimeLimit, Message: "m", Detail: map[string]any{"max": "5"}, By: "b"}
	final := agentspec.AgentResult{
		Agent: "a", Task: "t", Reply: "r", Steps: 1, ModelCalls: 2, Usage: response.Usage, Calls: []agentspec.ToolCallResult{
			result,
		},
		Messages: messages, Elapsed: time.Second, Stop: signal, Signals: []agentspec.EndRun{signal}, EndedBy: "b",
		HandedOffTo: "h",
		Warnings:    []string{"w"}, Err: "e",
	}
	question := agentspec.Question{
		Call: call, Tool: agentspec.ToolSchema{Name: "n"}, Prompt: "p", Reason: "r", By: "b", Agent: "a", Run: "i",
		Owner: agentspec.Identity{User: "u"},
	}
	return []any{
		agentspec.RunStart{Task: "t", Messages: messages, Agent: "a"},
		step, stepResult, call, result, final, response,
		agentspec.ContextUse{Step: 1, Tokens: 2, Window: 3, Messages: messages},
		agentspec.Compaction{Step: 1, Reason: agentspec.CompactTooLong, Detail: "d", By: "b", Messages: messages, Tokens: 3},
		agentspec.Compacted{
			Step: 1, Reason: agentspec.CompactRequested, Before: agentspec.Size{Messages: 2, Tokens: 3},
			StepRange: agentspec.StepRange{From: 1, To: 2}, Summary: "s", Messages: messages, ModelCalls: 1,
			Cleared: 1, Err: "e",
		},
		agentspec.LLMRequest{
			Step: 1, Messages: messages, Tools: []agentspec.ToolSchema{
				{Name: "n", Description: "d", Parameters: json.RawMessage(`{}`), ReadOnly: true},
			}, ToolChoice: "auto", Model: "m", ResponseFormat: &agentspec.ResponseFormat{Type: "json_schema", Name: "n",
				Schema: json.RawMessage(`{}`), Strict: true}, MaxTokens: 5, Temperature: &half, Seed: &seed, Extra: message.Extra,
		},
		agentspec.ToolsDisabled{Call: call, Agent: "a"},
		question,
		agentspec.Grant{Question: question, Call: call, By: "b", Reason: "r", Remember: json.RawMessage(`[{"tool":"t"}]`)},
		agentspec.Denial{Call: call, Reason: "r", Kind: agentspec.DeniedByVote, By: "b"},
		agentspec.Handoff{From: "a", To: "b", Task: "t", Call: call},
		agentspec.ToolProgress{Call: call, Stage: "s", Data: json.RawMessage(`1`)},
		agentspec.ToolFailure{
			Call: call, Err: "e", Kind: agentspec.FailPanic, Attempt: 1, WillRetry: true, Elapsed: time.Second,
		},
		agentspec.Subagent{ID: "i", Name: "n", Task: "t", Handoff: true},
		agentspec.SubagentDone{ID: "i", Name: "n", ModelCalls: 1, Steps: 2, Result: final},
		agentspec.BudgetExceeded{
			Kind: agentspec.BudgetTokens, Used: 2, Limit: 1, Estimated: true, Call: &call, Detail: "d", By: "b",
		},
		agentspec.DoneRequest{Answer: "a", Call: &call, Rejections: 1},
		agentspec.DoneAccepted{Answer: "a", Call: &call},
		agentspec.RunError{Err: "e", Where: "LLM", Partial: final},
		agentspec.Stopping{Signals: []agentspec.EndRun{signal}},
	}
}

func TestEveryPayloadSurvivesJSON(t *testing.T) {
	for _, p := range payloads() {
		data, err := json.Marshal(p)
		if err != nil {
			t.Errorf("%T: %v", p, err)
			continue
		}
		back := reflect.New(reflect.TypeOf(p))
		decoder := json.NewDecoder(bytes.NewReader(data))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(back.Interface()); err != nil {
			t.Errorf("%T: %v", p, err)
		}
		if got := back.Elem().Interface(); !reflect.DeepEqual(got, p) {
			t.Errorf("%T came back as %+v, was %+v", p, got, p)
		}
		zero, err := json.Marshal(reflect.Zero(reflect.TypeOf(p)).Interface())
		if err != nil || !json.Valid(zero) {
			t.Errorf("the zero %T: %s, %v", p, zero, err)
		}
	}
}

// spec returns the syntax of points.go.
func spec(t *testing.T) *ast.File {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "points.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestAllPayloadsAreTested(t *testing.T) {
	tested := make(map[string]bool)
	for _, p := range payloads() {
		tested[reflect.TypeOf(p).Name()] = true
	}
	n := 0
	ast.Inspect(spec(t), func(node ast.Node) bool {
		i, ok := node.(*ast.InterfaceType)
		if !ok {
			return true
		}
		for _, m := range i.Methods.List {
			f, ok := m.Type.(*ast.FuncType)
			if !ok {
				continue
			}
			n++
			name := m.Names[0].Name
			if payload := f.Params.List[0].Type.(*ast.Ident).Name; !tested[payload] {
				t.Errorf("the payload %s of %s is not in payloads", payload, name)
			}
		}
		return false
	})
	if n != 31 {
		t.Errorf("there are %d points", n)
	}
}

func TestACallEncodesWithAnyArguments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := agentspec.ToolCallRequest{
			ID: rapid.String().Draw(t, "id"), Name: rapid.String().Draw(t, "name"), Step: rapid.IntRange(0, 9).Draw(t, "step"),
		}
		if text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
			`{}`, `{"a":[1,2]}`, `null`, `"text"`, `{`, `1 2`,
		})).Draw(t, "args"); text != "" {
			c.Args = json.RawMessage(text)
		}
		data, err := json.Marshal([]agentspec.ToolCallRequest{c})
		if err != nil {
			t.Fatal(err)
		}
		var back []agentspec.ToolCallRequest
		if err := json.Unmarshal(data, &back); err != nil {
			t.Fatal(err)
		}
		got := back[0]
		if got.ID != c.ID || got.Name != c.Name || got.Step != c.Step {
			t.Errorf("got %+v, was %+v", got, c)
		}
		same := bytes.Equal(got.Args, c.Args)
		if json.Valid(c.Args) { // except for blanks
			var a, b any
			_, _ = json.Unmarshal(got.Args, &a), json.Unmarshal(c.Args, &b)
			same = reflect.DeepEqual(a, b)
		}
		if !same {
			t.Errorf("the arguments came back as %q, were %q", got.Args, c.Args)
		}
	})
}

func TestClonesShareNothing(t *testing.T) {
	for _, p := range payloads() {
		switch p := p.(type) {
		case agentspec.LLMRequest:
			c := p.Clone()
			c.Messages[0].ToolCalls[0].Args[0], c.Messages[0].Parts[0].Data[0], c.Tools[0].Parameters[0] = '!', 9, '!'
			c.Messages[0].Extra["signature"][0], c.Extra["new"], *c.Temperature, *c.Seed, c.ResponseFormat.Schema[0] = '!',
				nil, 9, 9, '!'
		case agentspec.LLMResponse:
			p.Clone().ToolCalls[0].Args[0] = '!'
		case agentspec.ToolCallResult:
			p.Clone().Call.Args[0] = '!'
		case agentspec.RunStart:
			agentspec.CloneMessages(p.Messages)[0].ToolCalls[0].Args[0] = '!'
		}
		data, err := json.Marshal(p)
		if err != nil || strings.Contains(string(data), "!") || strings.Contains(string(data), `"new"`) ||
			strings.Contains(string(data), ":9") {
			t.Errorf("%T shares memory with its clone: %s, %v", p, data, err)
		}
	}
	if agentspec.CloneMessages(nil) != nil || agentspec.CloneCalls(nil) != nil {
		t.Error("a clone of nil is not nil")
	}
}

func TestCallsAndResultsArePaired(t *testing.T) {
	user := agentspec.Message{Role: agentspec.RoleUser}
	calls := func(ids ...string) agentspec.Message {
		m := agentspec.Message{Role: agentspec.RoleAssistant}
		for _, id := range ids {
			m.ToolCalls = append(m.ToolCalls, agentspec.ToolCallRequest{ID: id})
		}
		return m
	}
	answer := func(id string) agentspec.Message {
		return agentspec.Message{Role: agentspec.RoleTool, ToolCallID: id}
	}
	for _, c := range []struct {
		name     string
		messages []agentspec.Message
		open     bool
		want     string
	}{
		{"Empty", nil, false, ""},
		{"Plain", []agentspec.Message{user, calls()}, false, ""},
		{"Answered", []agentspec.Message{
			user, calls("a", "b"), answer("b"), answer("a"), user, calls("a"), answer("a"),
		}, false, ""},
		{"Open", []agentspec.Message{calls("a")}, true, ""},
		{"OpenAtTheEnd", []agentspec.Message{calls("a")}, false, `call "a" has no result`},
		{"OpenInBetween", []agentspec.Message{calls("a"), user}, true, `before the result of call "a"`},
		{"Orphan", []agentspec.Message{user, answer("a")}, true, `message 1 answers call "a"`},
		{"Twice", []agentspec.Message{calls("a"), answer("a"), answer("a")}, true, `message 2 answers call "a"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := agentspec.CheckPairs(c.messages, c.open)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestTheFirstOfTheStrongestSignalsWins(t *testing.T) {
	if s := agentspec.Strongest(nil); s.Cause != agentspec.CauseUnknown {
		t.Errorf("of none: %+v", s)
	}
	s := agentspec.Strongest([]agentspec.EndRun{
		{Cause: "made_up", Message: "1"}, {Cause: agentspec.CauseCompleted, Message: "2"},
		{Cause: agentspec.CauseUserRequested, Message: "3"}, {Cause: agentspec.CauseUserRequested, Message: "4"},
		{Cause: agentspec.CauseTokenLimit},
	})
	if s.Message != "3" {
		t.Errorf("got %+v", s)
	}
	if agentspec.Cause("made_up").Strength() != agentspec.CauseUnknown.Strength() || !agentspec.Cause("made_up").Forced() {
		t.Error("an unknown cause is not like unknown")
	}
}

func TestUsageAdds(t *testing.T) {
	got := agentspec.Usage{Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4, Cost: 0.5}.Plus(agentspec.Usage{
		Input: 10, Output: 20, CacheRead: 30, CacheWrite: 40, Cost: math.Inf(1),
	})
	if want := (agentspec.Usage{Input: 11, Output: 22, CacheRead: 33, CacheWrite: 44, Cost: 0.5}); got != want ||
		got.Total() != 33 {
		t.Errorf("got %+v", got)
	}
}

func TestTokensAreEstimatedByLength(t *testing.T) {
	got := agentspec.EstimateTokens([]agentspec.Message{
		{Content: "12345678"},
		{ToolCalls: []agentspec.ToolCallRequest{{Name: "work", Args: []byte(`{"n":1}`)}}},
	})
	if want := 8/4 + 4 + 11/4 + 4; got != want {
		t.Errorf("got %d, want %d", got, want)
	}
	if got := agentspec.EstimateTools([]agentspec.ToolSchema{{Name: "abcd", Description: "abcd"}}); got != 6 {
		t.Errorf("got %d, want 6", got)
	}
}

func TestAToolMessageDescribesTheResult(t *testing.T) {
	for _, c := range []struct {
		output, err, want string
	}{{"out", "", "out"}, {"", "bad", "error: bad"}, {"try this", "bad", "try this"}, {"", "", "(no output)"}} {
		t.Run(c.want, func(t *testing.T) {
			m := agentspec.ToolCallResult{
				Call: agentspec.ToolCallRequest{ID: "a", Name: "work"}, Output: c.output, Err: c.err,
			}.Message()
			if m.Content != c.want || m.IsError != (c.err != "") || m.ToolCallID != "a" || m.Role != agentspec.RoleTool ||
				m.Name != "work" {
				t.Errorf("got %+v", m)
			}
		})
	}
}

func TestProgressIsANoOpOutsideRun(t *testing.T) {
	agentspec.Progress(t.Context(), "nowhere", 1)
	var stages []string
	ctx := agentspec.WithProgress(t.Context(), func(stage string, data json.RawMessage) {
		stages = append(stages, stage+string(data))
	})
	agentspec.Progress(ctx, "a", nil)
	agentspec.Progress(ctx, "b", map[string]int{"n": 1})
	agentspec.Progress(ctx, "c", func() {})
	if len(stages) != 3 || stages[0] != "a" || stages[1] != `b{"n":1}` || !strings.HasPrefix(stages[2], `c"`) {
		t.Errorf("got %q", stages)
	}
	if agentspec.RunID(t.Context()) != "" || agentspec.RunID(agentspec.WithRun(ctx, "r")) != "r" {
		t.Error("the run's identity is wrong")
	}
	env := &agentspec.Env{Tenant: "t", User: "u"}
	if agentspec.IdentityOf(t.Context()) != (agentspec.Identity{}) ||
		agentspec.IdentityOf(agentspec.WithEnv(ctx, env)) != env.Identity() {
		t.Error("the run's owner is wrong")
	}
}

func TestAnEnvWithoutFieldsWorks(t *testing.T) {
	for _, e := range []*agentspec.Env{nil, {}} {
		if !reflect.DeepEqual(e.Count(), agentspec.Counters{}) || e.CountTokens([]agentspec.Message{{}}) != 4 ||
			time.Since(e.Now()) > time.Hour {
			t.Error("an empty Env counts")
		}
		e.ReportBudget(t.Context(), agentspec.BudgetExceeded{})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := e.Sleep(ctx, time.Hour); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		if err := (agentspec.SystemClock{}).Sleep(t.Context(), time.Hour); err != nil || time.Since(begun) != time.Hour {
			t.Errorf("slept %v, %v", time.Since(begun), err)
		}
	})
}

func TestErrorsSayWhatToDo(t *testing.T) {
	cause := errors.New("cause")
	for want, err := range map[string]error{
		"900 tokens, the model takes 100": &agentspec.PromptTooLong{Tokens: 900, Window: 100},
		"too long for the model":          &agentspec.PromptTooLong{},
		"message":                         &agentspec.ToolError{Message: "message", Cause: cause},
		"cause":                           &agentspec.ToolError{Cause: cause},
		"timeout":                         &agentspec.ToolError{Kind: agentspec.FailTimeout},
		`under "key"`:                     &agentspec.NotFound{Key: "key"},
	} {
		t.Run(want, func(t *testing.T) {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("got %q", err)
			}
		})
	}
	if !errors.Is(&agentspec.ToolError{Message: "m", Cause: cause}, cause) {
		t.Error("the cause is lost")
	}
}

func TestUsageNeverOverflows(t *testing.T) {
	most := agentspec.Usage{
		Input: math.MaxInt, Output: math.MaxInt, CacheRead: math.MaxInt, CacheWrite: math.MaxInt, Cost: math.MaxFloat64,
	}
	for _, c := range []struct {
		name       string
		a, b, want agentspec.Usage
	}{
		{"Largest", most, most, most},
		{"OneMore", most, agentspec.Usage{Input: 1, Output: 1, CacheRead: 1, CacheWrite: 1, Cost: 1}, most},
		{"LessThanNothing", agentspec.Usage{Input: 5, Cost: 1}, agentspec.Usage{Input: -7, Output: math.MinInt, Cost: -2},
			agentspec.Usage{Input: 5, Cost: 1}},
		{"NoNumber", agentspec.Usage{Cost: math.NaN()}, agentspec.Usage{Cost: math.Inf(-1)}, agentspec.Usage{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.a.Plus(c.b); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
			if got := c.b.Plus(c.a); got != c.want {
				t.Errorf("the other way round: got %+v, want %+v", got, c.want)
			}
		})
	}
	if got := most.Total(); got != math.MaxInt {
		t.Errorf("the total is %d", got)
	}
}

func TestManyAnswersInAnyOrderArePaired(t *testing.T) {
	const n = 100_000 // a quadratic algorithm takes minutes for this
	calls := make([]agentspec.ToolCallRequest, n)
	messages := []agentspec.Message{{Role: agentspec.RoleAssistant, ToolCalls: calls}}
	for i := range calls {
		calls[i].ID = fmt.Sprint(i)
	}
	for i := range calls {
		messages = append(messages, agentspec.Message{Role: agentspec.RoleTool, ToolCallID: fmt.Sprint(n - 1 - i)})
	}
	if err := agentspec.CheckPairs(messages, false); err != nil {
		t.Error(err)
	}
	if err := agentspec.CheckPairs(messages[:n], false); err == nil || !strings.Contains(err.Error(), `"0"`) {
		t.Errorf("one answer is missing: %v", err)
	}
}

package retry_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/retry"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// asked returns a model that records the names in its requests and fails with the errors of these names.
func asked(names *[]string, errs map[string]error) agent.Model {
	return looptest.NewScript(slices.Repeat([]looptest.Turn{looptest.Func(func(
		_ context.Context, req agent.LLMRequest,
	) (agent.LLMResponse, error) {
		*names = append(*names, req.Model)
		return agent.LLMResponse{Content: "from " + req.Model, Usage: agent.Usage{Input: 10}}, errs[req.Model]
	})}, 20)...)
}

func TestFallbackAsksModelsInOrder(t *testing.T) {
	down, gone := errors.New("down"), errors.New("gone")
	for _, c := range []struct {
		name   string
		errs   map[string]error
		limits loop.Limits
		asked  string
		reply  string
	}{
		{"no failure", nil, loop.Limits{}, "large", "from large"},
		{"first fails", map[string]error{"large": down}, loop.Limits{}, "large medium", "from medium"},
		{"two fail", map[string]error{"large": down, "medium": gone}, loop.Limits{}, "large medium small", "from small"},
		{"all fail", map[string]error{"large": down, "medium": gone, "small": down}, loop.Limits{},
			"large medium small", ""},
		{"prompt too long", map[string]error{"large": &agent.PromptTooLong{}}, loop.Limits{}, "large", ""},
		{"fallback too small", map[string]error{"large": down, "medium": &agent.PromptTooLong{}}, loop.Limits{},
			"large medium", ""},
		{"tokens used up at once", map[string]error{"large": down}, loop.Limits{Tokens: 5}, "large", ""},
		{"cancelled", map[string]error{"large": context.Canceled}, loop.Limits{}, "large", ""},
		{"tokens used up", map[string]error{"large": down, "medium": down}, loop.Limits{Tokens: 15}, "large medium", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var names []string
			ran := looptest.Harness{
				Agent: &loop.Agent{Model: asked(&names, c.errs), Limits: c.limits, Request: agent.LLMRequest{Model: "large"}},
				Hooks: []agent.Hook{&retry.Fallback{Models: []string{"medium", "small"}}},
			}.Run(t, "go")
			if got := strings.Join(names, " "); got != c.asked || ran.Reply != c.reply {
				t.Errorf("asked %q, want %q; replied %q, %v", got, c.asked, ran.Reply, ran.Failed)
			}
			for _, name := range names {
				if err := c.errs[name]; c.reply == "" && !errors.Is(ran.Failed, err) {
					t.Errorf("the error of %s is not in %v", name, ran.Failed)
				}
			}
		})
	}
}

// Extra is for the model that the request names. Another one would refuse it.
func TestFallbackModelsGetTheirOwnExtra(t *testing.T) {
	var got []string
	model := looptest.NewScript(slices.Repeat([]looptest.Turn{looptest.Func(func(
		_ context.Context, req agent.LLMRequest,
	) (agent.LLMResponse, error) {
		got = append(got, req.Model+string(req.Extra["tier"])+string(req.Extra["effort"]))
		return agent.LLMResponse{}, errors.New("down")
	})}, 4)...)
	_, err := (&loop.Agent{
		Model:   model,
		Request: agent.LLMRequest{Model: "large", Extra: map[string]json.RawMessage{"effort": []byte("1")}},
		Hooks: loop.Hooks(&retry.Fallback{
			Models: []string{"medium", "small"}, Extra: map[string]json.RawMessage{"tier": []byte("2")},
		}),
	}).Run(t.Context(), "go")
	if want := []string{"large1", "medium2", "small2"}; err == nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestFallbackSkipsOpenBreaker(t *testing.T) {
	var names []string
	clock := newWalkingClock()
	breaker := &retry.Breaker{Failures: 2}
	model := asked(&names, map[string]error{"": overload{}})
	hooks := []agent.Hook{&retry.Model{}, breaker, &retry.Fallback{Models: []string{"small"}}}
	a := &loop.Agent{Model: model, Clock: clock, Hooks: new(agent.Hooks)}
	for _, h := range hooks {
		a.Hooks.Use(h)
	}
	for range 2 {
		if _, err := a.Do(t.Context(), loop.Request{Task: "go", Conversation: "c"}); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"", "", "small", "small"}; !slices.Equal(names, want) || len(clock.waits) != 1 {
		t.Errorf("asked %q, want %q; waited %v", names, want, clock.waits)
	}
}

func TestRouterPassesRequestsByName(t *testing.T) {
	large, small := looptest.NewScript(), plainModel{}
	for range 3 {
		large.Add(looptest.Reply("large"))
	}
	router := retry.Router{"": large, "small": small}
	for _, c := range []struct{ name, reply, model string }{
		{"small", "plain ", ""}, {"", "large", ""}, {"large-7", "large", "large-7"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := ""
			reply, err := router.Stream(t.Context(), agent.LLMRequest{Model: c.name}, func(d agent.Delta) { text += d.Content })
			if err != nil || reply.Content != c.reply || text != c.reply {
				t.Errorf("got %q, %v, streamed %q", reply.Content, err, text)
			}
			if last := large.Requests(); c.reply == "large" && last[len(last)-1].Model != c.model {
				t.Errorf("the model got the name %q", last[len(last)-1].Model)
			}
			if again, err := router.Generate(t.Context(), agent.LLMRequest{Model: "small"}); again.Content != "plain " {
				t.Errorf("got %+v, %v", again, err)
			}
		})
	}
	if router.ContextWindow() != 0 || (retry.Router{"": small}).ContextWindow() != 7 ||
		(retry.Router{"": small}).CountTokens(nil) != 3 || router.CountTokens([]agent.Message{{}}) != 4 {
		t.Error("the window or the counts are not those of the first model")
	}
	_, err := retry.Router{"a": small, "b": nil}.Generate(t.Context(), agent.LLMRequest{Model: "b"})
	if err == nil || !strings.Contains(err.Error(), `it has "a, b"`) {
		t.Errorf("got %v", err)
	}
}

// A said model replies without streaming.
type said struct {
	reply agent.LLMResponse
	err   error
}

func (s said) Generate(context.Context, agent.LLMRequest) (agent.LLMResponse, error) {
	return s.reply, s.err
}

func TestRouterStreamsReplies(t *testing.T) {
	for _, c := range []struct {
		name   string
		router retry.Router
		want   string // the deltas
		fails  bool
	}{
		{"a model that streams", retry.Router{"": new(cutStream)}, "[all ][done]", false},
		{"a text", retry.Router{"": said{agent.LLMResponse{Content: "a b"}, nil}}, "[a b]", false},
		{"only reasoning", retry.Router{"": said{agent.LLMResponse{Reasoning: "hm"}, nil}}, "[hm]", false},
		{"an empty reply", retry.Router{"": said{}}, "", false},
		{"a failure", retry.Router{"": said{agent.LLMResponse{Content: "half"}, errors.New("down")}}, "", true},
		{"no model", retry.Router{}, "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := ""
			_, err := c.router.Stream(t.Context(), agent.LLMRequest{}, func(d agent.Delta) {
				got += "[" + d.Content + d.Reasoning + "]"
			})
			if got != c.want || (err != nil) != c.fails {
				t.Errorf("streamed %q, %v, want %q", got, err, c.want)
			}
		})
	}
}

// A plainModel does not stream.
type plainModel struct{}

func (plainModel) Generate(_ context.Context, req agent.LLMRequest) (agent.LLMResponse, error) {
	return agent.LLMResponse{Content: "plain " + req.Model}, nil
}
func (plainModel) ContextWindow() int              { return 7 }
func (plainModel) CountTokens([]agent.Message) int { return 3 }

package guardrail_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/guardrail"
	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// homework rejects tasks about homework, and changes those about tests.
var homework = guardrail.ValidatorFunc(func(
	_ context.Context, _ agent.ToolCallRequest, text string,
) (string, string, error) {
	switch {
	case strings.Contains(text, "homework"):
		return "", "no homework", nil
	case strings.Contains(text, "broken"):
		return "", "", errors.New("no verdict")
	}
	return strings.ReplaceAll(text, "test", "exam"), "", nil
})

func TestTasksAreValidated(t *testing.T) {
	for _, c := range []struct {
		task      string
		beside    bool
		reply     string
		calls     int
		sent, err string
	}{
		{"write my homework", false, "I can't help with that.", 0, "", ""},
		{"write my homework", true, "I can't help with that.", 0, "", ""},
		{"write my test", false, "done", 1, "write my exam", ""},
		{"write my test", true, "done", 1, "write my test", ""},
		{"broken", false, "", 0, "", "no verdict"},
		{"broken", true, "", 0, "", "no verdict"},
	} {
		t.Run(fmt.Sprint(c.task, c.beside), func(t *testing.T) {
			tool := &looptest.Tool{Name: "work", Result: "x"}
			ran := looptest.Harness{
				Turns: []looptest.Turn{looptest.Call("work", nil), looptest.Reply("done")}, Tools: []agent.Tool{tool},
				Hooks: []agent.Hook{&guardrail.Input{Validators: []guardrail.Validator{homework}, Beside: c.beside}},
			}.Run(t, c.task)
			if ran.Reply != c.reply && c.err == "" || tool.Count() != c.calls || !strings.Contains(ran.Err, c.err) {
				t.Errorf("replied %q after %d calls, %q", ran.Reply, tool.Count(), ran.Err)
			}
			if c.sent != "" && ran.Script.Requests()[0].Messages[0].Content != c.sent {
				t.Errorf("the model read %+v", ran.Script.Requests()[0].Messages)
			}
		})
	}
}

func TestValidatorsBesideTheModelEndWithTheRun(t *testing.T) {
	ended := make(chan error, 1)
	waits := guardrail.ValidatorFunc(func(
		ctx context.Context, _ agent.ToolCallRequest, text string,
	) (string, string, error) {
		<-ctx.Done()
		ended <- context.Cause(ctx)
		return text, "", nil
	})
	ran := looptest.Harness{
		Turns: []looptest.Turn{looptest.Error(errors.New("down"))},
		Hooks: []agent.Hook{&guardrail.Input{Validators: []guardrail.Validator{waits}, Beside: true}},
	}.Run(t, "go")
	if err := <-ended; !errors.Is(err, context.Canceled) || ran.Err == "" {
		t.Errorf("the validator ended with %v, the run with %q", err, ran.Err)
	}
}

// streamed is a model that shows a piece of its reply, and then waits until the call is cancelled or may end.
type streamed struct {
	began     chan struct{} // closed when the model is called
	proceed   chan struct{}
	cancelled error
}

func (m *streamed) Generate(ctx context.Context, req agent.LLMRequest) (agent.LLMResponse, error) {
	return m.Stream(ctx, req, func(agent.Delta) {})
}

func (m *streamed) Stream(
	ctx context.Context, _ agent.LLMRequest, emit func(agent.Delta),
) (agent.LLMResponse, error) {
	close(m.began)
	emit(agent.Delta{Content: "secret"})
	select {
	case <-m.proceed:
		return agent.LLMResponse{Content: "secret"}, nil
	case <-ctx.Done():
		m.cancelled = ctx.Err()
		return agent.LLMResponse{}, ctx.Err()
	}
}

// TestRejectionCancelsTheCall: the validators reject the task while the model is answering. The call is cancelled, and
// nobody sees the pieces of the reply.
func TestRejectionCancelsTheCall(t *testing.T) {
	for _, task := range []string{"homework", "broken", "go"} {
		t.Run(task, func(t *testing.T) {
			m := &streamed{began: make(chan struct{}), proceed: make(chan struct{})}
			var shown strings.Builder
			validator := guardrail.ValidatorFunc(func(
				ctx context.Context, call agent.ToolCallRequest, text string,
			) (string, string, error) {
				<-m.began
				if text == "go" {
					defer close(m.proceed)
				}
				return homework(ctx, call, text)
			})
			result, err := (&loop.Agent{Model: m, Hooks: loop.Hooks(
				&guardrail.Input{Validators: []guardrail.Validator{validator}, Beside: true},
			)}).Do(t.Context(), loop.Request{Task: task, Events: func(e loop.Event) {
				if e.Chunk != nil {
					shown.WriteString(e.Chunk.Delta.Content)
				}
			}})
			want := map[string]string{"homework": "I can't help with that.", "broken": "", "go": "secret"}[task]
			if failed := err != nil && strings.Contains(err.Error(), "no verdict"); failed != (task == "broken") ||
				!failed && result.Reply != want {
				t.Errorf("replied %q, %v", result.Reply, err)
			}
			if (m.cancelled == nil) != (task == "go") || (shown.String() == "") != (task != "go") {
				t.Errorf("the call ended with %v, and %q was shown", m.cancelled, shown.String())
			}
		})
	}
}

func TestAJudgeDecidesOrFails(t *testing.T) {
	for _, c := range []struct{ reply, rejection, err string }{
		{`{"accept": true}`, "", ""},
		{"```json\n{\"accept\": false, \"reason\": \"off topic\"}\n```", "off topic", ""},
		{`{"accept": false}`, "it does not follow the policy", ""},
		{`{"reason": "x"}`, "", `it has no "accept"`},
		{"yes", "", "it is not one JSON object"},
	} {
		t.Run(c.reply, func(t *testing.T) {
			model := looptest.NewScript(looptest.Reply(c.reply))
			text, rejection, err := guardrail.Judge(model, "Only products.").
				Validate(t.Context(), agent.ToolCallRequest{}, "hello")
			if rejection != c.rejection || c.err == "" && err != nil ||
				c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Errorf("got %q, %q, %v", text, rejection, err)
			}
			if sent := model.Requests()[0].Messages; !strings.Contains(sent[0].Content, "Only products.") ||
				sent[1].Content != "hello" {
				t.Errorf("the judge read %+v", sent)
			}
		})
	}
	fixture.MustPanic(t, "needs a model and a policy", func() {
		new(agent.Hooks).Use(&guardrail.Reply{Validators: []guardrail.Validator{guardrail.Judge(nil, "x")}})
	})
}

func FuzzJudgement(f *testing.F) {
	for _, seed := range append([]string{
		`{"accept": true}`, `x {"accept": false, "reason": "r"} y`,
	}, fixture.HostileJSON...) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, reply string) {
		text, rejection, err := guardrail.Judge(looptest.NewScript(looptest.Reply(reply)), "p").
			Validate(t.Context(), agent.ToolCallRequest{}, "hello")
		if accepted := err == nil && rejection == ""; accepted != (text == "hello") ||
			accepted && !strings.Contains(reply, "true") {
			t.Errorf("%q: %q, %q, %v", reply, text, rejection, err)
		}
	})
}

func ExampleJudge() {
	small := looptest.NewScript(looptest.Reply(`{"accept": false, "reason": "not about our products"}`))
	a := &loop.Agent{Model: looptest.NewScript(), Hooks: loop.Hooks(&guardrail.Input{
		Validators: []guardrail.Validator{guardrail.Judge(small, "Accept only tasks about our products.")},
	})}
	result, _ := a.Run(context.Background(), "Write my homework.")
	fmt.Println(result.Reply)
	fmt.Println(result.Stop.Message)
	// Output:
	// I can't help with that.
	// task validation: not about our products
}

func TestBesideNeedsValidators(t *testing.T) {
	defer func() {
		if got := fmt.Sprint(recover()); !strings.Contains(got, "there are no Validators to run beside") {
			t.Errorf("panicked with %q", got)
		}
	}()
	new(agent.Hooks).Use(&guardrail.Input{Block: []string{"x"}, Beside: true})
}

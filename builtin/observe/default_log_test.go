package observe_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/observe"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop/looptest"
)

func TestObserversUseTheDefaultLog(t *testing.T) {
	for _, c := range []struct {
		name string
		hook agent.Hook
		want string
	}{
		{"CacheWatch", &observe.CacheWatch{}, `level=WARN msg="prompt cache broken" run=`},
		{"Cost", &observe.Cost{}, `level=DEBUG msg="model call" run=`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var log bytes.Buffer
			before := slog.Default()
			defer slog.SetDefault(before)
			slog.SetDefault(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})))
			models := agent.BeforeLLMFunc(func(
				_ context.Context, _ *agent.Run, req agent.LLMRequest,
			) (agent.BeforeLLMOutcome, error) {
				req.Model = string(rune('0' + req.Step))
				return agent.ReplaceBeforeLLM(req, "another model"), nil
			})
			looptest.Harness{
				Turns: []looptest.Turn{looptest.Call("a", nil), looptest.Reply("done")},
				Tools: []agent.Tool{&looptest.Tool{Name: "a"}}, Hooks: []agent.Hook{c.hook, models},
			}.Run(t, "go")
			if !strings.Contains(log.String(), c.want) {
				t.Errorf("the log lacks %s: %s", c.want, &log)
			}
		})
	}
}

func TestDebugLogPrintsToStandardError(t *testing.T) {
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	before := os.Stderr
	defer func() { os.Stderr = before }()
	os.Stderr = in
	var hooks agent.Hooks
	hooks.Use(&observe.DebugLog{})
	hooks.BeforeStep.Fire(t.Context(), agent.NewRun(nil), agent.Step{Number: 1})
	in.Close()
	if text, err := io.ReadAll(out); err != nil || !strings.HasPrefix(string(text), "[hook:BeforeStep] ") {
		t.Errorf("printed %q, %v", text, err)
	}
}

func TestDebugLogQuotesNamesOfOwners(t *testing.T) {
	for _, c := range []struct{ user, want string }{
		{"ann", " user=ann\n"}, {"ann run=9", ` user="ann run=9"` + "\n"}, {`a"b`, ` user="a\"b"` + "\n"},
		{"a=b", ` user="a=b"` + "\n"},
	} {
		t.Run(c.user, func(t *testing.T) {
			var out bytes.Buffer
			var hooks agent.Hooks
			hooks.Use(&observe.DebugLog{Writer: &out})
			hooks.BeforeStep.Fire(t.Context(), agent.NewRun(&agent.Env{User: c.user}), agent.Step{Number: 1})
			if !strings.HasSuffix(out.String(), c.want) {
				t.Errorf("printed %q, want %q at the end", &out, c.want)
			}
		})
	}
}

func TestDebugLogPrintsWhyAPayloadIsMissing(t *testing.T) {
	var out bytes.Buffer
	var hooks agent.Hooks
	hooks.Use(&observe.DebugLog{Writer: &out})
	nan := math.NaN()
	if _, err := hooks.BeforeLLM.Fire(t.Context(), agent.NewRun(nil), &agent.LLMRequest{Temperature: &nan}); err != nil {
		t.Fatal(err)
	}
	if want := "[hook:BeforeLLM] json: unsupported value: NaN run="; !strings.HasPrefix(out.String(), want) {
		t.Errorf("printed %q, want %q", &out, want)
	}
}

package window_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/window"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop/looptest"
)

func ExampleTruncateOutput() {
	var hooks agent.Hooks
	hooks.Use(&window.TruncateOutput{MaxChars: 60})
	result := agent.ToolCallResult{Output: strings.Repeat("all work and no play ", 100)}
	_, _ = hooks.AfterTool.Fire(context.Background(), agent.NewRun(nil), &result)
	fmt.Println(result.Output)
	// Output:
	// all work and no play al
	// [truncated: 2077 characters missing]
}

// after returns the result after AfterTool fired once with the hook.
func after(t *testing.T, h agent.Hook, result agent.ToolCallResult) agent.ToolCallResult {
	t.Helper()
	var hooks agent.Hooks
	hooks.Use(h)
	if _, err := hooks.AfterTool.Fire(t.Context(), agent.NewRun(nil), &result); err != nil {
		t.Fatal(err)
	}
	return result
}

func TestTruncateOutputStaysWithinLimit(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("abc ", 1000), strings.Repeat("日本語\n", 1000), strings.Repeat("\xff\xfe", 2000),
		"[" + strings.Repeat(`"x",`, 1000) + `"y"]`,
	} {
		t.Run(fmt.Sprintf("%.10q", text), func(t *testing.T) {
			for _, most := range []int{1, 5, 30, 36, 37, 38, 100, 101, 122, 999, 2000} {
				h := &window.TruncateOutput{MaxChars: limit.AtMost(most)}
				got := after(t, h, agent.ToolCallResult{Output: text, Err: text})
				for _, s := range []string{got.Output, got.Err} {
					if n := utf8.RuneCountInString(s); n > most {
						t.Errorf("%.10q cut to %d has %d characters", text, most, n)
					}
					if !utf8.ValidString(s) {
						t.Errorf("%.10q cut to %d splits a character: %q", text, most, s)
					}
				}
				if again := after(t, h, got); again.Output != got.Output || again.Err != got.Err {
					t.Errorf("%.10q cut to %d, cut again: %q", text, most, again.Output)
				}
			}
		})
	}
}

func TestTruncateOutputCountsMissingCharacters(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"at the limit", strings.Repeat("x", 100), strings.Repeat("x", 100)},
		{"one over", strings.Repeat("x", 101), strings.Repeat("x", 64) + "\n[truncated: 37 characters missing]"},
		{"JSON", `{"a":"` + strings.Repeat("x", 193) + `"}`,
			`{"a":"xxxxxxxxxxxxxxx` + "\n[truncated: 180 characters missing; this was JSON and is cut, read it as text]"},
		{"looks like JSON", "{" + strings.Repeat("x", 200),
			"{" + strings.Repeat("x", 63) + "\n[truncated: 137 characters missing]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := after(t, &window.TruncateOutput{MaxChars: 100},
				agent.ToolCallResult{Output: c.text}).Output; got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestTruncateOutputLimitsSingleTools(t *testing.T) {
	h := &window.TruncateOutput{PerTool: map[string]limit.Bound[int]{"short": 50, "whole": limit.None}}
	for tool, want := range map[string]int{"short": 50, "whole": 50_000, "other": 30_000} {
		got := after(t, h, agent.ToolCallResult{Call: agent.ToolCallRequest{Name: tool}, Output: strings.Repeat("x", 50_000)})
		if len(got.Output) != want {
			t.Errorf("%s: %d characters, want %d", tool, len(got.Output), want)
		}
	}
}

func TestTruncatedOutputReachesNextPrompt(t *testing.T) {
	ran := looptest.Harness{
		Turns: []looptest.Turn{looptest.Calls(looptest.Call("talks", nil), looptest.Call("fails", nil),
			looptest.Call("brief", nil)), looptest.Reply("ok")},
		Tools: []agent.Tool{
			&looptest.Tool{Name: "talks", Result: strings.Repeat("x", 9000)},
			&looptest.Tool{Name: "fails", Err: errors.New(strings.Repeat("y", 9000))},
			&looptest.Tool{Name: "brief", Result: "z"},
		},
		Hooks: []agent.Hook{&window.TruncateOutput{MaxChars: 2000}},
	}.Run(t, "x")
	last := ran.Script.Requests()[1].Messages[2:]
	if utf8.RuneCountInString(last[0].Content) != 2000 || utf8.RuneCountInString(last[1].Content) != 2000+len("error: ") ||
		last[2].Content != "z" {
		t.Errorf("the prompt holds %d, %d and %q", len(last[0].Content), len(last[1].Content), last[2].Content)
	}
	if !last[1].IsError || ran.Calls[1].OK() {
		t.Errorf("the failure is a success: %+v", ran.Calls[1])
	}
	ran.Recorder.Decided(t, "AfterTool", "window.TruncateOutput", "Replace", "truncated to 2000 characters")
	ran.Recorder.Decided(t, "AfterTool", "", "", "")
}

func TestInvalidTruncateOutputPanicsInBind(t *testing.T) {
	fixture.MustPanic(t, "TruncateOutput: MaxChars is -1", func() {
		new(agent.Hooks).Use(&window.TruncateOutput{MaxChars: -1})
	})
	fixture.MustPanic(t, `TruncateOutput: PerTool["t"] is 0`, func() {
		new(agent.Hooks).Use(&window.TruncateOutput{PerTool: map[string]limit.Bound[int]{"t": 0}})
	})
}

package systems

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/observe"
	"github.com/hookgen/hookgen/builtin/record"
	"github.com/hookgen/hookgen/builtin/repair"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

func TestTimingSamplesAndEchoSeesEveryPoint(t *testing.T) {
	timing, out := &record.Timing{}, new(bytes.Buffer)
	three := looptest.Calls(looptest.Call("work", nil), looptest.Call("work", nil), looptest.Call("work", nil))
	ran := looptest.Harness{
		Turns: all(three, looptest.Reply("ok")), Tools: all[agent.Tool](work()),
		Hooks: all[agent.Hook](timing, &observe.DebugLog{Writer: out}),
	}.Run(t, "x")
	var kinds []string
	for _, s := range timing.Samples() {
		kinds = append(kinds, s.Kind+s.Name)
	}
	if want := all("llm", "toolwork", "toolwork", "toolwork", "llm"); !slices.Equal(kinds, want) {
		t.Errorf("samples of %v, want %v", kinds, want)
	}
	if got, fired := strings.Count(out.String(), "\n"), len(ran.Recorder.Fires()); got != fired {
		t.Errorf("%d lines for %d fires", got, fired)
	}
	for _, f := range ran.Recorder.Fires() {
		contains(t, out.String(), "[hook:"+f.Point+"]")
	}
}

func TestLoopDetectorHintsAndThenEnds(t *testing.T) {
	tool := work()
	a := &loop.Agent{
		Tools: all[agent.Tool](tool), Hooks: loop.Hooks(&repair.LoopDetector{}),
		Model: looptest.NewScript(looptest.Call("work", `{"a":1,"b":2}`), looptest.Call("work", `{"a":2}`),
			looptest.Call("work", `{"b":2,"a":1.0}`), looptest.Call("work", `{"a":1,"b":2}`)).ForEachRun(),
	}
	for i := range 2 { // the second run starts with zero
		result, err := a.Run(t.Context(), "x")
		if err != nil || result.Reply != "Sorry, I couldn't complete that request." ||
			result.Stop.Message != "loop: work x3" {
			t.Errorf("run %d: %+v, %v", i, result, err)
		}
		contains(t, result.Calls[2].Err, "you already called work with exactly these arguments")
		if tool.Count() != 2*(i+1) {
			t.Errorf("run %d: the tool ran %d times", i, tool.Count())
		}
	}
}

type place struct {
	City string `json:"city"`
}

func TestSchemaRetryExplainsTheFirstBadCall(t *testing.T) {
	weather := func(name string) agent.Tool {
		return loop.Tool(name, "The weather.", func(context.Context, place) (string, error) { return "sun", nil })
	}
	bad := func(tool string) looptest.Turn { return looptest.Call(tool, `{"town":"Oslo"}`) }
	ran := looptest.Harness{
		Turns: all(bad("now"), bad("now"), bad("later"), looptest.Call("now", `{"city":"Oslo"}`), looptest.Reply("ok")),
		Tools: all(weather("now"), weather("later")), Hooks: all[agent.Hook](&repair.SchemaRetry{}),
	}.Run(t, "x")
	for i, explained := range all(true, false, true, false) {
		if c := ran.Calls[i]; strings.Contains(c.Output, "- city (string, required)") != explained || c.OK() != (i == 3) {
			t.Errorf("call %d: %+v", i, c)
		}
	}
	contains(t, requestText(t, ran, 1), "- city (string, required)", "arguments are wrong")
}

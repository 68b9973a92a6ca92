package session

import (
	"context"
	"encoding/json"
	"errors"
	"maps"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/toolname"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// Results captures the results of tools, so that a program reads them after the run without a search in the messages.
//
// For example, the tool book_flight returns a booking. With Persist, the booking is saved with the conversation:
//
//	bookings := &session.Results{Tools: []string{"book_flight"}}
//	hooks.Use(bookings)
//	hooks.Use(&session.Persist{Store: sessions, State: bookings.State})
//
// Afterwards, State["book_flight"] of the loaded Session is the booking. Other hooks of the run call [Results.State].
//
// The last successful result of each tool counts. An output that is JSON is captured as JSON, and any other as text.
// Outputs over MaxBytes are not captured, and the result before is dropped, because it is no longer the last one. The
// results of at most 100 tools are captured.
//
// Results observes AfterTool. It keeps the results for each run and is safe for concurrent use. Bind panics if Tools is
// empty or MaxBytes is negative.
type Results struct {
	Tools    []string         // names of tools; "*" matches any text in a name. Required
	MaxBytes limit.Bound[int] // bytes of an output; default 65,536

	runs hookkit.PerRun[map[string]string] // outputs by tool
}

// maxTools bounds the tools whose results are captured in a run.
const maxTools = 100

// Bind adds the hook to AfterTool.
func (r *Results) Bind(h *agent.Hooks) {
	err := errors.Join(r.MaxBytes.Check("MaxBytes"), toolname.Check("Tools", r.Tools))
	if len(r.Tools) == 0 {
		err = errors.New(`Tools is empty, so nothing would be captured; name the tools, "*" for all`)
	}
	kit.MustConfig("session.Results", err)
	kit.WatchTools("session.Results", kit.ToolNames("Tools", r.Tools)...).Only().ObserveAfterTool(h, r)
}

// ObserveAfterTool captures a result.
func (r *Results) ObserveAfterTool(
	_ context.Context, run *agent.Run, fired agent.AfterToolFired[agent.ToolCallResult],
) {
	result := kit.AfterHooks(fired.Payload, fired.Final)
	tool := result.Call.Name
	if fired.Err != nil || !result.OK() || result.Status == agent.CallHandedOff || !toolname.Match(r.Tools, tool) {
		return
	}
	r.runs.Do(run, func(captured *map[string]string) {
		if *captured == nil {
			*captured = make(map[string]string)
		}
		_, known := (*captured)[tool]
		switch {
		case len(result.Output) > r.MaxBytes.Or(64<<10):
			delete(*captured, tool)
		case known || len(*captured) < maxTools:
			(*captured)[tool] = result.Output
		}
	})
}

// State returns the results of a run, by the name of the tool. A value is a json.RawMessage or a string. The caller
// owns the map. Use it as Persist.State.
func (r *Results) State(run *agent.Run) map[string]any {
	var captured map[string]string
	r.runs.Do(run, func(all *map[string]string) { captured = maps.Clone(*all) })
	state := make(map[string]any, len(captured))
	for tool, output := range captured {
		if state[tool] = output; json.Valid([]byte(output)) {
			state[tool] = json.RawMessage(output)
		}
	}
	return state
}

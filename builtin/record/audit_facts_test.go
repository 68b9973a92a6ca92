package record

import (
	"testing"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
)

func TestEveryPayloadHasItsFacts(t *testing.T) {
	call := agent.ToolCallRequest{ID: "c1", Name: "pay", Args: []byte(`{"n":1}`), Step: 3}
	for _, c := range []struct {
		name    string
		payload any
		step    int
		success string // "", "true" or "false"
		data    string
	}{
		{"Call", call, 3, "", ``},
		{"Failure", agent.ToolFailure{Call: call, Err: "no", Kind: agent.FailTool, WillRetry: true, Elapsed: time.Second},
			3, "false", `{"kind":"tool","will_retry":true}`},
		{"Denial", agent.Denial{Call: call, Kind: agent.DeniedByVote}, 3, "false", `{"kind":"vote"}`},
		{"Response", agent.LLMResponse{Step: 2, Model: "m", FinishReason: "stop",
			ToolCalls: []agent.ToolCallRequest{call}, Usage: agent.Usage{Input: 1, Output: 2, Cost: 0.5}}, 2, "",
			`{"finish_reason":"stop","model":"m","tool_calls":[{"id":"c1","name":"pay"}],` +
				`"usage":{"cost":0.5,"input_tokens":1,"output_tokens":2}}`},
		{"Compaction", agent.Compaction{Step: 4, Reason: agent.CompactRequested, Detail: "d", By: "b", Tokens: 9}, 4, "",
			`{"by":"b","cause":"requested","detail":"d","tokens":9}`},
		{"ContextUse", agent.ContextUse{Step: 5, Tokens: 7, Window: 8}, 5, "", `{"tokens":7,"window":8}`},
		{"Step", agent.StepResult{Step: agent.Step{Number: 6}, Results: make([]agent.ToolCallResult, 2)}, 6, "true",
			`{"tool_calls":2}`},
		{"FailedStep", agent.StepResult{Step: agent.Step{Number: 6}, Err: "no", Suspended: true}, 6, "false",
			`{"suspended":true}`},
		{"DoneRequest", agent.DoneRequest{Answer: "a", Rejections: 2, Call: &call}, 3, "", `{"rejections":2}`},
		{"DoneAccepted", agent.DoneAccepted{Answer: "a", Call: &call}, 3, "", ``},
		{"WithoutACall", agent.DoneAccepted{Answer: "a"}, 0, "", ``},
		{"Stopping", agent.Stopping{Signals: []agent.EndRun{{Cause: agent.CauseError}, {Cause: agent.CauseError, Message: "m",
			By: "h"}}}, 0, "", `{"signals":[{"cause":"error"},{"by":"h","cause":"error","message":"m"}]}`},
		{"RunError", agent.RunError{Where: "LLM", Err: "no"}, 0, "false", `{"where":"LLM"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := new(Audit).facts(c.payload)
			success := ""
			if f.Success != nil {
				success = map[bool]string{true: "true", false: "false"}[*f.Success]
			}
			if f.step != c.step || success != c.success || string(f.Data) != c.data {
				t.Errorf("step %d, success %q, data %s;\nwant %d, %q, %s", f.step, success, f.Data, c.step, c.success, c.data)
			}
			if isCall := c.step == 3; isCall != (f.Tool == "pay" && f.CallID == "c1" && string(f.Args) == `{"n":1}`) {
				t.Errorf("the call is %q %q %s", f.Tool, f.CallID, f.Args)
			}
		})
	}
}

package record

import (
	"encoding/json"
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
		{"Stopping", agent.Stopping{Signals: []agent.EndRun{{Cause: agent.CauseError}, {Cause: agent.CauseError,
			Message: "m",
			By:      "h"}}}, 0, "", `{"signals":[{"cause":"error"},{"by":"h","cause":"error","message":"m"}]}`},
		{"Result", agent.ToolCallResult{Call: call, Kind: agent.FailTool, NoRetry: true, Elapsed: time.Second, Err: "no",
			Context: []string{"c"}}, 3, "false", `{"context":["c"],"kind":"tool","no_retry":true}`},
		{"GoodResult", agent.ToolCallResult{Call: call, Output: "o", Status: agent.CallSucceeded}, 3, "true", ``},
		{"Progress", agent.ToolProgress{Call: call, Stage: "s", Data: []byte(`{"d":1}`)}, 3, "",
			`{"progress":{"d":1},"stage":"s"}`},
		{"Disabled", agent.ToolsDisabled{Call: call}, 3, "false", ``},
		{"Question", agent.Question{Call: call, ID: "q", Prompt: "sure?"}, 3, "", `{"prompt":"sure?","question":"q"}`},
		{"Grant", agent.Grant{Call: call, AnsweredBy: "ann", Question: agent.Question{ID: "q", By: "h"},
			Remember: []byte(`{"r":1}`)}, 3, "true",
			`{"answered_by":"ann","asked_by":"h","question":"q","remember":{"r":1}}`},
		{"Handoff", agent.Handoff{Call: call, From: "a", To: "b", Task: "t"}, 3, "", `{"from":"a","task":"t","to":"b"}`},
		{"Request", agent.LLMRequest{Step: 2, Model: "m", Messages: make([]agent.Message, 2),
			Tools: make([]agent.ToolSchema, 3), MaxTokens: 9}, 2, "",
			`{"max_tokens":9,"messages":2,"model":"m","tools":3}`},
		{"Compacted", agent.Compacted{Step: 4, Reason: agent.CompactRequested, Before: agent.Size{Messages: 9},
			After: agent.Size{Messages: 5}, Summary: "s",
			Messages: make([]agent.Message, 2), ModelCalls: 1}, 4, "",
			`{"after":{"messages":5,"tokens":0},"before":{"messages":9,"tokens":0},` +
				`"cause":"requested","messages":2,"model_calls":1,"summary":"s"}`},
		{"RunStart", agent.RunStart{Task: "t", Messages: make([]agent.Message, 2), Resumed: "r1"}, 0, "",
			`{"messages":2,"resumed":"r1","task":"t"}`},
		{"RunEnd", agent.AgentResult{Steps: 2, ModelCalls: 4, Calls: make([]agent.ToolCallResult, 5), HandedOffTo: "b",
			Warnings: []string{"w"}, Stop: agent.EndRun{Cause: agent.CauseCompleted}}, 0, "true",
			`{"handed_off_to":"b","model_calls":4,"steps":2,"stop":{"cause":"completed"},"tool_calls":5,"warnings":["w"]}`},
		{"ForcedRunEnd", agent.AgentResult{Stop: agent.EndRun{Cause: agent.CauseTimeLimit}}, 0, "false",
			`{"stop":{"cause":"time_limit"}}`},
		{"FailedRunEnd", agent.AgentResult{Err: "no", Stop: agent.EndRun{Cause: agent.CauseCompleted},
			Suspended: &agent.Suspension{ID: "s"}}, 0, "false", `{"stop":{"cause":"completed"},"suspended":"s"}`},
		{"BeginStep", agent.Step{Number: 6, Max: 9, Usage: agent.Usage{Input: 1, Output: 2}, Done: true}, 6, "",
			`{"done":true,"max":9,"tokens":3}`},
		{"Budget", agent.BudgetExceeded{Kind: agent.BudgetSteps, Used: 2, Limit: 1, Estimated: true, Detail: "d", By: "h",
			Call: &call}, 3, "", `{"by":"h","detail":"d","estimated":true,"kind":"steps","limit":1,"used":2}`},
		{"Subagent", agent.Subagent{ID: "i", Name: "n", Task: "t", Handoff: true}, 0, "",
			`{"handoff":true,"id":"i","name":"n","task":"t"}`},
		{"SubagentDone", agent.SubagentDone{ID: "i", Name: "n", Steps: 2, ModelCalls: 3,
			Result: agent.AgentResult{Stop: agent.EndRun{Cause: agent.CauseCompleted}}}, 0, "true",
			`{"id":"i","model_calls":3,"name":"n","steps":2}`},
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

func TestEveryPayloadHasItsTexts(t *testing.T) {
	const second = time.Second
	for _, c := range []struct {
		name                        string
		payload                     any
		result, err, decidedBy, why string
		timed                       bool
	}{
		{"Result", agent.ToolCallResult{Output: "o", Err: "e", By: "b", Reason: "w", Elapsed: second}, "o", "e", "b", "w",
			true},
		{"Failure", agent.ToolFailure{Err: "e", Elapsed: second}, "", "e", "", "", true},
		{"Question", agent.Question{By: "b", Reason: "w"}, "", "", "b", "w", false},
		{"Grant", agent.Grant{By: "b", Reason: "w"}, "", "", "b", "w", false},
		{"Denial", agent.Denial{By: "b", Reason: "w"}, "", "", "b", "w", false},
		{"Response", agent.LLMResponse{Content: "o", Elapsed: second}, "o", "", "", "", true},
		{"Compacted", agent.Compacted{Err: "e"}, "", "e", "", "", false},
		{"RunEnd", agent.AgentResult{Reply: "o", Err: "e", EndedBy: "b", Elapsed: second}, "o", "e", "b", "", true},
		{"RunError", agent.RunError{Err: "e"}, "", "e", "", "", false},
		{"Step", agent.StepResult{Err: "e"}, "", "e", "", "", false},
		{"DoneRequest", agent.DoneRequest{Answer: "o"}, "o", "", "", "", false},
		{"DoneAccepted", agent.DoneAccepted{Answer: "o"}, "o", "", "", "", false},
		{"SubagentDone", agent.SubagentDone{Result: agent.AgentResult{Err: "e"}}, "", "e", "", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := new(Audit).facts(c.payload)
			if f.Result != c.result || f.Err != c.err || f.DecidedBy != c.decidedBy || f.Why != c.why {
				t.Errorf("got %+v", f.AuditFacts)
			}
			if f.timed != c.timed || c.timed && f.took != second {
				t.Errorf("the duration is %v, %t", f.took, f.timed)
			}
		})
	}
}

func TestUsageHasOnlyItsNumbers(t *testing.T) {
	for _, c := range []struct {
		name  string
		usage agent.Usage
		want  string
	}{
		{"nothing", agent.Usage{}, "null"},
		{"tokens", agent.Usage{Input: 1, Output: 2}, `{"input_tokens":1,"output_tokens":2}`},
		{"read", agent.Usage{CacheRead: 3},
			`{"cache_read_tokens":3,"cache_write_tokens":0,"input_tokens":0,"output_tokens":0}`},
		{"written", agent.Usage{CacheWrite: 4},
			`{"cache_read_tokens":0,"cache_write_tokens":4,"input_tokens":0,"output_tokens":0}`},
		{"cost", agent.Usage{Cost: 0.5}, `{"cost":0.5,"input_tokens":0,"output_tokens":0}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, err := json.Marshal(usageFacts(c.usage)); string(got) != c.want || err != nil {
				t.Errorf("got %s, %v", got, err)
			}
		})
	}
}

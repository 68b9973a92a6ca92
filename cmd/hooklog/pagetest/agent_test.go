package pagetest

import (
	"encoding/json"
	"time"

	"github.com/hookgen/hookgen/hookkit/hooklog"
	"github.com/hookgen/hookgen/hookkit/wire"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// A story is the record of an agent, as a program writes it.
type story struct {
	events []hooklog.Event
	at     time.Time
	run    wire.RunInfo
}

// fire adds a fire, after which so much time passes.
func (s *story) fire(point string, payload any, passes time.Duration, changes ...eventChange) {
	e := hooklog.Event{
		Protocol: wire.Protocol, Seq: int64(len(s.events) + 1), Time: s.at, Run: s.run, Point: point,
		Spec:    "github.com/hookgen/hookgen/spec/agentspec",
		Payload: encode(payload), Decision: wire.Continue, Elapsed: 40 * time.Microsecond,
	}
	for _, change := range changes {
		change(&e)
	}
	s.events = append(s.events, e)
	s.at = s.at.Add(e.Elapsed + passes)
}

func encode(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}

// begin begins a run with a task.
func (s *story) begin(id, parent, tenant, task string) {
	s.run = wire.RunInfo{ID: id, Parent: parent, Root: id, Labels: map[string]string{"tenant": tenant, "user": "ann"}}
	s.fire("OnRunStart", agentspec.RunStart{Task: task, Agent: "keeper"}, time.Millisecond)
}

// reply adds a reply of a model, which took a while, and its prompt.
func (s *story) reply(took time.Duration, text string, calls ...agentspec.ToolCallRequest) {
	s.fire("BeforeLLM", agentspec.LLMRequest{Step: 1, Messages: []agentspec.Message{
		{Role: agentspec.RoleSystem, Content: "You keep a build server tidy. Ask before you remove anything."},
	}}, took)
	s.fire("AfterLLM", agentspec.LLMResponse{
		Step: 1, Content: text, ToolCalls: calls, Model: "large-3", Elapsed: took, Reasoning: "The disk may be full.",
		Usage: agentspec.Usage{Input: 1200, Output: 80},
	}, time.Millisecond)
}

func call(id, name, args string) agentspec.ToolCallRequest {
	return agentspec.ToolCallRequest{ID: id, Name: name, Args: json.RawMessage(args)}
}

// tool adds the dispatch of a call, and its result.
func (s *story) tool(c agentspec.ToolCallRequest, took time.Duration, output, failure string, changes ...eventChange) {
	s.fire("BeforeTool", c, time.Millisecond)
	s.fire("OnPermission", c, took)
	s.fire("AfterTool", agentspec.ToolCallResult{Call: c, Output: output, Err: failure, Elapsed: took, Attempts: 1},
		time.Millisecond, changes...)
}

// end ends the run.
func (s *story) end(cause agentspec.Cause, cost float64, reply string) {
	s.fire("OnRunEnd", agentspec.AgentResult{
		Agent: "keeper", Reply: reply, Stop: agentspec.EndRun{Cause: cause},
		Usage: agentspec.Usage{Input: 3400, Output: 210, Cost: cost},
	}, 20*time.Second)
}

// agentStory has four runs of an agent. In the last one, a person is asked, a call is denied, a hook removes a token
// from a result, another hook is slow, and another run is started.
func agentStory() []hooklog.Event {
	s := &story{at: time.Date(2026, 11, 20, 9, 30, 0, 0, time.UTC)}
	s.begin("5c1e", "", "acme", "How many packages were built?")
	s.reply(900*time.Millisecond, "", call("c1", "shell", `{"command":"ls out | wc -l"}`))
	s.tool(call("c1", "shell", `{"command":"ls out | wc -l"}`), 120*time.Millisecond, "214", "")
	s.reply(700*time.Millisecond, "214 packages were built.")
	s.end(agentspec.CauseCompleted, 0.011, "214 packages were built.")

	s.begin("77ab", "", "corp", "Find the slowest test of the week")
	s.reply(1100*time.Millisecond, "", call("c1", "query", `{"sql":"select *"}`))
	s.tool(call("c1", "query", `{"sql":"select *"}`), 400*time.Millisecond, "", "no such table")
	s.end(agentspec.CauseError, 0.004, "")

	s.begin("9d02", "", "corp", "Summarize the logs of all builders")
	for range 3 {
		s.reply(800*time.Millisecond, "I read the next file.", call("c1", "read", `{"path":"builder.log"}`))
		s.tool(call("c1", "read", `{"path":"builder.log"}`), 90*time.Millisecond, "ok\nok\nok", "")
	}
	s.end(agentspec.CauseStepsLimit, 0.052, "")

	s.begin("e07a9d35", "", "acme", "Free space on the build server, at least 20 GB")
	s.reply(1300*time.Millisecond, "I look at the caches first.", call("c1", "shell", `{"command":"du -s /var/cache/*"}`))
	s.tool(call("c1", "shell", `{"command":"du -s /var/cache/*"}`), 650*time.Millisecond,
		"21G /var/cache/build\n2G /var/cache/apt\ntoken hunter2", "", func(e *hooklog.Event) {
			e.Decision, e.By, e.Site, e.Reason = wire.Replace, "redact.Results", "main.go:31", "a secret in the output"
			e.Final = encode(agentspec.ToolCallResult{
				Call:   call("c1", "shell", `{"command":"du -s /var/cache/*"}`),
				Output: "21G /var/cache/build\n2G /var/cache/apt\ntoken [REDACTED:token]", Elapsed: 650 * time.Millisecond,
				Attempts: 1,
			})
		})
	whole := s.run
	s.begin("e07a9d35-1", whole.ID, "acme", "List what nobody has used for a week")
	s.reply(900*time.Millisecond, "", call("c1", "read", `{"path":"usage.txt"}`))
	s.tool(call("c1", "read", `{"path":"usage.txt"}`), 200*time.Millisecond, "/var/cache/build", "")
	s.reply(600*time.Millisecond, "/var/cache/build has not been used.")
	s.end(agentspec.CauseCompleted, 0.006, "/var/cache/build has not been used.")
	s.at = s.at.Add(-19 * time.Second)
	s.run = whole
	remove := call("c2", "shell", `{"command":"rm -r /var/cache/build"}`)
	force := call("c3", "shell", `{"command":"git push --force"}`)
	s.fire("BeforeLLM", agentspec.LLMRequest{Step: 2}, 0, func(e *hooklog.Event) { e.Elapsed = 230 * time.Millisecond })
	s.reply(1500*time.Millisecond, "The cache can be removed.", remove, force)
	s.fire("BeforeTool", remove, time.Millisecond)
	s.fire("BeforeTool", force, time.Millisecond)
	s.fire("OnPermission", remove, 0, func(e *hooklog.Event) {
		e.Decision, e.By, e.Site, e.Reason = "Ask", "permission.Rules", "main.go:27", "it removes files"
		e.Value = json.RawMessage(`{"Prompt":"","Reason":"it removes files"}`)
	})
	s.fire("BeforeAsk", agentspec.Question{Call: remove, Reason: "it removes files"}, 6*time.Second)
	s.fire("OnPermissionGranted", agentspec.Grant{Call: remove, AnsweredBy: "ann"}, 0)
	s.fire("OnPermission", force, 0, func(e *hooklog.Event) {
		e.Decision, e.By, e.Site, e.Reason = "Deny", "shell.Guard", "main.go:28", "git push --force is never allowed"
		e.Value = json.RawMessage(`{"Reason":"git push --force is never allowed"}`)
		e.Ballots = []hooklog.Ballot{
			{By: "permission.Rules", Site: "main.go:27", Decision: "Ask", Reason: "it changes a remote"},
		}
	})
	denial := agentspec.Denial{Call: force, Reason: "git push --force is never allowed", By: "shell.Guard"}
	s.fire("OnPermissionDenied", denial, 2*time.Second)
	s.fire("AfterTool", agentspec.ToolCallResult{Call: remove, Output: "gone", Elapsed: 2 * time.Second, Attempts: 1}, 0)
	s.fire("AfterTool", agentspec.ToolCallResult{Call: force, Err: "denied: git push --force is never allowed"}, 0)
	s.reply(1200*time.Millisecond, "21 GB are free now. I did not push, because that is not allowed.")
	s.end(agentspec.CauseCompleted, 0.034, "21 GB are free now.")
	return s.events
}

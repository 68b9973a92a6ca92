package main

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// script returns a model that gives the same replies to any request.
func script() agent.Model {
	log := map[string]string{"path": "build.log"}
	call := func(id, tool string, args map[string]string) looptest.Turn { return looptest.Call(tool, args).ID(id) }
	return turns{
		looptest.Calls(
			call("call_1_1", "read_file", log),
			call("call_1_2", "read_file", map[string]string{"path": "cache.log"}),
		),
		call("call_2_1", "run_command", map[string]string{"command": "rm -rf /var/cache/build"}),
		call("call_3_1", "read_file", log), // again, with nothing new to learn
		call("call_4_1", "run_command", map[string]string{"command": "build -cache rebuild"}),
		looptest.Reply("The cache was full, so every package was built anew. I rebuilt it; give it more room."),
		looptest.Reply("I cannot do more than that."), // if a hook rejects the first answer, or there is another task
	}
}

// turns is a model. Its reply depends on the number of replies in the conversation, so that another process can
// continue a run.
type turns []looptest.Turn

// Generate returns the next turn, or the last one.
func (t turns) Generate(_ context.Context, req agent.LLMRequest) (agent.LLMResponse, error) {
	given := 0
	for _, m := range req.Messages {
		if m.Role == agent.RoleAssistant {
			given++
		}
	}
	return t[min(given, len(t)-1)].Response(), nil
}

// tools returns the tools of the agent.
func tools() []agent.Tool {
	files := map[string]string{
		"build.log": "412 packages built, 3 from the cache",
		"cache.log": "cache: no space left, evicting all",
	}
	type path struct {
		Path string `json:"path" jsonschema:"the file to read"`
	}
	type command struct {
		Command string `json:"command" jsonschema:"the command and its arguments"`
	}
	return []agent.Tool{
		loop.ReadOnly(loop.Tool("read_file", "Reads a file.", func(_ context.Context, p path) (string, error) {
			text, ok := files[p.Path]
			if !ok {
				return "", errors.New("no such file")
			}
			return text, nil
		})),
		loop.Tool("run_command", "Runs a command.", func(_ context.Context, c command) (string, error) {
			return "ok: " + c.Command, nil // nothing is executed
		}),
	}
}

// denyRemoval is a vote against commands that remove files.
func denyRemoval(_ context.Context, _ *agent.Run, call agent.ToolCallRequest) (agent.OnPermissionOutcome, error) {
	var command struct{ Command string }
	if call.Name != "run_command" {
		return nil, nil
	}
	if err := json.Unmarshal(call.Args, &command); err != nil {
		return nil, err // the point fails closed: a call that cannot be checked is denied
	}
	if slices.Contains(strings.Fields(command.Command), "rm") {
		return agent.Deny{Reason: "removing files is not allowed; rebuild the cache instead"}, nil
	}
	return nil, nil
}

// beBrief puts a text into every prompt.
func beBrief(context.Context, *agent.Run, agent.Step) ([]string, error) {
	return []string{"Answer in two sentences."}, nil
}

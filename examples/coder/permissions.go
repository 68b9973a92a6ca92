package main

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/hookgen/hookgen/builtin/permission"
	"github.com/hookgen/hookgen/builtin/shell"
	"github.com/hookgen/hookgen/generated/agent"
)

// protect adds the hooks that decide about calls. Files can be read, except those that usually have keys. Everything
// else is asked, unless it destroys data or changes the repository's own files, which is denied.
func protect(hooks *agent.Hooks, dir string) {
	// A name is matched in the workspace and in each folder below it.
	paths := func(names ...string) permission.Paths {
		var globs []string
		for _, name := range names {
			globs = append(globs, name, name+"/**", "*/**/"+name, "*/**/"+name+"/**")
		}
		return permission.PathGlobUnder(dir, "path", globs...).FollowLinks()
	}
	const ofGit = "the files of git are not edited; use git itself"
	hooks.Use(&permission.Rules{
		List: []permission.Rule{
			{Tool: "edit", Decision: permission.Deny, Args: paths(".git"), Reason: ofGit},
			{Tool: "write", Decision: permission.Deny, Args: paths(".git"), Reason: ofGit},
			{Tool: "read", Decision: permission.Ask, Args: paths(".*", "*.pem", "*.key")},
			{Tool: "search", Decision: permission.Ask, Args: paths(".*", "*.pem", "*.key")},
			{Tool: "read", Decision: permission.Allow},
			{Tool: "list", Decision: permission.Allow},
			{Tool: "search", Decision: permission.Allow},
			{Tool: "shell", Decision: permission.Allow, Args: shell.CommandGlob("command", "pwd", "ls")},
		},
		Default: permission.Ask,
	})
	rules := shell.WorkspaceRules(dir)
	for i := range rules {
		rules[i].Ask = false // denied, although a person could decide
	}
	hooks.Use(&shell.Guard{Rules: rules})
}

// An approver asks the user in the terminal. The answer "always" is a rule that permission.Rules remembers until the
// program ends.
type approver struct {
	terminal *terminal
	space    *workspace
}

// Approve shows the call, as the difference that it makes if it edits, and reads the answer. Everything but y and a
// denies, and a reason can be typed instead of n.
func (a *approver) Approve(ctx context.Context, q agent.Question) (agent.Approval, error) {
	rule, thing := always(q.Call)
	a.terminal.asks(q.Call.ID)
	a.terminal.printf("\n%s\n%s", clean(title(q.Call)), clean(a.space.preview(q.Call)))
	choices := "y/N"
	if rule != nil {
		choices = "y/N/a: always for this " + thing
	}
	a.terminal.printf("Allow? [%s] ", choices)
	line, err := a.terminal.read(ctx)
	if err != nil {
		return agent.Approval{}, err
	}
	switch {
	case line == "y":
		return agent.Approval{Allow: true}, nil
	case line == "a" && rule != nil:
		return agent.Approval{Allow: true, Remember: rule}, nil
	case line == "" || line == "n":
		return agent.Approval{Reason: "the user declined"}, nil
	}
	return agent.Approval{Reason: "the user declined and said: " + line}, nil
}

// always returns a rule that allows later calls of the same command, or changes of the same file by the same tool.
func always(call agent.ToolCallRequest) (rule json.RawMessage, thing string) {
	var args struct{ Path, Command string }
	if json.Unmarshal(call.Args, &args) != nil {
		return nil, ""
	}
	var condition string
	switch call.Name {
	case "shell":
		condition, thing = "args.command == "+strconv.Quote(args.Command), "command"
	case "edit", "write", "read":
		condition, thing = "args.path == "+strconv.Quote(args.Path), "file"
	default:
		return nil, ""
	}
	rule, err := json.Marshal([]map[string]string{{"tool": call.Name, "decision": "allow", "when": condition}})
	if err != nil {
		return nil, ""
	}
	return rule, thing
}

// preview returns the difference that a call would make now: the calls before it in the same reply have returned.
func (w *workspace) preview(call agent.ToolCallRequest) string {
	switch call.Name {
	case "edit":
		var args editArgs
		if json.Unmarshal(call.Args, &args) == nil {
			if before, after, err := w.edited(args); err == nil {
				return diff(w.local(args.Path), before, after)
			}
		}
	case "write":
		var args writeArgs
		if json.Unmarshal(call.Args, &args) == nil {
			before, _ := w.text(args.Path) // a new file has no text
			return diff(w.local(args.Path), before, args.Content)
		}
	}
	return ""
}

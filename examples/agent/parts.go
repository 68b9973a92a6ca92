package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/hookgen/hookgen/builtin/declared"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/memory"
	"github.com/hookgen/hookgen/builtin/permission"
	"github.com/hookgen/hookgen/builtin/record"
	"github.com/hookgen/hookgen/builtin/retry"
	"github.com/hookgen/hookgen/builtin/session"
	"github.com/hookgen/hookgen/builtin/shell"
	"github.com/hookgen/hookgen/contrib/mcp"
	"github.com/hookgen/hookgen/contrib/sqlite"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/anthropic"
	"github.com/hookgen/hookgen/loop/openai"
)

// useModel replaces the script by the model that -model names.
func useModel(a *loop.Agent, model string) error {
	provider, rest, _ := strings.Cut(model, ":")
	url, name, found := cutLast(rest, "#")
	switch {
	case provider == "openai" && found && name != "":
		a.Model = &openai.Model{URL: url, Name: name, Key: func() string { return os.Getenv("OPENAI_API_KEY") }}
	case provider == "anthropic" && rest != "":
		a.Model = &anthropic.Model{Name: rest, Key: func() string { return os.Getenv("ANTHROPIC_API_KEY") }}
	default:
		return fmt.Errorf("-model %q: want openai:URL#name or anthropic:name; with openai:#name the URL is that of OpenAI",
			model)
	}
	a.Hooks.Use(&retry.Model{})
	return nil
}

func cutLast(s, separator string) (before, after string, found bool) {
	i := strings.LastIndex(s, separator)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(separator):], true
}

// useServers replaces the tools by those of MCP servers. The caller must call end.
func useServers(ctx context.Context, a *loop.Agent, commands []string, out io.Writer) (end func(), err error) {
	var servers []*mcp.Server
	end = func() {
		for _, s := range servers {
			if err := s.Close(); err != nil {
				fmt.Fprintln(out, "mcp:", err)
			}
		}
	}
	a.Tools = nil
	for i, command := range commands {
		name := "mcp"
		if i > 0 {
			name = fmt.Sprintf("mcp%d", i+1)
		}
		// Calls of read-only tools are not confirmed. That a tool is read-only is a claim of the server, which is good
		// enough for a server that the user has named on the command line.
		s, err := mcp.Connect(ctx, name, mcp.Command{Args: strings.Fields(command), Stderr: os.Stderr},
			mcp.Options{TrustHints: true})
		if err != nil {
			return end, err
		}
		servers = append(servers, s)
		for _, warning := range s.Warnings() {
			fmt.Fprintln(out, "mcp:", warning)
		}
		a.Tools = append(a.Tools, s.Tools()...)
		a.Hooks.Use(s.Updates())
	}
	a.Hooks.OnPermission.AddFunc(confirmChanges, hookkit.Named("confirmChanges"), hookkit.Priority(hookkit.Safety))
	return end, nil
}

// confirmChanges asks about the calls of tools that may change something.
func confirmChanges(_ context.Context, run *agent.Run, call agent.ToolCallRequest) (agent.OnPermissionOutcome, error) {
	if tool, _ := run.Env.Tools.Lookup(call.Name); !tool.ReadOnly {
		return agent.Ask{Reason: call.Name + " may change something"}, nil
	}
	return nil, nil
}

// useStore keeps everything in the database that the agent should know in its next run.
func useStore(a *loop.Agent, db *sqlite.DB, resume bool) {
	memories := &memory.Facts{In: sqlite.Store{DB: db}}
	a.Tools = append(a.Tools, memory.Tools(memories)...)
	a.Hooks.Use(&session.Persist{Store: sqlite.Sessions{DB: db}})
	a.Hooks.Use(&session.Checkpoint{Store: sqlite.Store{DB: db}, Every: 1, Resume: resume})
	a.Hooks.Use(&memory.Injector{Store: memories})
	a.Hooks.Use(&record.Episodes{Store: memories})
	a.Hooks.Use(&record.Audit{Store: sqlite.AuditLog{DB: db}})
}

// useDeclaredHooks adds the hooks of a file. It can use some ready-made hooks by name.
func useDeclaredHooks(hooks *agent.Hooks, path string) error {
	file := &declared.File{
		Path: path,
		Ready: []declared.Ready{
			declared.Of[limit.Steps](), declared.Of[limit.Tokens](), declared.Of[limit.Tools](),
			declared.Of[permission.DenyTools](), declared.Of[shell.Guard](),
		},
	}
	return file.Load(hooks)
}

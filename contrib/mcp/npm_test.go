package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/contrib/mcp"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// installed returns the directory of the servers of testdata/package.json, which it installs. That takes a minute and
// the network, so the test is skipped unless MCP_NPM is set. If it is the path of a directory, the servers are
// installed there and stay.
func installed(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("MCP_NPM")
	switch {
	case dir == "":
		t.Skip("set MCP_NPM=install to install and call the servers of testdata/package.json")
	case !filepath.IsAbs(dir):
		dir = t.TempDir()
	}
	data, err := os.ReadFile(filepath.Join("testdata", "package.json"))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "package.json"), data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("npm", "install", "--no-audit", "--no-fund", "--no-package-lock")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	return filepath.Join(dir, "node_modules", ".bin")
}

// npmTool calls a tool of a server from npm.
func npmTool(t *testing.T, s *mcp.Server, name string, args any) (agent.ToolOutput, error) {
	t.Helper()
	encoded, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	return tool(t, s, name).Output(t.Context(), call(string(encoded)))
}

type object = map[string]any

func TestServersFromNPM(t *testing.T) {
	programs := installed(t)
	t.Run("everything", func(t *testing.T) { callEverything(t, filepath.Join(programs, "mcp-server-everything")) })
	t.Run("filesystem", func(t *testing.T) { callFilesystem(t, filepath.Join(programs, "mcp-server-filesystem")) })
}

func callEverything(t *testing.T, program string) {
	t.Setenv("MODEL_KEY", key)
	s := connect(t, mcp.Command{Args: []string{program}}, mcp.Options{})
	if len(s.Tools()) < 10 || len(s.Warnings()) > 0 {
		t.Errorf("got %v, %v", names(s), s.Warnings())
	}
	for name, c := range map[string]struct {
		args  object
		want  string
		parts int
	}{
		"echo":                   {object{"message": "hello"}, "hello", 0},
		"get-sum":                {object{"a": 2, "b": 3}, "5", 0},
		"get-tiny-image":         {nil, "image", 1},
		"get-structured-content": {object{"location": "Chicago"}, "temperature", 0},
		"get-resource-links":     {object{"count": 2}, "\nresource ", 0},
		"get-resource-reference": {object{"resourceType": "Text", "resourceId": 1}, "resource ", 0},
		"get-annotated-message":  {object{"messageType": "success", "includeImage": true}, "success", 1},
		"get-env":                {nil, "PATH", 0},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := npmTool(t, s, name, orEmpty(c.args))
			if err != nil || !strings.Contains(out.Text, c.want) || len(out.Parts) != c.parts || len(out.Warnings) > 0 {
				t.Errorf("got %q, %d parts, %q, %v", out.Text, len(out.Parts), out.Warnings, err)
			}
			if strings.Count(out.Text, "temperature") > 1 || strings.Contains(out.Text, key) {
				t.Errorf("got %q", out.Text)
			}
		})
	}
	t.Run("invalid arguments", func(t *testing.T) {
		out, err := npmTool(t, s, "get-sum", object{"a": "two"})
		failed := new(agent.ToolError)
		if !errors.As(err, &failed) || failed.Kind != agent.FailTool {
			t.Errorf("got %+v, %v", out, err)
		}
	})
	long := tool(t, s, "trigger-long-running-operation")
	t.Run("progress", func(t *testing.T) {
		var stages []string
		ctx := agentspec.WithProgress(t.Context(), func(stage string, data json.RawMessage) {
			stages = append(stages, stage+string(data))
		})
		out, err := long.Output(ctx, call(`{"duration":0.2,"steps":4}`))
		if err != nil || len(stages) == 0 || !strings.Contains(stages[0], `"total":4`) {
			t.Errorf("got %+v, %v, %q", out, err, stages)
		}
	})
	t.Run("cancellation", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		ctx = agentspec.WithProgress(ctx, func(string, json.RawMessage) { cancel() })
		if out, err := long.Output(ctx, call(`{"duration":1000,"steps":10000}`)); !errors.Is(err, context.Canceled) {
			t.Errorf("got %+v, %v", out, err)
		}
	})
}

func orEmpty(args object) object {
	if args == nil {
		return object{}
	}
	return args
}

func callFilesystem(t *testing.T, program string) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s, err := mcp.Connect(t.Context(), "files", mcp.Command{Args: []string{program, dir}}, mcp.Options{TrustHints: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	hooks := new(agent.Hooks)
	hooks.OnPermission.AddFunc(func(
		_ context.Context, run *agent.Run, c agent.ToolCallRequest,
	) (agent.OnPermissionOutcome, error) {
		if tool, _ := run.Env.Tools.Lookup(c.Name); !tool.ReadOnly && c.Name != "files__write_file" {
			return agent.Deny{Reason: "only write_file may write"}, nil
		}
		return nil, nil
	})
	at := func(name string) string { return filepath.Join(dir, name) }
	png := []byte("\x89PNG\r\n\x1a\n")
	if err := os.WriteFile(at("a.png"), png, 0o600); err != nil {
		t.Fatal(err)
	}
	a := &loop.Agent{Hooks: hooks, Tools: s.Tools(), Model: looptest.NewScript(
		looptest.Calls(
			looptest.Call("files__write_file", object{"path": at("a.txt"), "content": "one\ntwo\n"}),
			looptest.Call("files__move_file", object{"source": at("a.png"), "destination": at("b.png")}),
		),
		looptest.Calls(
			looptest.Call("files__read_text_file", object{"path": at("a.txt"), "tail": 2}),
			looptest.Call("files__read_media_file", object{"path": at("a.png")}),
			looptest.Call("files__list_directory", object{"path": dir}),
			looptest.Call("files__read_text_file", object{"path": "/etc/passwd"}),
			looptest.Call("files__read_text_file", object{"pth": at("a.txt")}),
		),
		looptest.Reply("done"),
	)}
	result, err := a.Run(t.Context(), "go")
	if err != nil || len(result.Calls) != 7 {
		t.Fatalf("got %+v, %v", result, err)
	}
	for i, want := range []agent.FailureKind{"", agent.FailDenied, "", "", "", agent.FailTool, agent.FailArguments} {
		if r := result.Calls[i]; r.Kind != want {
			t.Errorf("%s: got %q, %q", r.Call.Name, r.Kind, r.Err)
		}
	}
	if got := result.Calls[2].Output; !strings.Contains(got, "two") {
		t.Errorf("read %q", got)
	}
	if got := result.Calls[3].Parts; len(got) != 1 || got[0].MediaType != "image/png" || !bytes.Equal(got[0].Data, png) {
		t.Errorf("read %+v", result.Calls[3])
	}
	if got := result.Calls[4].Output; !strings.Contains(got, "a.txt") || !strings.Contains(got, "a.png") {
		t.Errorf("listed %q", got)
	}
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hookgen/hookgen/builtin/record"
	"github.com/hookgen/hookgen/contrib/sqlite"
)

var update = flag.Bool("update", false, "write the transcripts into docs/agents/real-run.md")

// The test binary is also the agent and an MCP server, as processes of their own.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) == 2 && os.Args[1] == "mcp-server":
		if err := serveFiles(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case os.Getenv("AGENT_PROCESS") != "":
		main()
	default:
		os.Exit(m.Run())
	}
}

// The page has the output of the processes. With -update the test writes it.
func TestEverythingReal(t *testing.T) {
	page := filepath.Join("..", "..", "docs", "agents", "real-run.md")
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Run("a server in Go", func(t *testing.T) {
		got := transcripts.ReplaceAllStringFunc(string(text), each(realRun(t, binary+" mcp-server")))
		if *update {
			if err := os.WriteFile(page, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		} else if got != string(text) {
			t.Errorf("%s is out of date; run go test -run TestEverythingReal -update in examples/agent. Now:\n%s", page, got)
		}
	})
	t.Run("a server from npm", func(t *testing.T) {
		got := transcripts.ReplaceAllStringFunc(string(text), each(realRun(t, npmServer(t)+" .")))
		if !*update && got != string(text) {
			t.Errorf("the processes print something else with another server:\n%s", got)
		}
	})
}

// transcripts are the code blocks of the page that show a process.
var transcripts = regexp.MustCompile("(?s)```console\n\\$ agent.*?```")

// each returns a function that returns the texts in turn, as code blocks.
func each(texts []string) func(string) string {
	return func(old string) string {
		if len(texts) == 0 {
			return old
		}
		next := texts[0]
		texts = texts[1:]
		return "```console\n" + next + "```"
	}
}

// realRun runs the agent in three processes, in a directory with a log, and returns their output.
func realRun(t *testing.T, mcpServer string) []string {
	t.Helper()
	dir := t.TempDir()
	log := []byte("412 packages built, 3 from the cache")
	if err := os.WriteFile(filepath.Join(dir, "build.log"), log, 0o600); err != nil {
		t.Fatal(err)
	}
	model := httptest.NewServer(http.HandlerFunc(complete))
	defer model.Close()
	hooks, err := filepath.Abs(filepath.Join("testdata", "real", "hooks.json"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := exec.LookPath("python3"); err != nil {
		hooks = filepath.Join(filepath.Dir(hooks), "hooks-sh.json")
	}
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	process := func(shown string, args ...string) string {
		t.Helper()
		cmd := exec.Command(binary, append([]string{
			"-model", "openai:" + model.URL + "/v1#local", "-mcp", mcpServer, "-store", "agent.db", "-hooks", hooks,
			"-otel", "stdout",
		}, args...)...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "AGENT_PROCESS=1", "OPENAI_API_KEY="+modelKey)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %s\n%s", err, out, stderr.String())
		}
		return "$ agent $REAL " + shown + "\n" + string(out)
	}

	task := "The build is slow. Find out why, and write a report."
	first := process(`-later "`+task+`"`, "-later", task)
	if _, err := os.Stat(filepath.Join(dir, "report.txt")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file was written before the approval: %v", err)
	}
	found := questionID.FindStringSubmatch(first)
	if found == nil {
		t.Fatalf("no question:\n%s", first)
	}
	second := process("-resume -approve "+found[1], "-resume", "-approve", found[1])
	if text, err := os.ReadFile(filepath.Join(dir, "report.txt")); err != nil || !strings.Contains(string(text), "cache") {
		t.Errorf("the report is %q, %v", text, err)
	}
	if _, err := os.Stat(filepath.Join(dir, ".env")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the denied file was written: %v", err)
	}
	third := process(`"Where is the report?"`, "Where is the report?")

	db, err := sqlite.Open(filepath.Join(dir, "agent.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	audit, err := record.VerifyAudit(sqlite.AuditLog{DB: db}.Reader(t.Context()), record.AuditCheck{})
	if err != nil || audit.Records == 0 {
		t.Errorf("the audit log has %d records, %v", audit.Records, err)
	}
	return []string{stable(first), stable(second), stable(third)}
}

// stable replaces the parts of a transcript that differ between runs and between MCP servers.
func stable(text string) string {
	for _, change := range []struct{ pattern, with string }{
		{`[0-9a-f]{33,64}`, "DIGEST"},
		{`\b[0-9a-f]{16}\b`, "RUN"},
		{`\d+ tokens`, "N tokens"},
		{`\d+ tools`, "N tools"},
	} {
		text = regexp.MustCompile(change.pattern).ReplaceAllString(text, change.with)
	}
	return text
}

const modelKey = "the-key-of-the-model"

// complete is a server that speaks chat completions. Its reply depends on the number of replies in the conversation.
func complete(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Stream   bool
		Messages []struct{ Role, Content string }
	}
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil || !request.Stream ||
		r.Header.Get("Authorization") != "Bearer "+modelKey {
		http.Error(w, `{"error":{"message":"wrong request"}}`, http.StatusBadRequest)
		return
	}
	given := 0
	for _, m := range request.Messages {
		if m.Role == "assistant" {
			given++
		}
	}
	type object = map[string]any
	send := func(delta object, finish any) {
		text, err := json.Marshal(object{
			"object": "chat.completion.chunk", "model": "local",
			"choices": []object{{"index": 0, "delta": delta, "finish_reason": finish}},
		})
		if err == nil {
			fmt.Fprintf(w, "data: %s\n\n", text)
			w.(http.Flusher).Flush()
		}
	}
	say := func(text string) {
		for word := range strings.SplitAfterSeq(text, " ") {
			send(object{"content": word}, nil)
		}
		send(object{}, "stop")
	}
	call := func(tool, path, content string) {
		args, err := json.Marshal(map[string]string{"path": path, "content": content})
		if content == "" {
			args, err = json.Marshal(map[string]string{"path": path})
		}
		if err != nil {
			return
		}
		half := len(args) / 2
		id := fmt.Sprintf("call_%d", given+1)
		send(object{"role": "assistant", "tool_calls": []object{{
			"index": 0, "id": id, "type": "function", "function": object{"name": tool, "arguments": ""},
		}}}, nil)
		for _, piece := range []string{string(args[:half]), string(args[half:])} {
			send(object{"tool_calls": []object{{"index": 0, "function": object{"arguments": piece}}}}, nil)
		}
		send(object{}, "tool_calls")
	}
	w.Header().Set("Content-Type", "text/event-stream")
	switch given {
	case 0:
		call("mcp__read_text_file", "build.log", "")
	case 1:
		call("mcp__write_file", ".env", "CACHE_SIZE=20G")
	case 2:
		call("mcp__write_file", "report.txt", "The cache is full. Give it more room.")
	case 3:
		say("The cache is full, so every package is built anew. The report is written.")
	default:
		say("It is in report.txt.")
	}
	fmt.Fprint(w, "data: [DONE]\n\n")
}

// serveFiles is an MCP server with two tools of server-filesystem, for machines without npm.
func serveFiles() error {
	type file struct {
		Path string `json:"path"`
	}
	type content struct {
		Path    string `json:"path"`
		Content string `json:"content"`
	}
	text := func(text string) *sdk.CallToolResult {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}
	}
	root, err := os.OpenRoot(".")
	if err != nil {
		return err
	}
	defer root.Close()
	s := sdk.NewServer(&sdk.Implementation{Name: "files", Version: "v1"}, nil)
	sdk.AddTool(s, &sdk.Tool{
		Name: "read_text_file", Description: "Reads a file.", Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true},
	}, func(_ context.Context, _ *sdk.CallToolRequest, f file) (*sdk.CallToolResult, any, error) {
		got, err := root.ReadFile(f.Path)
		return text(string(got)), nil, err
	})
	sdk.AddTool(s, &sdk.Tool{
		Name: "write_file", Description: "Writes a file.",
	}, func(_ context.Context, _ *sdk.CallToolRequest, c content) (*sdk.CallToolResult, any, error) {
		err := root.WriteFile(c.Path, []byte(c.Content), 0o600)
		return text("Successfully wrote to " + c.Path), nil, err
	})
	return s.Run(context.Background(), &sdk.StdioTransport{})
}

// npmServer installs the servers of contrib/mcp and returns the program of server-filesystem. It needs the network and
// a minute, so the test is skipped unless MCP_NPM is set.
func npmServer(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("MCP_NPM")
	switch {
	case dir == "":
		t.Skip("set MCP_NPM=install to use server-filesystem of npm")
	case !filepath.IsAbs(dir):
		dir = t.TempDir()
	}
	text, err := os.ReadFile(filepath.Join("..", "..", "contrib", "mcp", "testdata", "package.json"))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "package.json"), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("npm", "install", "--no-audit", "--no-fund", "--no-package-lock")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	return filepath.Join(dir, "node_modules", ".bin", "mcp-server-filesystem")
}

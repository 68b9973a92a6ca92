package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/session"
	"github.com/hookgen/hookgen/contrib/sqlite"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

func TestMain(m *testing.M) {
	if os.Getenv("CLERK") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// clerk runs the command in another process and returns its output.
func clerk(t *testing.T, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), "CLERK=1", "OPENAI_API_KEY=sk-1")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// complete is a model server. It pays first, and answers with the receipt of the tool.
func complete(w http.ResponseWriter, r *http.Request) {
	var request struct {
		ResponseFormat struct {
			JSONSchema struct{ Name string } `json:"json_schema"`
		} `json:"response_format"`
		Messages []struct{ Role, Content string }
	}
	err := json.NewDecoder(r.Body).Decode(&request)
	if err != nil || r.URL.Path != "/v1/chat/completions" || request.ResponseFormat.JSONSchema.Name != "receipt" {
		http.Error(w, `{"error":{"message":"wrong request"}}`, http.StatusBadRequest)
		return
	}
	delta, finish := map[string]any{"tool_calls": []any{map[string]any{
		"index": 0, "id": "call_1", "type": "function",
		"function": map[string]any{"name": "bank__pay", "arguments": `{"euros":1200}`},
	}}}, "tool_calls"
	if last := request.Messages[len(request.Messages)-1]; last.Role == "tool" {
		delta, finish = map[string]any{"content": last.Content}, "stop"
	}
	text, _ := json.Marshal(map[string]any{"model": "local", "choices": []any{
		map[string]any{"index": 0, "delta": delta, "finish_reason": finish},
	}})
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprintf(w, "data: %s\n\ndata: [DONE]\n\n", text)
}

func TestAnotherProcessGivesTheApproval(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(complete))
	defer server.Close()
	flags := []string{"-store", filepath.Join(t.TempDir(), "clerk.db"), "-url", server.URL + "/v1", "-model", "local"}
	out, err := clerk(t, append(flags, "Pay the rent of 1200 euros.")...)
	asked := regexp.MustCompile(`^may it call bank__pay \{"euros":1200\}\? -approve (\S+)\n$`).FindStringSubmatch(out)
	if err != nil || asked == nil {
		t.Fatalf("%v\n%s", err, out)
	}
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "agents", "agent.md"))
	if err != nil {
		t.Fatal(err)
	}
	const command = "clerk -url http://localhost:11434/v1 -model qwen3 "
	want := "$ " + command + "\"Pay the rent of 1200 euros.\"\n" + strings.ReplaceAll(out, asked[1], "ID")
	out, err = clerk(t, append(flags, "-approve", asked[1])...)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if want += "$ " + command + "-approve ID\n" + out; !strings.Contains(string(page), "```console\n"+want+"```\n") {
		t.Errorf("docs/agents/agent.md lacks\n%s", want)
	}
	out, err = clerk(t, append(flags, "-approve", asked[1])...)
	if err == nil || !strings.Contains(out, asked[1]+`" does not wait`) {
		t.Errorf("the run was continued twice: %v\n%s", err, out)
	}
}

// A newer program has stored the run, for example.
func TestARefusedRunStaysInTheStore(t *testing.T) {
	db, err := sqlite.Open(filepath.Join(t.TempDir(), "clerk.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	runs := session.Runs{Store: sqlite.Store{DB: db}}
	newer := agent.Suspension{Version: 9, ID: "r.1", Run: "r", Questions: []agent.Question{{ID: "r.1.1"}}}
	if err := runs.Put(t.Context(), newer, ""); err != nil {
		t.Fatal(err)
	}
	a := &loop.Agent{Name: "clerk", Model: looptest.NewScript(), Runs: runs}
	req, err := approved(t.Context(), runs, "r")
	if err == nil {
		err = work(t.Context(), a, req)
	}
	if !errors.Is(err, loop.ErrNotStarted) {
		t.Error(err)
	}
	if all, err := runs.List(t.Context()); err != nil || len(all) != 1 || !all[0].TakenUntil.IsZero() {
		t.Errorf("%+v, %v", all, err)
	}
}

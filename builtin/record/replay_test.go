package record_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/record"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// recording writes files of a recorded run, by their paths, and returns the directory.
func recording(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for path, text := range files {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func reply(text string, at int) string {
	return fmt.Sprintf(`{"timestamp":%d,"response":{"content":%q}}`, at, text)
}

func TestReplayReadsTheFilesOfCalls(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		calls int
		err   string
	}{
		"two calls": {map[string]string{"call_00_response.json": reply("a", 1),
			"call_01_response.json": reply("b", 2)}, 2, ""},
		"a text": {map[string]string{"call_00_response.txt": "a\n"}, 1, ""},
		"other files": {map[string]string{"call_00_response.json": reply("a", 1), "call_01_prompt.txt": "",
			"call_x_response.json": "", "x": ""}, 1, ""},
		"a negative call": {map[string]string{"call_00_response.json": reply("a", 1), "call_-1_response.json": ""},
			1, ""},
		"a missing call":     {map[string]string{"call_01_response.json": reply("a", 1)}, 0, "but later calls"},
		"invalid JSON":       {map[string]string{"call_00_response.json": "{"}, 0, "is not a recorded call"},
		"an error":           {map[string]string{"call_00_response.json": `{"error":"busy"}`}, 1, ""},
		"neither":            {map[string]string{"call_00_response.json": `{}`}, 0, "neither a response nor an error"},
		"a call is a folder": {map[string]string{"call_00_response.json/x": ""}, 0, "cannot be replayed"},
		"runs is a file": {map[string]string{"call_00_response.json": reply("a", 1), "runs": ""}, 0,
			"cannot be replayed"},
		"a broken sub-run": {map[string]string{"call_00_response.json": reply("a", 1),
			"runs/x/call_00_response.json": "{"}, 0, "cannot be replayed"},
		"a file in runs": {map[string]string{"call_00_response.json": reply("a", 1), "runs/x": ""}, 1, ""},
		"a sub-run": {map[string]string{"call_00_response.json": reply("a", 1),
			"runs/x/call_00_response.json": reply("b", 2)}, 2, ""},
		"a sub-run of nothing": {map[string]string{"call_00_response.json": reply("a", 1), "runs/x/y": ""}, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			model, err := record.Replay(recording(t, c.files))
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("the error is %v", err)
				}
				return
			}
			if err != nil || model.Remaining() != c.calls {
				t.Errorf("%d calls, %v", model.Remaining(), err)
			}
		})
	}
}

func TestSubRunsGetTheRecordingOfTheirPrompt(t *testing.T) {
	dir := recording(t, map[string]string{
		"call_00_response.json": reply("root", 1), "runs/b/call_00_response.json": reply("second", 3),
		"runs/c/call_00_response.json": reply("first", 2), "runs/a/call_00_response.json": reply("third", 4),
		"runs/a/call_00_prompt.txt": "[user]\nask\n\n", "runs/d/call_00_response.json": reply("fourth", 5),
		"runs/d/call_00_prompt.txt": "[user]\npassword=[REDACTED]\n\n",
	})
	model, err := record.Replay(dir)
	if err != nil {
		t.Fatal(err)
	}
	ask := func(run, text string) string {
		t.Helper()
		ctx := agentspec.WithRun(context.Background(), run)
		got, err := model.Generate(ctx, agent.LLMRequest{Messages: []agent.Message{{Role: agent.RoleUser, Content: text}}})
		if err != nil {
			t.Error(err)
		}
		return got.Content
	}
	for i, c := range []struct{ text, want string }{
		{"ask", "root"}, {"ask", "third"}, {"password=hunter2", "fourth"}, {"other", "first"}, {"other", "second"},
	} {
		if got := ask(fmt.Sprint(i), c.text); got != c.want {
			t.Errorf("run %d got the recording of the run %q, want %q", i, got, c.want)
		}
		if left := model.Remaining(); left != 4-i {
			t.Errorf("%d calls remain", left)
		}
	}
}

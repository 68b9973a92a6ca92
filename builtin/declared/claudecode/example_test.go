package claudecode_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/hookgen/hookgen/builtin/declared/claudecode"
	"github.com/hookgen/hookgen/generated/agent"
)

func ExampleHooks() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "settings.json")
	settings := `{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [
		{"type": "command", "command": "grep -q 'git push' && echo 'Open a pull request instead.' >&2 && exit 2; exit 0"}
	]}]}}`
	if err := os.WriteFile(path, []byte(settings), 0o600); err != nil {
		log.Fatal(err)
	}
	scripts, err := claudecode.Read(path)
	if err != nil {
		log.Fatal(err)
	}
	scripts.Tools = map[string]claudecode.Tool{"shell": {Name: "Bash", Fields: map[string]string{"cmd": "command"}}}
	hooks := new(agent.Hooks)
	hooks.Use(scripts)

	for _, args := range []string{`{"cmd":"git status"}`, `{"cmd":"git push"}`} {
		call := agent.ToolCallRequest{ID: "1", Name: "shell", Args: json.RawMessage(args)}
		exit, err := hooks.BeforeTool.Fire(context.Background(), agent.NewRun(nil), &call)
		if skip, ok := exit.(agent.SkipTool); ok {
			fmt.Println(skip.Result.Err)
		} else {
			fmt.Println(exit, err)
		}
	}
	// Output:
	// <nil> <nil>
	// PreToolUse:Bash hook error: Open a pull request instead.
}

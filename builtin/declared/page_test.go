package declared_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/declared"
	"github.com/hookgen/hookgen/generated/agent"
)

// writeScript writes a script of the page to the directory of the file.
func writeScript(t *testing.T, f *declared.File, name string) {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not installed")
	}
	page, err := os.ReadFile("../../docs/agents/declared-hooks.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```python\n(# " + regexp.QuoteMeta(name) + ".*?)```").FindSubmatch(page)
	if block == nil {
		t.Fatalf("the page has no %s", name)
	}
	write(t, filepath.Join(filepath.Dir(f.Path), name), string(block[1]))
}

func TestTheCommandOfThePage(t *testing.T) {
	f := file(t, declare("command", `["python3", "guard.py"]`, ""))
	writeScript(t, f, "guard.py")
	hooks := load(t, f)
	for args, want := range map[string]string{
		`{"command":"ls"}`: "allow", `{"command":"rm -r /"}`: "deny: rm is not allowed", `{}`: "error: ",
	} {
		t.Run(args, func(t *testing.T) {
			if got := permit(t, hooks, "shell", args); !strings.HasPrefix(got, want) {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
}

func TestTheProcessOfThePage(t *testing.T) {
	f := file(t, `{"hooks": [{"name": "rules", "at": ["BeforeTool"], "process": ["python3", "rules.py"]}]}`)
	writeScript(t, f, "rules.py")
	hooks := load(t, f)
	defer f.Unload()
	for i, want := range []string{"", "", "two mails are enough"} {
		call := agent.ToolCallRequest{ID: "1", Name: "mail", Args: json.RawMessage(`{}`)}
		exit, err := hooks.BeforeTool.Fire(t.Context(), agent.NewRun(nil), &call)
		skipped, _ := exit.(agent.SkipTool)
		if err != nil || skipped.Result.Err != want {
			t.Errorf("call %d: %+v, %v; want the error %q", i, exit, err, want)
		}
	}
}

func TestTheFilesOfThePageLoad(t *testing.T) {
	page, err := os.ReadFile("../../docs/agents/declared-hooks.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```json\n(.*?)```").FindAllSubmatch(page, -1)
	for _, b := range blocks {
		f := file(t, string(b[1]))
		f.Models = map[string]agent.Model{"": echo{`{"ok": true}`}}
		load(t, f)
	}
	if len(blocks) == 0 {
		t.Error("the page has no file")
	}
}

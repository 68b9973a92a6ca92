package external_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
)

func TestTheCommandOfThePage(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not installed")
	}
	page, err := os.ReadFile("../../docs/declared-hooks.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```python\n(.*?)```").FindSubmatch(page)
	if block == nil {
		t.Fatal("the page has no command")
	}
	f := file(t, `{"hooks": [{"name": "guard", "at": ["OnPermission"], "command": ["python3", "guard.py"]}]}`)
	write(t, filepath.Join(filepath.Dir(f.Path), "guard.py"), string(block[1]))
	hooks := load(t, f)
	for args, want := range map[string]string{
		`{"command":"ls"}`: "allow", `{"command":"rm -r /"}`: "deny: rm is not allowed", `{}`: "error: ",
	} {
		if got := permit(t, hooks, "shell", args); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", args, got, want)
		}
	}
}

func TestTheFilesOfThePageLoad(t *testing.T) {
	page, err := os.ReadFile("../../docs/declared-hooks.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```json\n(.*?)```").FindAllSubmatch(page, -1)
	for _, b := range blocks {
		f := file(t, string(b[1]))
		f.Models = map[string]agent.Model{"": echo{"ok"}}
		load(t, f)
	}
	if len(blocks) == 0 {
		t.Error("the page has no file")
	}
}

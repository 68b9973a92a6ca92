package claudecode_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/declared/claudecode"
	"github.com/hookgen/hookgen/generated/agent"
)

// TestPublishedShapesLoad reads files in the shapes in which people publish their settings. Each loads, and exactly the
// parts that cannot run here are reported.
func TestPublishedShapesLoad(t *testing.T) {
	events := strings.Fields("ConfigChange CwdChanged DirectoryAdded Elicitation ElicitationResult FileChanged " +
		"InstructionsLoaded MessageDisplay Notification PostModelSwitch PreModelSwitch Setup TaskCompleted TaskCreated " +
		"TeammateIdle UserPromptExpansion WorktreeCreate WorktreeRemove")
	const one, two, three = "the hook 1 of the matcher 1", "the hook 2 of the matcher 1", "the hook 1 of the matcher 2"
	shapes := map[string][]string{ // the parts that have no effect
		"format.json": nil, "notes.json": nil, "everything.json": nil, "nohooks.json": nil,
		"guard.json":    {"permissions.allow", "permissions.ask", "permissions.deny"},
		"notify.json":   {"Notification"},
		"events.json":   events,
		"matchers.json": {"the hook 1 of the matcher 7 of PreToolUse: \"^(?!mcp__).*$\" is not a regular expression"},
		"handlers.json": {one + ` of PreToolUse: the type is "http"`, two + ` of PreToolUse: the type is "mcp_tool"`,
			one + ` of Stop: the type is "prompt"`, two + ` of Stop: the type is "agent"`},
		"empty.json": nil,
		"background.json": {three + " of PostToolUse: asyncRewake", three + " of PostToolUse: of its 7200 seconds",
			one + ` of UserPromptSubmit: the shell is "powershell"`},
		"conditions.json": {"the matcher 2 of PreToolUse: it has no hooks", one + " of Stop: it has an if"},
	}
	files, err := os.ReadDir(filepath.Join("testdata", "published"))
	if err != nil || len(files) != len(shapes) {
		t.Errorf("%d files, expected %d, %v", len(files), len(shapes), err)
	}
	for _, file := range slices.Sorted(maps.Keys(shapes)) {
		t.Run(file, func(t *testing.T) {
			h, err := claudecode.Read(filepath.Join("testdata", "published", file))
			if err != nil {
				t.Fatal(err)
			}
			want := shapes[file]
			if len(h.Ignored) != len(want) {
				t.Errorf("reported %q", h.Ignored)
			}
			for i, part := range h.Ignored[:min(len(h.Ignored), len(want))] {
				if !strings.Contains(part, want[i]) {
					t.Errorf("part %d: %q, want %q", i, part, want[i])
				}
			}
			h.OnError = func(error) {}
			new(agent.Hooks).Use(h)
		})
	}
}

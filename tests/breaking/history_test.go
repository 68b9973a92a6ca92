package breaking_test

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/internal/usermodule"
)

// TestOwnHistory compares the reference spec with each of its versions in the history of this repository. Every version
// can be read, also those that an older hookgen accepted.
func TestOwnHistory(t *testing.T) {
	if testing.Short() {
		t.Skip("builds hookgen")
	}
	const dir = "spec/agentspec"
	root := usermodule.Root(t)
	command := exec.CommandContext(t.Context(), "git", "log", "--format=%H", "-n", "30", "--", dir)
	command.Dir = root
	log, err := command.Output()
	commits := strings.Fields(string(log))
	if err != nil || len(commits) == 0 {
		t.Skip("no history here")
	}
	hookgen := usermodule.BuildHookgen(t)
	for _, commit := range commits {
		t.Run(commit[:12], func(t *testing.T) {
			list := exec.CommandContext(t.Context(), "git", "ls-tree", "--name-only", commit, dir+"/points.go")
			list.Dir = root
			if name, err := list.Output(); err != nil || len(name) == 0 {
				t.Skip("this commit has no reference spec") // it removed the directory, or is not in a shallow clone
			}
			command := exec.CommandContext(t.Context(), hookgen, "breaking", "-json", "-against", "git:"+commit, dir)
			command.Dir = root
			out, err := command.Output()
			if code := command.ProcessState.ExitCode(); code != 0 && code != 1 {
				t.Fatalf("exit code %d: %v\n%s", code, err, out)
			}
			var findings []struct{ Rule, Verdict, Message string }
			if err := json.Unmarshal(out, &findings); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			for _, f := range findings {
				if f.Verdict != "safe" {
					t.Logf("%s: %s (%s)", f.Verdict, f.Message, f.Rule)
				}
			}
		})
	}
}

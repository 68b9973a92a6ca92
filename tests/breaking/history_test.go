package breaking_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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

// The step of .ci/run compares the reference spec with the last release, in a clone that has one.
func TestReleasedStep(t *testing.T) {
	if testing.Short() {
		t.Skip("builds hookgen")
	}
	root := usermodule.Root(t)
	script, err := os.ReadFile(filepath.Join(root, ".ci", "run"))
	if err != nil {
		t.Fatal(err)
	}
	step := regexp.MustCompile(`(?ms)^released\(\) \{.*?^\}`).FindString(string(script))
	clone := filepath.Join(t.TempDir(), "clone")
	run := func(dir, name string, arguments ...string) (string, error) {
		command := exec.CommandContext(t.Context(), name, arguments...)
		command.Dir, command.Env = dir, append(os.Environ(), "GOWORK=off")
		out, err := command.CombinedOutput()
		return string(out), err
	}
	if out, err := run(root, "git", "clone", "-q", "--no-tags", ".", clone); err != nil {
		t.Skip("no repository here: ", out)
	}
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("no bash here")
	}
	spec := filepath.Join(clone, "spec", "agentspec", "points.go")
	for _, c := range []struct {
		name, tag, old, now string
		fails               bool
		want                string
	}{
		{"without a release", "", "", "", false, "no release is tagged in the history of this clone"},
		{"without a change", "v0.9.0", "", "", false, "no change since git:v0.9.0"},
		{"with a safe change", "", "\n// EndTurn ", "\n// Ending is new.\nconst Ending = 1\n\n// EndTurn ", false,
			"1 change since git:v0.9.0: 1 safe"},
		{"with another policy", "", "SkipTool, EndTurn, spec.FailClosed", "SkipTool, EndTurn, spec.FailOpen", true,
			"1 changes-behaviour, 1 safe"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.tag != "" {
				if out, err := run(clone, "git", "tag", c.tag); err != nil {
					t.Fatal(out)
				}
			}
			text, err := os.ReadFile(spec)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(spec, []byte(strings.Replace(string(text), c.old, c.now, 1)), 0o644); err != nil {
				t.Fatal(err)
			}
			out, err := run(clone, "bash", "-c", step+"\nreleased")
			if (err != nil) != c.fails || !strings.Contains(out, c.want) {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

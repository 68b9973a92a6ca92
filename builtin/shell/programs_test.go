package shell

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// offering are programs with the arguments that make them list their options, and arguments with which options run.
var offering = []struct{ program, help, operands string }{
	{"git ls-remote", "-h", "."}, {"git grep", "-h", "x"}, {"git clone", "-h", ". y"}, {"git fetch", "-h", "."},
	{"git push", "-h", ". HEAD"}, {"git rebase", "-h", "HEAD"}, {"git log", "-h", ""}, {"git archive", "-h", "HEAD"},
	{"tar", "--help", "-cf x.tar x"}, {"sort", "--help", "x"}, {"sed", "--help", "-n p x"}, {"split", "--help", "x"},
	{"awk", "--help", "1 x"}, {"ssh", "-h", "h"}, {"rsync", "--help", "x y"}, {"zip", "-h2", "y.zip x"},
	{"find", "--help", "."}, {"npm", "help", "test"}, {"go", "help build", "./x"},
}

var (
	offeredLong  = regexp.MustCompile(`--(?:\[no-\])?[a-z][a-z-]+`)
	offeredShort = regexp.MustCompile(`(?:^|[\s,\[|])-([A-Za-z0-9])\b`)
)

// The options that the installed programs offer are tried with a program as the value, spelled out, abbreviated and
// joined. A command that a rule for the program alone allows must not start that program.
func TestAllowedOptionsOfInstalledProgramsRunNothingElse(t *testing.T) {
	most := 8 // commands of each program; with HOOKGEN_SHELL_RUNS all
	if os.Getenv("HOOKGEN_SHELL_RUNS") != "" {
		most = 1000
	}
	for _, o := range offering {
		t.Run(o.program, func(t *testing.T) {
			name, rest, _ := strings.Cut(o.program, " ")
			if _, err := exec.LookPath(name); err != nil {
				t.Skip(err)
			}
			work, log := t.TempDir(), filepath.Join(t.TempDir(), "log")
			evil := filepath.Join(work, "evil")
			reset := func() { // the commands may overwrite the files
				for file, text := range map[string]string{
					evil: "#!/bin/sh\necho ran >>'" + log + "'\n", filepath.Join(work, "x"): "x\n",
				} {
					if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
						t.Fatal(err)
					}
				}
			}
			reset()
			run := func(command string) []byte {
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
				defer cancel()
				cmd := exec.CommandContext(ctx, "/bin/sh", "-c", command)
				cmd.Dir, cmd.WaitDelay = work, time.Second
				cmd.Env = []string{"PATH=" + work + ":" + os.Getenv("PATH"), "HOME=" + work, "GIT_CONFIG_NOSYSTEM=1"}
				out, _ := cmd.CombinedOutput() // most commands fail
				return out
			}
			run("git init -q . && git add x && git -c user.name=a -c user.email=a@b commit -qm x")
			help := string(run(strings.TrimSpace(name + " " + rest + " " + o.help)))
			var options []string
			for _, option := range offeredLong.FindAllString(help, -1) {
				option = strings.Replace(option, "[no-]", "", 1)
				options = append(options, option+"=evil", option+" evil", option[:min(len(option), 6)]+"=evil")
			}
			for _, m := range offeredShort.FindAllStringSubmatch(help, -1) {
				options = append(options, "-"+m[1]+" evil", "-"+m[1]+"evil")
			}
			tried := 0
			for _, option := range options {
				command := strings.TrimSpace(o.program + " " + option + " " + o.operands)
				if tried >= most || !coveredBy(t, command, name) {
					continue
				}
				tried++
				reset()
				if run(command); exists(log) {
					t.Fatalf("a rule for %s allows %q, which ran another program", name, command)
				}
			}
			t.Logf("%d options in %d spellings; %d allowed commands ran", len(options)/2, len(options), tried)
		})
	}
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

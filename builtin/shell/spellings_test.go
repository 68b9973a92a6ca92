package shell

import (
	"context"
	"flag"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

var spellingRuns = flag.Int("shell.spellings", 6, "the number of commands that TestRealProgramsRunNothingElse runs "+
	"for each use of a program")

// realUses are uses of programs, for options in the place of %. The last word is a spelling that runs evil, which shows
// that the test would notice it.
var realUses = []struct{ command, runs string }{
	{"tar -cf new % a.txt", "--checkpoint=1 --checkpoint-act=exec=evil"}, {"tar -xf a.tar %", "--to-comm=evil"},
	{"tar cf new % a.txt", "-Ievil"}, {"tar % -tf a.tar", "-vIevil"}, {"tar cMf new -L 1 % big.txt", ""},
	{"sort -S 1k % big.txt", "--compress-prog=evil"}, {"sort % a.txt", ""},
	{"sed % a.txt", "--expr=1eevil"}, {"sed -n p % a.txt", "-ne1eevil"}, {"sed -i % a.txt", "-sEe1eevil"},
	{"awk % 1 a.txt", ""}, {"awk % a.txt", `BEGIN{c="evil";c|getline}`}, {"find . % -print", "-exec evil ;"},
	{"git ls-remote % src", "--upload-pa=evil"}, {"git clone % src new", "-qu evil"}, {"git grep % one", "-nOevil"},
	{"git clone -q % src new", ""},
	{"git fetch % src", "--upl=evil"}, {"git push % src HEAD:refs/heads/new", "--receive-p=evil"},
	{"git pull % src", "--upload-p evil"}, {"git rebase % HEAD~1", "--exe evil"}, {"git rebase HEAD~1 %", "-fxevil"},
	{"git difftool % HEAD~1", "-yxevil"}, {"git archive --remote=src % HEAD", "--exec=evil"},
	{"git % log -1", "-c alias.x=!evil x"}, {"git % status", "-c core.fsmonitor=evil"},
	{"git log % -1", ""}, {"git diff % HEAD~1", ""}, {"git commit --allow-empty % -m x", ""}, {"git merge % HEAD", ""},
	{"git config %", ""}, {"git init % new", ""}, {"git stash %", ""}, {"git branch %", ""}, {"git tag % new", ""},
	{"git submodule %", ""}, {"git bisect %", ""}, {"git remote %", ""}, {"git add % a.txt", ""},
	{"git merge-index %", ""}, {"git describe %", ""}, {"git send-pack % ./src HEAD:refs/heads/new2", "--exe=evil"},
	{"split % a.txt", "--fil=evil"}, {"zip new % a.txt", "-qT -TT evil"}, {"install % a.txt new", ""},
	{"install -s % prog new", "--strip-p=evil"}, {"xargs % a.txt", ""}, {"man % ls", "-Pevil"}, {"less % a.txt", ""},
	{"scp % a.txt host.invalid:x", "-Sevil"}, {"sftp % host.invalid", "-oProxyCommand=evil"},
	{"ssh % host.invalid", "-oProxyCommand=evil"},
}

// helpOption matches an option in the help of a program.
var helpOption = regexp.MustCompile(`(?:^|[\s,\[|(])(--?)(\[no-\])?([A-Za-z][A-Za-z0-9-]*)`)

// Programs run with the options of their own help, abbreviated and joined. If a program then starts evil, no rule for
// the program allows the command. The flag -shell.spellings sets the number of commands.
func TestRealProgramsRunNothingElse(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	template := newWorkshop(t)
	for n, use := range realUses {
		t.Run(use.command, func(t *testing.T) {
			t.Parallel()
			program := strings.Fields(use.command)[0]
			if _, err := exec.LookPath(program); err != nil {
				t.Skipf("%s is not installed", program)
			}
			w := template.copied(t)
			switch command := quoted(use.command, strings.Fields(use.runs)); {
			case use.runs == "":
			case !w.startsEvil(command):
				t.Logf("this version of %s runs nothing with %s", program, command)
			case coveredBy(t, command, program):
				t.Errorf("a rule for %s allows %s", program, command)
			}
			random := rand.New(rand.NewPCG(1, uint64(n)))
			options := drawnOptions(random, w.help(use.command))
			for _, words := range options[:min(len(options), *spellingRuns)] {
				command := quoted(use.command, words)
				if coveredBy(t, command, program) && w.startsEvil(command) {
					t.Errorf("a rule for %s allows %s", program, command)
				}
			}
		})
	}
}

// quoted returns a command with words in the place of %.
func quoted(command string, words []string) string {
	var list []string
	for _, w := range words {
		list = append(list, "'"+w+"'")
	}
	return strings.Replace(command, "%", strings.Join(list, " "), 1)
}

// drawnOptions returns spellings of the options in the help of a program, in random order, with values that run evil.
func drawnOptions(random *rand.Rand, help string) (list [][]string) {
	values := []string{"evil", "exec=evil", "1eevil", "core.pager=evil", "ProxyCommand=evil", "!evil"}
	var letters []string
	seen := make(map[string]bool)
	for _, m := range helpOption.FindAllStringSubmatch(help, -1) {
		name := m[1] + m[3]
		if seen[name] {
			continue
		}
		seen[name] = true
		value := values[random.IntN(len(values))]
		if random.IntN(2) == 0 {
			value = "evil"
		}
		if m[1] == "-" && len(m[3]) == 1 {
			letters = append(letters, m[3])
			list = append(list, []string{name + value}, []string{name, value},
				[]string{"-" + letters[random.IntN(len(letters))] + m[3] + value})
			continue
		}
		short := name[:min(len(name), 3+random.IntN(len(name)))]
		list = append(list, []string{name + "=" + value}, []string{short + "=" + value}, []string{short, value})
	}
	random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

// A workshop is a directory in which programs run.
type workshop struct{ dir, marker string }

// newWorkshop returns a directory with some files, a repository, and a program evil that leaves a mark.
func newWorkshop(t *testing.T) workshop {
	t.Helper()
	dir := t.TempDir()
	w := workshop{filepath.Join(dir, "work"), filepath.Join(dir, "marker")}
	for name, text := range map[string]string{
		"bin/evil": "#!/bin/sh\n: >>\"$MARKER\"\nexit 1\n", "work/a.txt": "one\ntwo\n",
		"work/big.txt": strings.Repeat("one two three\nfour\n", 400), "work/prog": "#!/bin/sh\n",
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	w.run("git init -q; git config user.name x; git config user.email x@example.org; git add .; git commit -qm one; " +
		"echo three >>a.txt; git commit -qam two; git clone -q --bare . src; tar cf a.tar a.txt; " +
		"echo four >>a.txt; git commit -qam three")
	return w
}

// copied returns a copy of the directory.
func (w workshop) copied(t *testing.T) workshop {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Dir(w.dir))); err != nil {
		t.Fatal(err)
	}
	return workshop{filepath.Join(dir, "work"), filepath.Join(dir, "marker")}
}

// help returns the help of the program of a command, and of the subcommand if it is git.
func (w workshop) help(command string) string {
	words := strings.Fields(command)
	if words[0] == "git" && words[1] != "%" {
		return w.run("git " + words[1] + " -h; git " + words[1] + " --git-completion-helper-all")
	}
	if slices.Contains([]string{"ssh", "scp", "sftp"}, words[0]) {
		return "-o -S -F -D -b -i -J -P -v -C -q"
	}
	return w.run(words[0] + " --help")
}

// startsEvil reports whether a command starts evil.
func (w workshop) startsEvil(command string) bool {
	_ = os.Remove(w.marker)
	w.run(command)
	_, err := os.Stat(w.marker)
	return err == nil
}

// run runs a command in a shell and returns its output.
func (w workshop) run(command string) string {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	cmd.Dir, cmd.WaitDelay = w.dir, time.Second
	cmd.Env = []string{"PATH=" + filepath.Join(filepath.Dir(w.dir), "bin") + ":" + os.Getenv("PATH"), "HOME=" + w.dir,
		"MARKER=" + w.marker, "GIT_EDITOR=true", "GIT_TERMINAL_PROMPT=0", "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C"}
	output, _ := cmd.CombinedOutput() // most commands fail
	return string(output)
}

package shell_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/permission"
	"github.com/hookgen/hookgen/builtin/shell"
	"github.com/hookgen/hookgen/generated/agent"
)

func TestHarmlessCommandsAreAllowed(t *testing.T) {
	globs := []string{
		"git *", "cat*", "echo *", "printf *", "test *", "cd *", "set *", "export *", "command git *", "eval *", "time *",
		"env *", "sudo git *", "xargs *", "find *", "sh -c *", "[ *",
	}
	for _, c := range []struct {
		dialect  shell.Dialect
		commands []string
	}{
		{shell.AnyShell, harmless[:len(harmless)-19]},
		{shell.Bash, harmless},
		{shell.AnyShell, []string{
			"sudo git log", "env LANG=C git log", "env git log", "find . -name '*.go'", "find . -exec git add {} \\;",
			"git ls-files | xargs git add", "sh -c 'git log; git status'", "[ -f x ] && git log", "cd a && git log",
			"set -euo pipefail\ngit log", "git -c user.name=a commit", "git -C sub log", "export LANG=C && git log",
			"git log --format='%h %s'", "git log --since='2 weeks ago'", "git log 'a;b' \"a|b\" a\\&b", "git log \\(x\\)",
			"git stash push -m \"wip: a b\"", "git log ':(exclude)x'", "git log '!x'", "git grep -n 'a$'", "git log -- *.go",
			"LC_ALL=C git log", "f=a; git add \"$f\"", "git log >/dev/null", "git log 2>/dev/null",
			"cat <<'EOF'\n$(x) `y` 'z\nEOF",
		}},
		{shell.POSIX, []string{"git log", "git log $(git log)"}},
		{shell.AnyShell, []string{
			"env -i LANG=C git log", "env -u x git log", "git log | xargs -0 -n 1 git add", "find . -exec git add {} +",
			"git ls-files | xargs -I{} git add {}", "find . -exec sh -c 'git log \"$1\"' _ {} \\;",
		}},
	} {
		for _, command := range c.commands {
			t.Run(string(c.dialect)+"/"+command, func(t *testing.T) {
				if !allowed(t, c.dialect, globs, command) {
					t.Errorf("%q is not allowed", command)
				}
			})
		}
	}
}

func TestGlobsMatchWordsNotText(t *testing.T) {
	for _, c := range []struct {
		glob, command string
		want          bool
	}{
		{"git log*", "git log", true},
		{"git log*", "git logx", true},
		{"git log *", "git log", false},
		{"git log*", "'git log' x", false},
		{"git log*", "git 'log x'", true},
		{"git log *", "git 'log x'", false},
		{"git log *", "git l$x", false},
		{"git log *", "git $x", false},
		{"git log *", "git log$IFS-x", false},
		{"git log *", "git {log,push}", false},
		{"git log *", "git log $x", true},
		{"git log *", "git lo? x", false},
		{"rm *.txt", "rm a.txt", true},
		{"rm *.txt", "rm $x.txt", true},
		{"rm *.txt", "rm a.txt$x", false},
		{"rm *.txt", "rm *.txt", true},
		{"rm *.txt", "rm *.t[x]t", false},
		{"git *", "GIT log", false},
		{"git *", "/usr/bin/git log", false},
		{"git *", "./git log", false},
		{"git *", "g\\it log", true},
		{"*", "git log", true},
		{"*", "env git log", false},
		{"*", "eval 'git log'", false},
		{"*", "sh -c 'git log'", false},
		{"*", "alias a=b", false},
		{"alias *", "alias a=b", false},
		{"*", "$x", false},
		{"*", "", false},
		{"*", "x=1", false},
		{"sudo *", "sudo git log", false},
		{"git *", "git -c alias.x=!evil x", false},
		{"git *", "git -c core.pager=evil log", false},
		{"git *", "git -c \"$x\" log", false},
		{"git *", "git $x log", false},
		{"git *", "git --exec-path=x log", false},
		{"git *", "git bisect run evil", false},
		{"git *", "git rebase -x evil main", false},
		{"git *", "git submodule foreach evil", false},
		{"find *", "find . -exec evil {} +", false},
		{"find *", "find . $x", false},
		{"xargs *", "git log | xargs git", false},
		{"tar *", "tar x --to-command=evil", false},
		{"python3 *", "python3 -c \"import os; os.system('evil')\"", false},
		{"test *", "test -v x", false},
		{"test *", "test \"$x\" = y", false},
		{"printf *", "printf \"$x\"", false},
		{"export *", "export PATH=x", false},
		{"export *", "export PATH", false},
		{"set *", "set -- x", false},
		{"set *", "set -a", false},
		{"read *", "read x", false},
		{"docker *", "docker exec web rm -rf x", false},
		{"git *", "git -c core.hooksPath=x log", false},
		{"git *", "git -c alias.mypath='!git log' mypath", true},
		{"git *", "git -c alias.mypath='!evil' mypath", false},
		{"git *", "git log $(git log)", true},
		{"git *", "git log $(git log `git log`)", false},
		{"git *", "git log $", false},
		{"git log *", "git log {a,b", true},
		{"git *", "git {\"log\",push}", false},
		{"cat*", "cat <<\"EOF\"\n$(x)\nEOF", true},
		{"cat*", "cat <<\"$x\"\na\n$x", false},
		{"docker *", "docker ps -a", true},
		{"node *", "node script.js", true},
		{"make*", "make -j 4 all", true},
		{"make*", "make CC=evil", true},
	} {
		t.Run(c.glob+" on "+c.command, func(t *testing.T) {
			if got := allowed(t, shell.AnyShell, []string{c.glob}, c.command); got != c.want {
				t.Errorf("allowed: %t, want %t", got, c.want)
			}
		})
	}
}

func TestEveryPartOfAWrapperIsAllowed(t *testing.T) {
	globs := []string{"git *", "cat *", "command *", "find *", "python3 *", "sh *", "awk *", "env *", "xargs *",
		"timeout *",
		"chrt *", "taskset *"}
	for command, want := range map[string]bool{
		"command git log": true, "command A=b git log": false, "command evil": false,
		"find . -exec cat {} \\;": true, "find . -exec python3 {} \\;": false, "find . -exec git {} \\;": false,
		"timeout 5 git log": true, "timeout 5 evil": false, "chrt -f 10 git log": true, "taskset 1 git log": true,
		"git log | xargs git add": true, "git log | xargs awk": false, "git log | xargs sh": false,
		"git log | xargs env": false, "git log | xargs -i git add {}": true, "git log | xargs -i git {}": false,
		"find . -exec {} \\;": false, "find . -exec sh {} \\;": true, "find . -exec sh -c {} \\;": false,
	} {
		t.Run(command, func(t *testing.T) {
			if got := allowed(t, shell.AnyShell, globs, command); got != want {
				t.Errorf("allowed: %t, want %t", got, want)
			}
		})
	}
}

func TestWordListsMayBeProcessAndText(t *testing.T) {
	for args, want := range map[string]bool{
		`{"command":["git","log"]}`: true, `{"command":["git","log","-n","5"]}`: true,
		`{"command":["git","commit","-m","a b"]}`: true,
		`{"command":["git","log; evil"]}`:         false, `{"command":["git","log",";","evil"]}`: false,
		`{"command":["git","log","$(evil)"]}`: false,
		`{"command":["sh","-c","git log"]}`:   false, `{"command":["sh","-c","git","log"]}`: false,
		`{"command":["git log"]}`:            false,
		`{"command":["PATH=x","git","log"]}`: false, `{"command":["git","log",">","x"]}`: false,
		`{"command":["evil"]}`: false,
		`{"command":[]}`:       false, `{"command":["git","it's"]}`: false, `{"command":["git","\u0001"]}`: false,
	} {
		t.Run(args, func(t *testing.T) {
			got, err := shell.CommandGlob("command", "git *").MatchEvery(agent.ToolCallRequest{Args: []byte(args)})
			if got != want || err != nil {
				t.Errorf("allowed: %t, %v; want %t", got, err, want)
			}
		})
	}
}

func TestDenyingGlobsFindCommandsAnywhere(t *testing.T) {
	for args, want := range map[string]bool{
		`{"command":"git push"}`: true, `{"Command":"cd x; sudo /usr/bin/git push -f"}`: true,
		`{"command":"echo $(git push)"}`: true,
		`{"command":"x=git; $x push"}`:   true, `{"command":"git pus\\h"}`: true, `{"command":"git 'push'"}`: true,
		`{"command":"$'git' push"}`: true, `{"command":"bash -c 'git push'"}`: true, `{"command":["git","push"]}`: true,
		`{"steps":[{"command":"git push"}]}`: true, `{"in":{"COMMAND":"git push"}}`: true, `{"command":"git push '"}`: true,
		`{"command":"git log"}`: false, `{"command":"echo git push"}`: false, `{"text":"git push"}`: false, `{}`: false,
	} {
		t.Run(args, func(t *testing.T) {
			got, err := shell.CommandGlob("command", "git push*").Match(agent.ToolCallRequest{Args: []byte(args)})
			if got != want || err != nil {
				t.Errorf("matches: %t, %v; want %t", got, err, want)
			}
		})
	}
}

func TestAmbiguousArgumentsAreErrors(t *testing.T) {
	for _, args := range []string{
		`{"command":"git log","command":"evil"}`, `{"command":"git log","COMMAND":"evil"}`, `{"command":7}`,
		`{"command":{"a":"b"}}`,
		`{"command":["git",7]}`, `["git log"]`, `null`, `{"command":"git log"`,
	} {
		t.Run(args, func(t *testing.T) {
			glob := shell.CommandGlob("command", "git *")
			call := agent.ToolCallRequest{Args: []byte(args)}
			if ok, err := glob.MatchEvery(call); ok || err == nil {
				t.Errorf("MatchEvery: %t, %v", ok, err)
			}
			if ok, err := glob.Match(call); ok || err == nil {
				t.Errorf("Match: %t, %v", ok, err)
			}
		})
	}
}

func TestNestedArgumentsAloneAreNotAllowed(t *testing.T) {
	for args, want := range map[string]bool{
		`{"command":"git log","x":{"command":"git status"}}`: true, `{"x":{"command":"git log"}}`: false,
		`{"command":"git log","x":{"command":"evil"}}`: false, `{"command":null,"x":{"command":"git log"}}`: false,
	} {
		t.Run(args, func(t *testing.T) {
			got, err := shell.CommandGlob("command", "git *").MatchEvery(agent.ToolCallRequest{Args: []byte(args)})
			if got != want || err != nil {
				t.Errorf("allowed: %t, %v; want %t", got, err, want)
			}
		})
	}
}

// FuzzCommandGlob checks that a rule for git never allows a text that runs evil on a line of its own: an allowed text
// has no open quote, substitution or here-document at its beginning or its end.
func FuzzCommandGlob(f *testing.F) {
	for _, s := range append(evasions[:len(evasions):len(evasions)], harmless...) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, command string) {
		for _, d := range []shell.Dialect{shell.AnyShell, shell.Bash, shell.POSIX} {
			if !allowed(t, d, []string{"git *"}, command) {
				continue
			}
			for _, longer := range []string{command + "\nevil\n", "evil\n" + command, "git log;evil;" + command} {
				if allowed(t, d, []string{"git *"}, longer) {
					t.Errorf("%q is allowed in dialect %q", longer, d)
				}
			}
			if strings.ContainsAny(command, "\r\x00") {
				t.Errorf("%q is allowed in dialect %q", command, d)
			}
		}
	})
}

// With the rules "allow git" and "deny everything else", only commands of git run.
func ExampleCommandGlob() {
	rules := &permission.Rules{Default: permission.Deny, List: []permission.Rule{
		{Tool: "bash", Decision: permission.Allow, Args: shell.CommandGlob("command", "git *").In(shell.Bash)},
	}}
	var hooks agent.Hooks
	hooks.Use(rules)
	for _, command := range []string{
		`git log --oneline | git grep -c x`, `git log; reboot`, `git log "$(reboot)"`, `git log > ~/.bashrc`,
		`PATH=/tmp git log`,
	} {
		args, _ := json.Marshal(map[string]string{"command": command})
		exit, err := hooks.OnPermission.Fire(context.Background(), agent.NewRun(nil),
			agent.ToolCallRequest{Name: "bash", Args: args})
		fmt.Printf("%-35s %T %v\n", command, exit, err)
	}
	// Output:
	// git log --oneline | git grep -c x   agent.Allow <nil>
	// git log; reboot                     agent.Deny <nil>
	// git log "$(reboot)"                 agent.Deny <nil>
	// git log > ~/.bashrc                 agent.Deny <nil>
	// PATH=/tmp git log                   agent.Deny <nil>
}

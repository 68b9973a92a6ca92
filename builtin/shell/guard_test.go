package shell_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/shell"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/loop/looptest"
)

// vote returns the vote of a Guard on arguments, "" if it does not vote.
func vote(t *testing.T, args any) string {
	t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	return fixture.Vote(t, agent.NewRun(nil), &shell.Guard{}, agent.ToolCallRequest{Name: "any", Args: raw})
}

func TestGuardAllowsHarmlessCommands(t *testing.T) {
	for _, command := range []string{
		"", "ls -la", "rm x", "rm -f x", "rm -r x", "rm -i -r x", "rmdir x", "rm -v -- -rf", "git rm -rf --cached x",
		"docker run --rm -f x",
		`git commit -m "rm -rf is gone"`, "git commit -m 'rm -rf /'", `git commit -m "fix (rm -rf x)"`,
		"git clone https://example.org/x", "git commit -F - <<EOF\nrm -rf x\nEOF",
		"git commit -m \"$(cat <<'EOF'\nrm -rf x\nEOF\n)\"",
		`echo "rm -rf /"`, "echo rm -rf /", "echo 'rm -rf /' > notes.txt", "cat > x.md <<EOF\nrm -rf /\nEOF",
		"grep -r 'rm -rf' .", "grep mkfs /var/log/syslog", `grep "DROP TABLE" *.sql`, `echo "DROP TABLE users"`, "man mkfs",
		"which mkfs dd",
		"cat <<'EOF'\n$(rm -rf x)\nEOF", "env sort -S 'rm -rf x' y", "# rm -rf /", "ls # rm -rf /", "echo a#b",
		"command -v rm -rf", `sed -i 's/rm -rf/rm/' x`, `awk '{ print "rm -rf" }' x`, "find . -name rm -print",
		"find . -name '*.go' -exec grep -l x {} +", "find . -name delete",
		"dd if=/dev/sda of=backup.img", "dd if=/dev/zero of=x bs=1M", "dd if=x of=/dev/null", "cat x > /dev/null",
		"ls > /dev/stderr 2>&1", "ls &> /dev/null", "echo a > /dev/tty", "echo a >/dev/pts/0", "cat /dev/sda > x",
		"ls > dev/sda", "cp /dev/sda x",
		"curl https://example.org -o x.html", "curl x | jq .", "curl x | grep bash", "curl x | python -m json.tool",
		"curl x | python3 -c 'import json,sys; print(json.load(sys.stdin))'",
		"curl x | tee sh", "curl x > x.sh",
		"curl x && sh local.sh", "wget x; bash y.sh",
		"curl x | bash y.sh", "echo $(curl x)", "A=$(curl x)", "cat x.sh | sh", `sh -c "echo curl"`,
		"curl x | perl -pe 's/a/b/'", "curl x | node y.js", "diff <(curl a) <(curl b)", "curl -d @- x < y",
		"bash y.sh < <(curl x)",
		"echo /dev/tcp/host/1", "ls /dev/tcp", "grep -r /dev/tcp .", "nc -zv host 1", "nc -l 1234", "nc --help",
		"echo nc -e sh", "ncat --ssl host 1", "python format.py", "format x.go", "clang-format -i x", "npm run format",
		"printf '%s' format c:",
		`psql -c "SELECT 1"`, `psql -c "DROP INDEX x"`, "drop x", "psql -f drop_table.sql",
		`mysql -e "select * from drops"`,
		`print("rm -rf /")`, `console.log("DROP TABLE users")`, `logger.info("rm -rf %s", x)`, `assert "rm -rf" in x`,
		"def clean(path):\n    # don't rm -rf\n    os.remove(path)\n", "it's", `"`, "'", "`", "$(", "$((1+2))", "${", "${a",
		"<<", "<<EOF", "(", ")", "{", "}", "|", "||", ";;", "&&", "\\", "$'", "a(b", "a('b", `x = f(1, "a")`,
		"echo $((2*3)) $[1] ${#a} $$ $!",
		"for i in 1 2 3; do echo $i; done", "cat <<EOF\nrm -rf x\n", "trap - EXIT", "ssh host", "sudo", "sudo -u root",
		"env",
		"xargs", "timeout 5", "watch", "exec 2>&1", "sh -c", "bash -", "source x.sh", ". ./env.sh", "eval $(ssh-agent)",
		"X=rm", "docker rm -f x", "printf", "printf | sh", "printf '%5' | sh", "diskutil", "curl x | bash -x y.sh",
		"find . -exec git checkout {} + -name -f", "git config --replace-all user.name a.b '!rm -rf x'",
		"f() { ls & }; f", "f() { f x; }; f", "f() { ls | sort; }; f", "rm -r build/*.o", "rm -r .next", "rm -r /usr/local/x",
		"chmod 644 -- /etc/x", "terraform destroy -h", "terraform -help",
	} {
		t.Run(command, func(t *testing.T) {
			if got := vote(t, map[string]string{"command": command}); got != "" {
				t.Errorf("denied: %s", got)
			}
		})
	}
}

func TestGuardFindsCommandsInArguments(t *testing.T) {
	for _, c := range []struct {
		args   string
		denied bool
	}{
		{`{"command":"rm -rf /"}`, true}, {`{"cmd":"rm -rf /"}`, true}, {`{"script":"ls\nrm -rf /"}`, true},
		{`{"code":"rm -rf /"}`, true}, {`{"shell_command":"rm -rf /"}`, true},
		{`{"shellCommand":"rm -rf /"}`, true}, {`{"shell-command":"rm -rf /"}`, true}, {`{"C_M_D":"rm -rf /"}`, true},
		{`{"Command":"rm -rf /"}`, true}, {`{"a":{"b":[{"cmd":"rm -rf /"}]}}`, true},
		{`{"command":"ls","command":"rm -rf /"}`, true}, {`{"command":"rm -rf /","command":"ls"}`, true},
		{`{"command":["rm","-rf","/"]}`, true}, {`{"command":["sudo","rm","-rf","/"]}`, true},
		{`{"command":["bash","-c","rm -rf /"]}`, true}, {`{"command":["cd x","rm -rf /"]}`, true},
		{`{"command":["ls",["rm","-rf","/"]]}`, true}, {`{"command":["cd","x","&&","rm","-rf","/"]}`, true},
		{`{"command":"\u0072m -rf /"}`, true}, {`{"x":1,"cmd":null,"command":"rm -rf /"}`, true},
		{`{"x":1e400,"command":"rm -rf /"}`, true}, {`rm -rf /`, true}, {`{"command":"rm -rf /"`, false},
		{`{"text":"rm -rf /"}`, false}, {`{"command":["git","commit","-m","rm -rf /"]}`, true},
		{`{"command":["echo","rm"]}`, false}, {`{"command":{"text":"rm -rf /"}}`, false}, {`{"command":7}`, false},
		{`["rm -rf /"]`, false}, {`"rm -rf /"`, false}, {``, false}, {`{}`, false}, {`{"command":[]}`, false},
		{`{"command":"ls","text":["command","rm -rf /"]}`, false},
		{`{"command":"rm","args":["-rf","/"]}`, true}, {`{"args":["-rf","/"],"command":"rm"}`, true},
		{`{"command":"bash","args":["-c","rm -rf /"]}`, true}, {`{"command":"rm","Arguments":["-rf","/"]}`, true},
		{`{"command":"rm","args":"-rf /"}`, true}, {`{"command":"sudo rm","argv":["-rf","/"]}`, true},
		{`{"command":["rm"],"args":["-rf","/"]}`, true}, {`{"steps":[{"cmd":"rm","args":["-rf","/"]}]}`, true},
		{`{"commands":["ls","rm -rf /"]}`, true}, {`{"commands":["ls","reboot"]}`, true},
		{`{"commands":"rm -rf /"}`, true}, {`{"argv":["rm","-rf","/"]}`, true},
		{`{"command":"rm -rf /"} x`, true}, {`{"x":1}{"command":"rm -rf /"}`, true},
		{`{"command":"rm","args":["-rf","/"]}]`, true},
		{`{"command":"ls","args":["-la"]}`, false}, {`{"args":["rm","-rf","/"]}`, false},
		{`{"args":["x"],` + strings.Repeat(`"command":"ls",`, 100) + `"cmd":"ls"}`, true},
		{`{"command":"rm","x":{"args":["-rf","/"]}}`, false}, {`{"command":"git","args":["log"]} x`, false},
	} {
		t.Run(c.args, func(t *testing.T) {
			call := agent.ToolCallRequest{Name: "x", Args: json.RawMessage(c.args)}
			if got := fixture.Vote(t, agent.NewRun(nil), &shell.Guard{}, call); (got != "") != c.denied {
				t.Errorf("got %q, want denied: %t", got, c.denied)
			}
		})
	}
}

func TestGuardChecksOnlyItsFields(t *testing.T) {
	guard := &shell.Guard{Fields: []string{"run"}}
	other := agent.ToolCallRequest{Args: json.RawMessage(`{"command":"rm -rf /"}`)}
	if got := fixture.Vote(t, agent.NewRun(nil), guard, other); got != "" {
		t.Errorf("an argument that is not in Fields is checked: %s", got)
	}
	own := agent.ToolCallRequest{Args: json.RawMessage(`{"run":"rm -rf /"}`)}
	if got := fixture.Vote(t, agent.NewRun(nil), guard, own); got == "" {
		t.Error("an argument in Fields is not checked")
	}
}

func TestTheReasonNamesTheAllowedCommands(t *testing.T) {
	got := vote(t, map[string]string{"command": "git clone https://example.org/x && rm -rf x/.git && ls"})
	want := `ask: shell guard: "rm -rf x/.git" needs the approval of a person (forced or recursive removal). ` +
		`Name the files to delete in a plain rm. Everything else in the command is still allowed (git clone, ls): ` +
		`without an approval, send it again without it.`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	got = vote(t, map[string]string{"command": "rm -rf x"})
	if !strings.HasSuffix(got, "in a plain rm. Other commands are still allowed.") {
		t.Errorf("got %s", got)
	}
	command := strings.Repeat("tool\x1b[2J"+strings.Repeat("x", 100)+";", 50) + "rm -rf " + strings.Repeat("y", 10_000)
	long := vote(t, map[string]string{"command": command})
	if len(long) > 800 || strings.Contains(long, "\x1b") {
		t.Errorf("got %d bytes: %s", len(long), long)
	}
}

func TestGuardDeniesOversizedCommands(t *testing.T) {
	const want = "deny: shell guard: the command is nested too deeply or too large to be checked"
	for name, command := range map[string]string{
		"subshells":     strings.Repeat("(", 1000) + "rm -rf x" + strings.Repeat(")", 1000),
		"substitutions": strings.Repeat("$(", 1000),
		"in quotes":     strings.Repeat(`"$(`, 1000),
		"defaults":      strings.Repeat("${a:-", 100_000),
		"eval":          strings.Repeat("eval ", 1000) + "rm -rf x",
		"sudo":          strings.Repeat("sudo ", 1000) + "rm -rf x",
		"pipes":         strings.Repeat("sh|", 100_000) + "sh",
	} {
		t.Run(name, func(t *testing.T) {
			if got := vote(t, map[string]string{"command": command}); !strings.HasPrefix(got, want) {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestOtherCallsOfTheReplyContinue(t *testing.T) {
	bash, look := &looptest.Tool{Name: "shell"}, &looptest.Tool{Name: "look"}
	ran := looptest.Harness{
		Turns: []looptest.Turn{
			looptest.Calls(looptest.Call("shell", `{"cmd":"rm -rf x"}`), looptest.Call("look", `{"text":"rm -rf x"}`),
				looptest.Call("shell", `{"cmd":"ls"}`)),
			looptest.Reply("rm -rf x"),
		},
		Tools: []agent.Tool{bash, look}, Hooks: []agent.Hook{&shell.Guard{}},
	}.Run(t, "rm -rf x")
	if got := fixture.Statuses(ran); got != "refused succeeded succeeded" || ran.Reply != "rm -rf x" {
		t.Errorf("the calls: %s; the reply: %q", got, ran.Reply)
	}
}

func TestGuardAppliesAdditionalRules(t *testing.T) {
	noPush := shell.Rule{Name: "no push", Match: func(c *shell.Command) bool {
		return c.Program == "git" && len(c.Args) > 0 && c.Args[0] == "push"
	}}
	guard := &shell.Guard{Rules: append(shell.DefaultRules(), noPush)}
	for command, want := range map[string]string{
		"git push": `deny: shell guard: "git push" is refused (no push). Other commands are still allowed.`, "git pull": "",
	} {
		t.Run(command, func(t *testing.T) {
			args, _ := json.Marshal(map[string]string{"command": command})
			if got := fixture.Vote(t, agent.NewRun(nil), guard, agent.ToolCallRequest{Args: args}); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestInvalidGuardsPanicInUse(t *testing.T) {
	complete := shell.Rule{Name: "all", Match: func(*shell.Command) bool { return true }}
	for _, c := range []struct {
		guard *shell.Guard
		want  string
	}{
		{&shell.Guard{Fields: []string{}}, "Fields is empty"},
		{&shell.Guard{Fields: []string{""}}, "Fields[0] is empty"},
		{&shell.Guard{Rules: []shell.Rule{}}, "Rules is empty"},
		{&shell.Guard{Rules: []shell.Rule{complete, {Name: "x"}}}, "Rules[1] has no Name or no Match"},
	} {
		t.Run(c.want, func(t *testing.T) {
			if got := fixture.UsePanic(c.guard); !strings.Contains(got, "shell.Guard: "+c.want) {
				t.Errorf("panicked with %q, want %q", got, c.want)
			}
		})
	}
	var hooks agent.Hooks
	hooks.Use(&shell.Guard{})
	if list := hooks.OnPermission.List(); len(list) != 1 || list[0].Priority != hookkit.Safety {
		t.Errorf("bound as %+v", list)
	}
}

// A commit message that mentions rm -rf is allowed. A person is asked about rm -rf, and rm -rf / is denied.
func ExampleGuard() {
	var hooks agent.Hooks
	hooks.Use(&shell.Guard{})

	for _, args := range []string{
		`{"command":"git commit -m 'no more rm -rf'"}`,
		`{"command":"make && sudo rm -r -f build"}`,
		`{"command":"sh -c 'rm -rf /'"}`,
	} {
		call := agent.ToolCallRequest{Name: "bash", Args: []byte(args)}
		exit, err := hooks.OnPermission.Fire(context.Background(), agent.NewRun(nil), call)
		switch x := exit.(type) {
		case agent.Deny:
			fmt.Println("denied:", strings.ReplaceAll(x.Reason, ". ", ".\n"))
		case agent.Ask:
			fmt.Println("asked:", strings.ReplaceAll(x.Reason, ". ", ".\n"))
		default:
			fmt.Println(exit, err)
		}
	}
	// Output:
	// <nil> <nil>
	// asked: shell guard: "rm -r -f build" needs the approval of a person (forced or recursive removal).
	// Name the files to delete in a plain rm.
	// Everything else in the command is still allowed (make, sudo rm): without an approval, send it again without it.
	// denied: shell guard: "rm -rf /" is refused (removal or opening of a system, home or current directory).
	// Name the files or directories to change.
	// Everything else in the command is still allowed (sh): send it again without this part.
}

// Parse finds the commands in a script, including those that other commands run.
func ExampleParse() {
	commands, ok := shell.Parse(`cd src && sudo rm "old file" > log`)
	for _, c := range commands {
		fmt.Printf("%s %q writes %q\n", c.Program, c.Args, c.Writes)
	}
	fmt.Println(ok)
	// Output:
	// cd ["src"] writes []
	// sudo ["rm" "old file"] writes ["log"]
	// rm ["old file"] writes ["log"]
	// true
}

package shell_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hookgen/hookgen/builtin/shell"
	"github.com/hookgen/hookgen/generated/agent"
)

// evasions are commands that start another program than git, or write a file, in bash, in dash or in both. evil records
// that it was started.
var evasions = []string{
	`git log "$'$(evil)'"`, `git log "$'` + "`evil`" + `'"`, "git log$IFS#; evil", "git log $x#; evil",
	"git log ${x}#\nevil",
	"git log \"$(git log <<'EOF'\na\nEOF) `evil`\nEOF\n)\"", "git log $(git log <<'EOF'\na\nEOF$(evil)\nEOF\n)",
	"git log \"$(git log <<-EOF\n\tEOF) $(evil)\n\tEOF\n)\"",
	"PATH=evil.d\ngit log", "PATH=evil.d; git log", "PATH=evil.d git log", "export PATH=evil.d; git log",
	"readonly PATH=evil.d; git log",
	"git log > 1", "git log > -", "git log >1", "git log >& -x", "git log >|f", "git log >>f", "git log &>f",
	"git log 2>f", "git log <>f",
	">f git log", ">f; git log", ": >f; git log", "git log >&f", "git log 1>&f", "git log >$x", "git log {fd}>f",
	"git log 12>f",
	"git log; evil", "git log;evil", "git log&evil", "git log & evil", "git log && evil", "git log || evil",
	"git log | evil", "git log\nevil",
	"git log |& evil", "evil; git log", "git log $(evil)", "git log `evil`", `git log "$(evil)"`, "git log \"`evil`\"",
	"git log ${x:-$(evil)}",
	"git log ${x:=$(evil)}", "git log $((`evil`))", "git log $(($(evil)))", "git log <(evil)", "git log >(evil)",
	"git log < <(evil)",
	"git() { evil; }; git log", "git () evil\ngit log", "function git { evil; }; git log", "alias git=evil\ngit log",
	"alias git=evil; eval 'git log'",
	"eval evil; git log", "command evil; git log", "exec evil", "builtin eval evil; git log", ". ./evil; git log",
	"source ./evil; git log",
	"trap evil EXIT; git log", "trap evil 0; git log", "hash -p ./evil git; git log", "enable -n echo; git log",
	"env evil; git log",
	"x=evil; $x; git log", "${x:-evil}; git log", "${x-evil} log", "$(echo evil)", "git\\\nlog; evil", "'git' log; evil",
	"gi''t log;evil",
	"x='a[$(evil)]'; git log $((x))", "x='a[$(evil)]'; git log ${a[x]}", "x='a[$(evil)]'; git log ${y:x}",
	"x='$(evil)'; git log ${x@P}",
	"x='a[$(evil)]'; git log ${!x}", "[[ -v 'a[$(evil)]' ]]; git log", "x='a[$(evil)]'; [[ x -eq 1 ]]; git log",
	"((x[$(evil)]=1)); git log",
	"test -v 'a[$(evil)]'; git log", "printf -v 'a[$(evil)]' x; git log", "printf 'evil.%n' PATH; git log",
	"read 'a[$(evil)]' <<< 1; git log",
	"let 'a[$(evil)]=1'; git log", "declare 'a[$(evil)]=1'; git log", "unset 'a[$(evil)]'; git log",
	"a[$(evil)]=1; git log",
	"for PATH in evil.d; do git log; done", "for ((i=0;i<$(evil);i++)); do git log; done",
	"select x in $(evil); do git log; done </dev/null",
	"case $(evil) in *) git log;; esac", "case x in $(evil)) git log;; x) evil;; esac", "if evil; then git log; fi",
	"while evil; do git log; done",
	"(evil); git log", "{ evil; }; git log", "! evil; git log", "time evil; git log", "coproc evil; git log",
	"git log <<EOF\n$(evil)\nEOF",
	"git log <<'EOF'\nEOF\nevil", "git log <<-EOF\n\tEOF\nevil", "git log <<EOF\n`evil`\nEOF",
	"git log <<\"E\\OF\"\nE\\OF\nevil", "git log <<$x\n$x\nevil",
	"git log # x \\\nevil", "git log # x\nevil", "git log #\\\nevil", "git log \\# x; evil", "git log x\r#; evil",
	"git log \\\r\nevil", "git log\r\nevil",
	`git log $(git log "a"#b; evil)`, "git log $(git log a#b\nevil)", `git log $(git log ''# "` + "\n" + `evil) # " )`,
	"git log \"${x:-'}\"; evil #'}\"",
	"git log ${x:-'}'}; evil", "git log '\\'; evil #'", `git log "\\"; evil #"`, "git log $\"x\"; evil",
	"git log $[$(evil)]",
	"PROMPT_COMMAND=evil; git log", "BASH_ENV=./evil git log", "ENV=./evil git log", "LD_PRELOAD=./x git log",
	"IFS=g; x=evilgit; $x log", "PS4='$(evil)'; set -x; git log",
	"SHELLOPTS=xtrace PS4='$(evil)' git log", "set -x; PS4='$(evil)'; git log", "git{,-evil} log; evil",
	"{evil,x}; git log", "e{v,}il; git log", "evi? x; git log", "./ev*; git log",
	"~/evil; git log", "git log ~/x; ~/evil", "echo evil | sh; git log", "git log | sh", "git log | { evil; }",
	"git log;;evil", "git log; (evil", "git log )evil",
	"git log ]] && evil", "[[ x ]] && evil; git log", "!(evil); git log", "@(evil); git log", "git log @(x); evil",
	"git log !(x)\nevil", "shopt -s extglob\ngit log @(\n)evil",
	"set -- evil; $1; git log", "set -- evil; \"$@\"; git log", "git log ${@:-evil}; $@", "jobs -x evil; git log",
	"git log \x00; evil", "git log \v; evil", "git log\u00a0; evil", "git log \u2028evil",
	"f() if evil; then git log; fi; f", "cd evil.d; ./git log", "git log && ./git", "../evil; git log",
	"git log\\\n; evil", "git \\\n\\\nlog; evil", "\\git log; \\evil",
	"git log ${x#$(evil)}", "git log ${x%`evil`}", "git log ${x/$(evil)/}", "git log ${#x$(evil)}",
	"git log ${x?$(evil)}", "git log \"${x+\"$(evil)\"}\"", "git log ${ evil; }", "git log ${|evil;}",
	"fc -s evil; git log", "history -s evil; git log", "bind -x '\"x\": evil'; git log", "complete -C evil git; git log",
	"compgen -C evil x; git log", "mapfile -C evil -c 1 <<< x; git log",
	"umask $(evil); git log", "ulimit `evil`; git log", "wait $(evil); git log", "exit $(evil); git log",
	"return $(evil) 2>/dev/null; git log", "type $(evil); git log", "git log 2>$(evil)",
	"git log <$(evil)", "git log <<<$(evil)", "git log <<< \"`evil`\"", "local x=$(evil); git log",
	"typeset -n git=evil; git log", "git log 3<>f", "git log <&3 3>f", "git log >/dev/null/../f",
	"exec 3>f; git log >&3", "exec >f; git log", "x=$(evil) git log", "x=`evil`; git log", "a=(evil $(evil)); git log",
	"git log & wait; evil", "git log &evil&", "git log|evil|git log", "git log\n\n\nevil\n",
	"if git log; then git log; else evil; fi", "until git log; do evil; break; done", "git log || { git log; evil; }",
	"case x in (x) evil;; esac; git log", "case x in x) git log;& y) evil;; esac",
	"sh -c -- '-x; evil' 'git log'", "sh -c -$- '-x; evil' 'git log'", "sh $X evil", "sh -c - evil",
	"sh -c -o evil 'evil'",
	"xargs --max-lines evil git log", "xargs --replace evil git log", "xargs --process-slot-var git evil",
	"xargs --process-slot-var=PATH git log", "xargs --arg git evil", "xargs -I git git log", "xargs -Ig git log",
	"echo alias.log=!evil | xargs git -c", "env --uns git evil", "flock --timeout 5 git evil", "strace -P git evil",
	"env -vSevil", "env --sp=evil", "env --split-string 'evil'", "env - evil", "nice --adj 5 evil git log",
	"timeout --sig git evil 5 git", "stdbuf --out git evil", "setsid --wa evil git log", "chroot --userspec git evil git",
	"printf '%ln' PATH; git log", "printf '%hn%zn' PATH PATH; git log", "printf '%-5Ln' IFS; git log",
	"find . -exec sh -c 'git log {}' \\;", "find . -exec sh -c 'git log \"$0\" {}' x \\;", "find . -exec {} \\;",
	"find . -exec git -c {} log \\;", "find . -exec env -u + evil \\;", "find . -execdir sh -c {} \\;",
	"hash -p ./evil git; git log", "git() { evil; }; git log", "git log {fd}>f", "git log >|f", "git log &>>f",
	"git log <>f", "trap evil DEBUG; git log", "trap evil EXIT; git log", "set -k; git log PATH=evil.d",
	"coproc x { evil; }; git log", "x='a[$(evil)]'; git log $((x))", "git log ${x:=evil}; $x",
	"x=evil; git log ${!x}; ${x@E}",
	"select x in a; do evil; done </dev/null; git log", "git log |& evil", "git log <<A <<B\nx\nA\n$(evil)\nB",
	"enable -n echo; git log; evil", "git log >(evil)", "git log $'\\x27'; evil #'", "git log > >(evil)",
	"echo x >&f; git log",
	"git log 2>f", "eval git log \\; evil", "eval 'git log' '; evil'", "command -p evil; git log", "exec -a git evil",
	"env -- evil", "env -i -- PATH=evil.d git log", "xargs -a evil evil", "timeout 5 -- evil", "find . -okdir evil \\;",
	"nice -- evil", "cd evil.d && ./git log", "PATH+=:evil.d; git log", "export PATH=evil.d; git log",
	"CDPATH=. git log", "GLOBIGNORE=x git log", "git log & disown; evil", "[[ -f $(evil) ]]; git log",
	"((x=$(evil))); git log",
	"find . -exec git log \\; -exec evil {} +", "fd -xevil", "fd --exec=evil", "fd -HIx evil", "fd -x git -c",
}

// harmless are commands that rules for git and a few others allow.
var harmless = []string{
	"git log", "git status --short", "git log --oneline -n 5", `git commit -m "fix it"`, "git commit -m 'it is'",
	"git log | git log", "git log && git status",
	"git log; git status", "git log\ngit status", "(git log)", "{ git log; }", "git log 2>&1", "git log >/dev/null 2>&1",
	"git log </dev/null", "git show HEAD@{1}", "git log $(git log)",
	`git log "$(git log "x y")"`, "git log $x \"$y\" ${z:-1}", "for f in a b; do git add \"$f\"; done",
	"if git log; then git log; fi", "while git diff; do git log; done", "git log & git status",
	"git commit -m \"$(git log <<'EOF'\nit's (done) `x` $(x)\nEOF\n)\"", "git log <<EOF\n$x\nEOF",
	"git log a#b '#' \"#\" # c", "git log *.go [a-z]? {a,b}", "git log \\\n  --oneline", "! git log",
	"x=1; git log $x", "LANG=C git log", "case $x in a|b) git log;; *) git status;; esac", "git log $((1 + 2))",
	"git log ${x%/*} ${x##*.} ${#x}", "git log a\\ b \\; \\' \\\" '\\'", "git log ~ ~/x", "git log <<-EOF\n\tx\n\tEOF",
	"git log 'a\nb' \"c\nd\"", "git log -- \"it's\" 'say \"x\"'", "time git log", "[[ -f x && $x == a ]] && git log",
	"git log $'a\\tb'", "git log <(git log)", "git log <<< x", "git log &>/dev/null",
	"export LANG=C; git log", "set -e; git log", "command git log", "eval 'git log'", "git log | cat | git log",
	"cat <<EOF | git log\nx\nEOF", "echo a | git log", "printf '%s\\n' a; git log", "test -f a && git log",
	"cd a; git log", "export a; git log",
}

// wrapped are commands of wrappers that rules for git and the wrappers allow.
var wrapped = []string{
	"env git log", "env -i LANG=C git log", "env -u x git log", "echo a | xargs git log", "echo a | xargs -n 1 git log",
	"echo a | xargs -I{} git log {}", "echo a | xargs -0 -r --max-args=1 git log", "nice -n 5 git log",
	"timeout -k 1 5 git log", "timeout --signal=KILL 5 git log", "flock -w 1 x git log", "stdbuf -oL git log",
	"setsid -w git log", "find . -name x -exec git log {} +", "find . -exec sh -c 'git log \"$1\"' _ {} \\;",
	"find . -maxdepth 0 -exec git log \\;",
}

// wrapperOptions are drawn between the words of such commands.
var wrapperOptions = []string{
	" -n ", " -I ", " -i ", " -P ", " -s ", " -a ", " -k ", " -u ", " -w ", " -o ", " -S", " -vS", " - ", " -- ", " {} ",
	" + ", " --max-lines ", " --replace ", " --arg-file ", " --arg ", " --eof ", " --uns ", " --unset ", " --sp=", " 5 ",
	" --split-string ", " --process-slot-var ", " --timeout ", " --signal ", " --adj ", " --adjustment ", " --output ",
	" --wait ", " -exec ", " \\; ", " sh -c ", " evil ", " git ", " log ",
}

// pieces are inserted into commands.
var pieces = []string{
	">|f", "&>>f", "<>f", "{fd}>f", ">&f", ">&$x", "|&", ";;&", ";&", "coproc ", "coproc x { evil; }",
	"select x in a; do ",
	"until ", "time -p ", "function f { evil; }", "[[ a =~ ", "]] ", "${!x}", "${x@P}", "${x@Q}", "${x:=evil}",
	"${x//a/evil}",
	"${x^^}", "${@:1}", "$[1]", "$((x[$(evil)]))", "$((1))", "~+", "~-", "~x", "!!", "!git", "%1", "=git", "builtin ",
	"trap evil DEBUG\n", "trap evil EXIT; ", "printf -v x ", "[ -v ", "test -v ", "mapfile ", "enable -f x x; ",
	"shopt -s extglob\n", "set -k; ", "set -a; ", "hash -p ./evil git; ", "alias git=evil\n", "unset -f git; ",
	"<<A <<B\n",
	"\nA\n", "\nB\n", "$'\\n'", "$'\\x27'", "\u00a0", "\u2028", "\ufeff", "\x01", "\x7f", "BASH_ENV=evil ", "IFS=g ",
	"git() { evil; }; ", "1>f", "2>f", "3>&1", "<&-", ">&-", "<(git log)", ">(evil)", "{1..3}", "[g]it", "g?t", "\\\n",
	"'", `"`, `\`, "$", "`", "#", "\n", "(", ")", "{", "}", " ", ";", "&", "|", "<", ">", "!", "*", "?", "[", "]", "=",
	"~", "a", "1", "-", "\r", "\t", ",", ":", "%", "^", "@", "\v", "é",
	"$(", "${", "$((", "))", "<<", "<<-", "<<<", ">>", "&&", "||", ";;", "[[", "]]", "((", "$'", "$\"", "\\\n", " #",
	"# ", "$x", "\"$x\"", "$IFS", "EOF", "<<EOF\n", "\nEOF\n", "evil", " evil ", ";evil", "\nevil\n", "$(evil)",
	"`evil`", "git log", " git ", "PATH=evil.d ", "x=", "for x in ", "; do ", "; done", "if ", "; then ", "; fi",
	"case ", " in ", ";; esac", "function ", "() ", "export ", "eval ", "time ", "! ", "<(evil)", ">f", ">/dev/null",
	"2>&1", "&>", "{a,b}", "''", `""`, "$()", "${x}", "${x:-", "$1", "$@", "$#", "~/", "./", "/",
}

// rulesTried are the globs of the rules under test.
var rulesTried = [][]string{
	{"git *"}, {"git *", "cat *", "echo *"}, {"git *", "printf *", "test *", "[ *"}, {"git*", "export *", "set *",
		"cd *"}, {"git *", "command *", "eval *", "exec *", "trap *"},
	wrapperRules,
}

var wrapperRules = []string{"git *", "echo *", "printf *", "env *", "xargs *", "nice *", "timeout *", "flock *",
	"stdbuf *", "setsid *", "strace *", "chroot *", "find *", "fd *", "sh *"}

// drawn returns a command: a few known ones, glued and changed at random.
func drawn(r *rand.Rand) string {
	pick := func(list []string) string { return list[r.IntN(len(list))] }
	text := pick(harmless)
	switch r.IntN(5) {
	case 0:
		text = pick(evasions)
	case 1:
		text += pick([]string{"\n", "; ", " && ", " | ", " & ", " ", "\n#", ";"}) + pick(harmless)
	case 2:
		words := strings.SplitAfter(pick(wrapped), " ")
		for range 1 + r.IntN(2) {
			words = slices.Insert(words, r.IntN(len(words)+1), pick(wrapperOptions))
		}
		return strings.Join(words, "")
	case 3:
		text = pick(harmless) + pick([]string{"\n", "; ", " && ", " "}) + pick(evasions)
	}
	for range r.IntN(4) {
		at := r.IntN(len(text) + 1)
		switch r.IntN(3) {
		case 0:
			text = text[:at] + pick(pieces) + text[at:]
		case 1:
			end := min(len(text), at+1+r.IntN(4))
			text = text[:at] + text[end:]
		default:
			end := min(len(text), at+1+r.IntN(6))
			to := r.IntN(len(text) + 1)
			text = text[:to] + text[at:end] + text[to:]
		}
	}
	return text
}

// A trial is a directory in which commands run, with a PATH that contains only programs of the test.
type trial struct{ work, bin, log string }

func newTrial(t *testing.T) trial {
	t.Helper()
	dir := t.TempDir()
	w := trial{filepath.Join(dir, "work"), filepath.Join(dir, "bin"), filepath.Join(dir, "log")}
	write := func(file, script string, mode os.FileMode) {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(script), mode); err != nil {
			t.Fatal(err)
		}
	}
	record := "#!/bin/dash\necho \"$0\" >>'" + w.log + "'\n"
	for program := range strings.FieldsSeq("evil reboot rm ls bash dash a b x 1 EOF log git-evil") {
		write(filepath.Join(w.bin, program), record, 0o755)
	}
	for _, program := range []string{"git", "cat"} {
		write(filepath.Join(w.bin, program), "#!/bin/dash\necho evil ./evil\n[ \"$1\" = log ]\n", 0o755)
	}
	for program := range strings.FieldsSeq("sh env xargs nice timeout flock stdbuf setsid find") {
		if file, err := exec.LookPath(program); err == nil {
			if err := os.Symlink(file, filepath.Join(w.bin, program)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, file := range []string{"evil", "git", "x", "a;evil", "evil.d/git", "evil.d/evil", "5/git", "7/git", "a.go"} {
		write(filepath.Join(w.work, file), record, 0o755)
	}
	return w
}

// state returns the files of the working directory with their contents, and the programs that were started.
func (w trial) state(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(w.work, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			data, err := os.ReadFile(path)
			fmt.Fprintf(&b, "%s %d %v\n", path, len(data), err)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	started, _ := os.ReadFile(w.log)
	return b.String() + string(started)
}

// run runs a command in a shell.
func (w trial) run(program, command string) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "-c", command)
	cmd.Dir, cmd.Env = w.work, []string{"PATH=" + w.bin, "HOME=" + w.work}
	cmd.WaitDelay = time.Second
	_ = cmd.Run() // most commands fail, or are cut off
}

func allowed(t *testing.T, d shell.Dialect, globs []string, command string) bool {
	t.Helper()
	args, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		t.Fatal(err)
	}
	ok, err := shell.CommandGlob("command", globs...).In(d).MatchEvery(agent.ToolCallRequest{Args: args})
	return ok && err == nil
}

// runsScript matches sh with a script file. A rule for sh covers the commands of the file.
var runsScript = regexp.MustCompile(`\bsh(?:<<<\s*\S+)?(?:\s+-[abd-zA-Z]*)*(?:\s+--?\s+\S|\s+[^-\s])`)

// Commands that a rule allows are run in real shells. None of them may start a program that the rule does not name, or
// write a file. HOOKGEN_SHELL_RUNS sets the number of commands; lab/README.md describes long runs.
func TestAllowedCommandsStartNothingElse(t *testing.T) {
	shells := map[string]string{}
	for _, name := range []string{"bash", "dash"} {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Skipf("the test needs bash and dash: %v", err)
		}
		shells[name] = path
	}
	runs := 1200
	if n, err := strconv.Atoi(os.Getenv("HOOKGEN_SHELL_RUNS")); err == nil {
		runs = n
	}
	type attempt struct {
		dialect shell.Dialect
		globs   []string
		command string
	}
	attempts := make(chan attempt)
	go func() {
		defer close(attempts)
		r := rand.New(rand.NewPCG(1, uint64(runs)))
		known := slices.Concat(evasions, harmless, wrapped)
		seen := make(map[string]bool)
		for n := 0; n < runs; {
			command := drawn(r)
			if len(known) > 0 {
				command, known = known[0], known[1:]
			}
			for _, d := range []shell.Dialect{shell.AnyShell, shell.Bash, shell.POSIX} {
				globs := rulesTried[r.IntN(len(rulesTried))]
				if r.IntN(2) == 0 {
					globs = wrapperRules
				}
				if key := string(d) + command; !seen[key] && !runsScript.MatchString(command) && allowed(t, d, globs, command) {
					seen[key] = true
					attempts <- attempt{d, globs, command}
					n++
				}
			}
		}
	}()
	var started, harmful atomic.Int64
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		w := newTrial(t)
		workers.Go(func() {
			before := w.state(t)
			for a := range attempts {
				for name, path := range shells {
					if a.dialect == shell.Bash && name != "bash" || a.dialect == shell.POSIX && name != "dash" {
						continue
					}
					w.run(path, a.command)
					started.Add(1)
					after := w.state(t)
					if after != before && !isLock(a.command, difference(before, after)) {
						harmful.Add(1)
						t.Errorf("%s: %q is allowed by %q in dialect %q, and changed\n%s", name, a.command, a.globs, a.dialect,
							difference(before, after))
					}
					before = after
				}
			}
		})
	}
	workers.Wait()
	t.Attr("tried", strconv.FormatInt(started.Load(), 10))
	t.Attr("kept", strconv.FormatInt(started.Load()-harmful.Load(), 10))
}

// isLock reports whether a difference is the empty file that flock creates as its lock. A rule for flock covers that.
func isLock(command, difference string) bool {
	file, ok := strings.CutSuffix(difference, " 0 <nil>\n")
	if !ok || strings.Contains(file, "\n") {
		return false
	}
	lock := regexp.MustCompile(`\bflock\s[^;|&<>]*` + regexp.QuoteMeta(filepath.Base(file)) + `\s`)
	return lock.MatchString(command)
}

// difference returns the lines of after that before lacks.
func difference(before, after string) string {
	var b bytes.Buffer
	for line := range strings.SplitSeq(after, "\n") {
		if !strings.Contains(before, line+"\n") {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

func TestLocksOfFlockAreNoEvasions(t *testing.T) {
	for command, want := range map[string]bool{
		"flock gvi git log": true, "flock --timeout 5 gvi git el": true, "flock x git log > gvi": false,
		"git log gvi x": false, "flock x; git gvi log": false,
	} {
		t.Run(command, func(t *testing.T) {
			if got := isLock(command, "/tmp/gvi 0 <nil>\n"); got != want {
				t.Errorf("got %t", got)
			}
			if isLock(command, "/tmp/gvi 5 <nil>\n") || isLock(command, "/tmp/gvi 0 <nil>\n/tmp/x 0 <nil>\n") {
				t.Error("another change is a lock")
			}
		})
	}
}

func TestTheTrialNoticesEvasions(t *testing.T) {
	for _, command := range []string{
		"evil", "./evil", "git log; evil", "PATH=evil.d; git log", ">f", "git log $(evil)", "x() { git log >f; }; x",
	} {
		t.Run(command, func(t *testing.T) {
			program, err := exec.LookPath("dash")
			if err != nil {
				t.Skip(err)
			}
			w := newTrial(t)
			before := w.state(t)
			if w.run(program, command); w.state(t) == before {
				t.Errorf("%q left no trace", command)
			}
		})
	}
}

func TestEvasionsAreNotAllowed(t *testing.T) {
	for _, command := range evasions {
		t.Run(command, func(t *testing.T) {
			for _, d := range []shell.Dialect{shell.AnyShell, shell.Bash, shell.POSIX} {
				for _, globs := range [][]string{{"git *"}, wrapperRules} {
					if allowed(t, d, globs, command) {
						t.Errorf("%q is allowed by %q in dialect %q", command, globs, d)
					}
				}
			}
		})
	}
}

package shell

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/kit"
)

// command reads a command and the commands that it runs, for example the rm in sudo rm. It returns the output of the
// command if the text contains it.
func (r *reader) command(words []word, in flow) string {
	if r.depth++; r.depth > maxNesting {
		r.exceeded = true
	}
	defer func() { r.depth-- }()
	for len(words) > 0 && isAssignment(words[0].text) { // as in env A=b make
		if r.strict {
			if in.parent == nil || !setsVariables[in.parent.Program] {
				r.refuse(errUnreadable) // the name of a program
			}
			name, value, _ := strings.Cut(words[0].text, "=")
			r.strictAssignment(name, value, words[0].isStatic())
		} else {
			r.environment(words[0].text)
		}
		words = words[1:]
	}
	if len(words) == 0 || !r.spend(len(words)+len(in.before)+len(in.writes)+len(in.reads)) {
		return ""
	}
	c := &Command{
		Program: programOf(words[0].text), Args: textsOf(words[1:]), words: words, Stdin: in.stdin,
		Writes: slices.Clip(in.writes), Reads: slices.Clip(in.reads), dirs: r.dirs, parent: in.parent,
		input: in.before,
	}
	r.found = append(r.found, c)
	in.parent = c
	r.runs(c, in)
	r.hidden(c, in)
	r.changesShell(c)
	r.renames(c)
	r.renamed(c, in)
	output := c.output()
	r.writes(c, in, output)
	return output
}

// setsVariables are the programs whose arguments can set variables for the command that they run.
var setsVariables = kit.Set("env", "sudo", "doas")

var assignment = regexp.MustCompile(`^(?:[A-Za-z_][A-Za-z0-9_]*\+?|BASH_FUNC_[^=]*)=`)

// isAssignment reports whether a word sets a variable, as in A=b.
func isAssignment(text string) bool { return assignment.MatchString(text) }

// changesShell notes the effects of a command on later ones.
func (r *reader) changesShell(c *Command) {
	switch {
	case r.strict:
	case c.Program == "read" && len(c.Args) > 0:
		name := c.Args[len(c.Args)-1]
		if r.by[name] = c.input; c.Stdin != "" {
			r.values[name] = strings.TrimSpace(c.Stdin)
		}
	case c.Program == "set" && len(c.Args) > 0:
		args := c.Args
		if at := slices.Index(args, "--"); at >= 0 {
			args = args[at+1:]
		}
		if len(args) == 0 || !strings.HasPrefix(args[0], "-") && !strings.HasPrefix(args[0], "+") {
			r.lists["@"], r.lists["*"] = args, args
		}
	case changesDirectory[c.Program]:
		r.enters(c)
	case c.Program == "ln" || c.Program == "mount":
		r.dirs = []string{"?"} // a path can now lead anywhere
	}
}

// enters notes that the next commands run in another directory, or in the same one if cd fails.
func (r *reader) enters(c *Command) {
	args := slices.DeleteFunc(slices.Clone(c.Args), func(arg string) bool {
		return len(arg) > 1 && arg[0] == '-' && strings.Trim(arg[1:], "LPe@n-") == ""
	})
	dirs := slices.Clone(r.dirs)
	for _, d := range r.dirs {
		switch {
		case len(args) != 1 || strings.ContainsAny(args[0], "$*?[~") || args[0] == "" || args[0] == "-":
			d = "?"
		case strings.HasPrefix(args[0], "/"):
			d = args[0]
		case d != "?":
			d += "/" + args[0]
		}
		if !slices.Contains(dirs, d) {
			dirs = append(dirs, d)
		}
	}
	if len(dirs) > maxDirs {
		dirs = []string{"?"}
	}
	r.dirs = dirs
}

// runs reads the commands that a command runs.
func (r *reader) runs(c *Command, in flow) {
	from := len(r.found)
	switch program := c.Program; {
	case shells[program]:
		r.shell(c, in)
	case program == "eval":
		c.executes(c.words[1:]...)
		c.executesOutput(r.script(c, 0, len(c.Args)))
	case evaluates[program]: // of PowerShell
		c.executes(c.words[1:]...)
		c.executesOutput(in.before)
		c.executesOutput(r.script(c, 0, len(c.Args)))
	case program == "source" || program == ".":
		switch {
		case len(c.Args) == 0:
		case isStdin(c.Args[0]):
			c.executesOutput(in.before)
			r.stdinScript(c)
		default:
			r.runsFile(c, c.words[1], true)
		}
	case interpreters[interpreterOf(program)]:
		r.interpreter(c, in)
	case scriptFirst[program]:
		r.programText(c, in)
	case program == "find" || program == "fd" || program == "fdfind":
		r.find(c, in)
	case program == "git":
		r.git(c)
	case program == "alias":
		for _, arg := range c.Args {
			if _, value, ok := strings.Cut(arg, "="); ok {
				r.text(value)
			}
		}
	case runners[program] || strings.HasPrefix(program, "ld-linux"):
		r.runner(c, in)
	default:
		r.wrapped(c, in)
		r.runsFile(c, c.words[0], true)
	}
	if c.isUnknown() && !r.strict { // curl x | $shell
		c.executes(c.words[0])
		c.executesOutput(in.before)
		r.stdinScript(c)
	}
	if remote[c.Program] {
		for _, inner := range r.found[from:] {
			inner.dirs = []string{"?"}
		}
	}
}

// remote are programs whose commands run on another machine or see other files.
var remote = kit.Set("ssh", "docker", "podman", "kubectl", "oc", "nerdctl", "chroot", "nsenter", "lxc", "vagrant")

// evaluates are programs of PowerShell that run a text or their input.
var evaluates = kit.Set("iex", "invoke-expression", "invoke-command", "icm")

// script reads the arguments from the index from up to the index to, joined by blanks, as a script.
func (r *reader) script(c *Command, from, to int) []*Command {
	if r.strict && !allStatic(c.words[1+from:1+to]) {
		r.refuse(errUnreadable)
		return nil
	}
	return r.text(strings.Join(c.Args[from:to], " "))
}

func allStatic(words []word) bool {
	return !slices.ContainsFunc(words, func(w word) bool { return !w.isStatic() })
}

// executes records that the command runs the output of the substitutions in words.
func (c *Command) executes(words ...word) {
	for _, w := range words {
		c.executesOutput(w.outputs)
	}
}

// executesOutput records that the command runs the output of others. Long lists are not copied.
func (c *Command) executesOutput(others []*Command) {
	if len(c.Executes) == 0 {
		c.Executes = slices.Clip(others)
	} else {
		c.Executes = append(c.Executes, others...)
	}
}

// shells are programs that run shell scripts.
var shells = kit.Set("sh", "bash", "zsh", "dash", "ksh", "ksh93", "mksh", "ash", "fish", "csh", "tcsh", "rbash",
	"yash")

// shell reads the commands that a shell runs: the text after -c, or else the standard input unless a file is given.
func (r *reader) shell(c *Command, in flow) {
	stdin, isScript, ended := false, false, false // ended: no more options follow
	for i := 0; i < len(c.Args); i++ {
		arg := c.Args[i]
		switch {
		case isStdin(arg) && !isScript && !ended:
			stdin = true
			i = len(c.Args)
		case !ended && (arg == "--" || arg == "-" && isScript):
			ended = true
		case len(arg) > 1 && arg[0] == '+' && !ended:
			isScript = isScript || strings.Contains(arg, "c")
			i += strings.Count(strings.ToLower(arg), "o")
		case arg == "--rcfile", arg == "--init-file":
			if i++; i < len(c.Args) {
				r.runsFile(c, c.words[i+1], true)
			}
		case arg == "--command" || strings.HasPrefix(arg, "--command="): // of fish
			_, text, joined := strings.Cut(arg, "=")
			if !joined && i+1 < len(c.Args) {
				text = c.Args[i+1]
			}
			c.executesOutput(r.text(text))
			return
		case strings.HasPrefix(arg, "--") && !ended:
		case len(arg) > 1 && arg[0] == '-' && !ended:
			stdin = stdin || strings.Contains(arg, "s")
			isScript = isScript || strings.Contains(arg, "c")
			i += strings.Count(strings.ToLower(arg), "o") // the values of -o and -O
		case isScript:
			c.executes(c.words[i+1])
			if arg == "{}" { // xargs -I {} sh -c {}
				r.stdinScript(c)
			}
			if !r.strict && strings.Contains(arg, "$") { // sh -c '"$@"' _ rm
				lists := r.lists
				r.lists = maps.Clone(lists)
				r.lists["@"] = c.Args[min(i+2, len(c.Args)):]
				r.lists["*"] = r.lists["@"]
				defer func() { r.lists = lists }()
			}
			c.executesOutput(r.script(c, i, i+1))
			return
		default: // a script file, or a process substitution
			r.runsFile(c, c.words[i+1], true)
			if !stdin {
				return
			}
			i = len(c.Args)
		}
	}
	if isScript {
		return // the script is missing
	}
	if r.strict && (c.Stdin == "" || len(in.before) > 0) {
		r.refuse(errUnreadable)
		return
	}
	for _, program := range in.before { // python -c 'print("ls")' | sh
		r.printed(program)
	}
	c.executesOutput(in.before)
	r.stdinScript(c)
}

// stdinScript reads the input of a command as a script.
func (r *reader) stdinScript(c *Command) {
	if c.Stdin != "" {
		c.executesOutput(r.text(c.Stdin))
	}
}

// interpreters are programs that run scripts in other languages.
var interpreters = kit.Set("python", "pypy", "perl", "ruby", "node", "nodejs", "php", "lua", "luajit", "deno", "bun",
	"osascript",
	"pwsh", "powershell", "rscript", "tclsh", "ipython", "groovy", "julia", "elixir", "expect", "tsx", "ts-node", "r",
	"erl",
	"scala", "guile", "sbcl", "ocaml", "racket", "octave", "ghc", "jshell", "m4")

// codeOptions are the letters of options of interpreters whose value is code, a module or a file.
const codeOptions = "cemrpCEF"

// interpreterOf returns the name of a program without a version: python for python3.12.
func interpreterOf(program string) string { return strings.TrimRight(program, "0123456789.-") }

// interpreter records the commands whose output an interpreter runs, and reads the commands in its script.
func (r *reader) interpreter(c *Command, in flow) {
	code := false
	for i := 0; i < len(c.Args); i++ {
		arg := c.Args[i]
		lower := strings.ToLower(arg)
		switch {
		case isStdin(arg):
			i = len(c.Args)
		case len(lower) > 2 && strings.HasPrefix("-encodedcommand", lower) && i+1 < len(c.Args):
			r.text(decodedUTF16(c.Args[i+1]))
			return
		case strings.HasPrefix(arg, "--eval="), strings.HasPrefix(arg, "--print="):
			_, text, _ := strings.Cut(arg, "=")
			r.foreign(text)
			code = true
		case arg == "eval" && i == 0, len(arg) > 1 && arg[0] == '-' && strings.ContainsAny(arg, codeOptions):
			code = true // a program, a module or a file, in the next word or in the rest of this one
			r.foreign(strings.TrimLeft(strings.TrimPrefix(arg, "eval"), "-"+codeOptions))
			if i+1 < len(c.Args) && !strings.HasPrefix(c.Args[i+1], "-") {
				i++
				c.executes(c.words[i+1])
				r.foreign(c.Args[i])
			}
		case len(arg) > 1 && arg[0] == '-':
		default:
			r.runsFile(c, c.words[i+1], false)
			return
		}
	}
	if code {
		return
	}
	c.executesOutput(in.before)
	if c.Stdin != "" {
		r.foreign(c.Stdin)
	}
}

// scriptFirst are programs whose first argument is a program in a language that can run commands.
var scriptFirst = kit.Set("awk", "gawk", "mawk", "nawk", "sed", "gsed", "vim", "vi", "nvim", "ex", "view", "emacs")

// programText reads the commands in the programs that awk, sed and editors receive as arguments.
func (r *reader) programText(c *Command, in flow) {
	switch program := c.Program; {
	case program == "sed" || program == "gsed":
		r.sed(c, in)
	case strings.HasSuffix(program, "awk"):
		r.awk(c, in)
	case program == "emacs":
		for _, arg := range c.Args {
			r.foreign(arg)
		}
	}
}

// find reads the commands that find or fd run.
func (r *reader) find(c *Command, in flow) {
	in.stdin, in.before = "", nil
	for i := 0; i < len(c.Args); i++ {
		joined, ok := executesFound(c.Program, c.Args[i])
		if !ok {
			continue
		}
		command := c.words[i+2:]
		end := slices.IndexFunc(command, func(w word) bool { return w.text == ";" })
		if c.Program == "find" {
			for at := 1; at < len(command) && (end < 0 || at < end); at++ {
				if command[at].text == "+" && command[at-1].text == "{}" {
					end = at
				}
			}
		}
		if end >= 0 {
			command = command[:end]
		}
		i += len(command)
		if joined != "" {
			command = append([]word{{text: joined, glob: joined}}, command...)
		}
		if r.strict && insertsCode(c.Program, command) {
			r.refuse(errUnreadable)
		}
		r.command(command, in)
	}
	r.refuseDynamic(c)
}

// executesFound reports whether an argument of find or fd begins a command, and returns the program if it is a part of
// the argument, as in fd --exec=rm.
func executesFound(program, arg string) (joined string, ok bool) {
	if program == "find" {
		return "", slices.Contains([]string{"-exec", "-execdir", "-ok", "-okdir"}, arg)
	}
	if name, value, _ := strings.Cut(arg, "="); strings.HasPrefix(arg, "--") {
		return value, name == "--exec" || name == "--exec-batch"
	}
	if len(arg) < 2 || arg[0] != '-' {
		return "", false
	}
	at := strings.IndexAny(arg, "xXdeEtcjSo") // x and X, or other letters with a value
	if at < 0 || arg[at] != 'x' && arg[at] != 'X' {
		return "", false
	}
	return strings.TrimPrefix(arg[at+1:], "="), true
}

// placeholder matches the words that find and fd replace with the name of a file.
var placeholder = regexp.MustCompile(`\{(/?|//|\.|/\.)\}`)

// insertsCode reports whether the name of a file can become a part of a script or of a program's name. For example,
// find -exec sh -c 'git log {}' runs reboot for a file named "a;reboot".
func insertsCode(finder string, command []word) bool {
	if len(command) == 0 {
		return false
	}
	isPlaceholder := func(w word) bool { return placeholder.MatchString(w.text) }
	if finder != "find" && !slices.ContainsFunc(command, isPlaceholder) {
		command = append(slices.Clone(command), word{text: "{}", glob: "{}"})
	}
	program := programOf(command[0].text)
	code := interpreters[interpreterOf(program)] || scriptFirst[program]
	for i, w := range command {
		switch {
		case !isPlaceholder(w):
		case i == 0, placeholder.FindString(w.text) != w.text:
			return true
		case code && (i == 1 || strings.HasPrefix(command[i-1].text, "-")):
			return true
		case shells[program] && strings.HasPrefix(command[i-1].text, "-"):
			return true
		}
	}
	return program == "git" && !namesSubcommand(command)
}

// refuseDynamic refuses arguments of unknown value for a program that could run them.
func (r *reader) refuseDynamic(c *Command) {
	if r.strict && !allStatic(c.words) {
		r.refuse(errUnreadable)
	}
}

// runners are programs that run a command after arguments of their own, which are too many to list.
var runners = kit.Set("npx", "bunx", "pnpx", "uvx", "pipx", "poetry", "uv", "pipenv", "pnpm", "yarn", "npm", "conda",
	"mamba",
	"docker", "podman", "nerdctl", "kubectl", "oc", "lxc", "vagrant", "systemd-run", "pkexec", "gosu", "su-exec",
	"fakeroot",
	"firejail", "bwrap", "proot", "hyperfine", "direnv", "dotenv", "nix-shell", "nix", "rush", "screen", "tmux",
	"bundle",
	"rbenv", "pyenv", "mise", "asdf", "rye", "hatch", "tox", "osqueryi", "at", "batch", "distrobox", "toolbox",
	"flatpak-spawn",
	"cgexec", "numactl", "prlimit", "setarch", "catchsegv", "valgrind", "gdb", "perf", "pv", "rlwrap", "cpulimit",
	"caffeinate",
	"xvfb-run", "dbus-run-session", "ld.so", "busctl", "runcon", "sg", "newgrp",
	"linux64", "linux32", "i386", "i686", "x86_64", "choom", "faketime", "dbus-launch", "ip", "logsave", "aa-exec",
	"ssh-agent", "sshpass", "dumb-init", "tini", "chpst", "softlimit", "envdir", "s6-setuidgid", "watchexec", "nodemon",
	"concurrently", "foreman", "ansible", "salt", "adb", "wsl", "start-stop-daemon", "daemonize", "capsh", "chronic",
	"expect", "just")

// runner reads the arguments of a runner from each word that is a shell, an interpreter or a dangerous program.
func (r *reader) runner(c *Command, in flow) {
	for i, w := range c.words[1:] {
		program, _, _ := strings.Cut(programOf(w.text), "@") // npx rimraf@5
		if shells[program] || interpreters[interpreterOf(program)] || dangerous[program] ||
			strings.HasPrefix(program, "mkfs") {
			r.command(append([]word{{text: program, glob: w.glob}}, c.words[2+i:]...), in)
			break
		}
		if !r.strict && !runners[program] && (destroyers[program] != nil || sqlClients[program]) {
			r.command(append([]word{{text: program, glob: w.glob}}, c.words[2+i:]...), in) // or it is the name of a container
		}
		if strings.ContainsAny(w.text, " \t\n") && !strings.HasPrefix(w.text, "-") && !r.strict {
			r.text(w.text) // a command for hyperfine and tmux, a text for others
		}
	}
	if c.Program == "at" || c.Program == "batch" {
		c.executesOutput(in.before)
		for _, text := range c.texts() {
			r.text(text)
		}
	}
}

// dangerous are the programs that the default rules refuse with some arguments.
var dangerous = kit.Set("rm", "rimraf", "dd", "shred", "find", "chmod", "chown", "chgrp", "wipefs", "git", "dropdb",
	"env", "sudo",
	"xargs", "shutdown", "reboot", "poweroff", "halt", "psql", "mysql")

// commandKey matches the names of git's settings whose values are commands, or files that contain commands.
var commandKey = regexp.MustCompile(`(?i)^(alias\..*|pager\..*|` +
	`core\.(pager|editor|sshcommand|gitproxy|fsmonitor|askpass|hookspath)|include\.path|includeif\..*\.path|` +
	`init\.templatedir|.*\.(command|cmd|external|textconv|driver|clean|smudge|process|helper|editor|program|difffilter|` +
	`uploadpack|receivepack|vcs|smtpserver|packobjectshook|sendmailcmd|tocmd|cccmd|path))$`)

// gitScripts are the options of git whose value is a script.
var gitScripts = kit.Set("-x", "--exec", "--extcmd", "--tree-filter", "--index-filter", "--env-filter",
	"--msg-filter",
	"--commit-filter", "--parent-filter", "--tag-name-filter", "--upload-pack", "--receive-pack", "--upload-archive")

// git reads the commands that git runs: aliases, pagers and other settings, and the scripts of subcommands.
func (r *reader) git(c *Command) {
	options := true
	for i := 0; i < len(c.Args); i++ {
		arg := c.Args[i]
		if r.strict && options && !c.words[i+1].isStatic() {
			r.refuse(errUnreadable)
		}
		name, value, joined := strings.Cut(arg, "=")
		switch {
		case options && arg == "-c" && i+1 < len(c.Args):
			i++
			r.gitSetting(c.words[i+1])
		case options && strings.HasPrefix(arg, "-c"):
			r.gitSetting(word{text: arg[2:], glob: c.words[i+1].glob})
		case options && (name == "--config-env" || name == "--exec-path") && r.strict:
			r.refuse(errUnreadable)
		case options && name == "--config-env":
			_, variable, _ := strings.Cut(value, "=")
			r.value(r.values[variable])
		case options && gitValued[arg]:
			i++
		case gitScripts[name] && joined:
			r.text(value)
		case gitScripts[name] && i+1 < len(c.Args) && !options:
			i++
			r.gitScript(c, i, i+1)
		case arg == "config" && options:
			r.gitConfig(c, i+1)
			return
		case arg == "run" && i > 0 && c.Args[i-1] == "bisect":
			r.command(c.words[i+2:], flow{parent: c})
			return
		case arg == "foreach" && i > 0 && c.Args[i-1] == "submodule":
			for i+1 < len(c.Args) && strings.HasPrefix(c.Args[i+1], "-") {
				i++
			}
			r.gitScript(c, i+1, len(c.Args))
			return
		case !strings.HasPrefix(arg, "-"):
			options = false
		}
	}
}

func (r *reader) gitScript(c *Command, from, to int) {
	if from < to {
		r.script(c, from, to)
	}
}

// gitSetting reads a setting such as alias.x=!rm.
func (r *reader) gitSetting(w word) {
	name, value, _ := strings.Cut(w.text, "=")
	if !w.isStatic() && r.strict {
		r.refuse(errUnreadable)
	}
	script, runs := strings.CutPrefix(value, "!")
	if !runs && (strings.HasPrefix(strings.ToLower(name), "alias.") || !commandKey.MatchString(name)) {
		return
	}
	if r.strict && !runs && strings.HasSuffix(strings.ToLower(name), "path") {
		r.refuse(errUnreadable)
	}
	r.text(script)
}

// gitConfig reads git config KEY VALUE, whose arguments begin at the index from.
func (r *reader) gitConfig(c *Command, from int) {
	for i := from; i+1 < len(c.Args); i++ {
		if strings.Contains(c.Args[i], ".") && !strings.HasPrefix(c.Args[i], "-") {
			pair := word{text: c.Args[i] + "=" + c.Args[i+1], glob: c.words[i+1].glob + c.words[i+2].glob}
			r.gitSetting(pair)
			return
		}
	}
}

package shell

import (
	"cmp"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/kit"
)

// A wrapper describes a program that runs the command after its own arguments, for example timeout 5 make. An option
// that it does not name exactly could have a value or not, so that the position of the command is unknown.
type wrapper struct {
	flags    string   // the letters of short options without a value
	valued   string   // the letters of short options with a value
	optional string   // the letters of short options whose value, if any, is the rest of the word, as in xargs -i%
	long     string   // long options with a value, which is the next word unless it follows "="
	alone    string   // long options without a value, or with one only after "="
	unsafe   string   // options that select what runs; no rule allows them
	args     int      // the number of arguments before the command
	script   []string // options whose value is a script
	rest     bool     // the words after the arguments form a script
}

var wrappers = map[string]wrapper{
	"sudo": {flags: "ABbEHKklnPSvVis", valued: "ughpCTRDrtU", unsafe: "-h -i -s -R --chroot",
		long: "--user --group --host --prompt --chdir --chroot --close-from --command-timeout --other-user --role --type",
		alone: "--askpass --background --preserve-env --set-home --login --shell --non-interactive --stdin " +
			"--reset-timestamp"},
	"doas": {flags: "Lns", valued: "uC", unsafe: "-s -C"},
	"run0": {valued: "ug", long: "--user --group --chdir"},
	"env": {flags: "i0v", valued: "uCS", long: "--unset --chdir --split-string", unsafe: "-S --split-string",
		alone:  "--ignore-environment --null --debug --block-signal --default-signal --ignore-signal --list-signal-handling",
		script: []string{"-S", "--split-string"}},
	"xargs": {flags: "0oprtx", valued: "adEILnPs", optional: "eil", unsafe: "--process-slot-var",
		long: "--arg-file --delimiter --max-args --max-procs --max-chars --process-slot-var",
		alone: "--eof --max-lines --replace --null --open-tty --interactive --no-run-if-empty --show-limits --verbose " +
			"--exit"},
	"parallel": {flags: "k0mXtuv", valued: "jnNIaS", unsafe: "-S", long: "--jobs --max-args --arg-file --joblog --halt " +
		"--retries --delay --timeout", alone: "--keep-order --null --verbose --ungroup --bar --dry-run --will-cite --tag"},
	"nice":    {flags: "0123456789", valued: "n", long: "--adjustment"},
	"ionice":  {flags: "t", valued: "cnp", unsafe: "-p", long: "--class --classdata", alone: "--ignore"},
	"chrt":    {flags: "frRv", alone: "--fifo --rr --reset-on-fork --verbose", args: 1},
	"taskset": {flags: "ac", alone: "--all-tasks --cpu-list", args: 1},
	"timeout": {flags: "fpv", valued: "ks", long: "--kill-after --signal",
		alone: "--foreground --preserve-status --verbose", args: 1},
	"gtimeout": {flags: "fpv", valued: "ks", long: "--kill-after --signal",
		alone: "--foreground --preserve-status --verbose", args: 1},
	"stdbuf": {valued: "ioe", long: "--input --output --error"},
	"time": {flags: "apqv", valued: "of", long: "--output --format",
		alone: "--append --portability --quiet --verbose"},
	"chroot": {long: "--userspec --groups", alone: "--skip-chdir", args: 1},
	"unshare": {flags: "fcr", optional: "muinpUCT", valued: "RwSG", unsafe: "-R --root",
		long:  "--root --wd --setuid --setgid --propagation --setgroups --map-user --map-group --map-users --map-groups",
		alone: "--fork --mount --uts --ipc --net --pid --user --cgroup --time --map-root-user --map-current-user"},
	"nsenter": {flags: "aFZ", optional: "muinpCTUrw", valued: "tSG", unsafe: "-r --root",
		long: "--target --setuid --setgid",
		alone: "--all --mount --uts --ipc --net --pid --cgroup --user --time --root --wd --no-fork " +
			"--preserve-credentials"},
	"flock": {flags: "sxenuoFv", valued: "wE", long: "--timeout --wait --conflict-exit-code",
		alone: "--shared --exclusive --nonblock --nb --unlock --close --no-fork --verbose", args: 1,
		script: []string{"-c", "--command"}},
	"watch": {flags: "bcegtpwrx", optional: "d", valued: "nq", unsafe: "-x", long: "--interval",
		alone: "--differences --beep --color --errexit --chgexit --no-title --precise --no-wrap", rest: true},
	"strace": {flags: "cCdfFhiknNqrtTvVwxyYzZ", valued: "aAbeEIoOpPsSuUX", unsafe: "-o -E"},
	"ltrace": {flags: "bcCfiLrStT", valued: "aADeFlnopsuwx"},
	"nohup":  {}, "setpriv": {},
	"setsid":  {flags: "cfw", alone: "--ctty --fork --wait"},
	"exec":    {flags: "cl", valued: "a"},
	"command": {flags: "pvV"},
	"builtin": {}, "coproc": {}, "busybox": {}, "toybox": {},
	"su": {flags: "flmpP", valued: "cgGsw", unsafe: "-s --shell", long: "--command --group --supp-group --shell",
		alone: "--login --fast --preserve-environment --pty", script: []string{"-c", "--command"}},
	"runuser": {flags: "flmpP", valued: "cugGsw", unsafe: "-s --shell", long: "--command --user --group --shell",
		alone: "--login --fast --preserve-environment --pty", script: []string{"-c", "--command"}},
	"script": {flags: "aefq", valued: "cEBIOTmo", long: "--command", script: []string{"-c", "--command"}},
	"ssh":    {flags: "46AaCfGgKkMNnqsTtVvXxYy", valued: "BbcDEeFIiJLlmOoPpQRSWw", unsafe: "-o -F", args: 1, rest: true},
	"trap":   {flags: "lp", rest: true},
	"cmd":    {rest: true}, "start": {},
	"entr":        {flags: "acdnprsxz", unsafe: "-s"},
	"unbuffer":    {flags: "p"},
	"proxychains": {flags: "q", valued: "f"}, "proxychains4": {flags: "q", valued: "f"},
	"torsocks": {}, "torify": {},
	"proxycommand": {rest: true}, "shell": {rest: true}, "spawn": {}, // of ssh, make and expect
	"systemd-inhibit": {long: "--what --who --why --mode"},
	"then":            {}, "else": {}, "do": {}, // of malformed scripts
	"system": {rest: true}, "popen": {rest: true}, "passthru": {rest: true}, "shell_exec": {rest: true},
	// of other languages
}

// wrapped reads the command in the arguments of a wrapper.
func (r *reader) wrapped(c *Command, in flow) {
	w, ok := wrappers[c.Program]
	if !ok || c.Program == "command" && len(c.Args) > 0 && (c.Args[0] == "-v" || c.Args[0] == "-V") {
		return // command -v only looks a name up
	}
	r.refuseDynamic(c)
	o := w.options(c.Program, c.Args)
	at := o.end
	if r.strict && (o.unknown || o.unsafe) {
		r.refuse(errUnreadable)
		return
	}
	options := c.Args
	if c.Program == "env" || c.Program == "flock" {
		options = c.Args[:min(len(c.Args), at+w.args+1)]
	}
	scripts := w.scripts(options, c.Args)
	for _, script := range scripts {
		r.text(script)
	}
	if c.Program == "cmd" {
		for at < len(c.Args) && strings.HasPrefix(c.Args[at], "/") {
			at++
		}
	}
	if at = min(at+w.args, len(c.Args)); w.args > 0 && at < len(c.Args) && c.Args[at] == "--" {
		at++ // as in ssh host -- make
	}
	switch {
	case c.Program == "parallel":
		r.parallel(c, at, in)
	case c.Program == "trap" && at < len(c.Args):
		r.text(c.Args[at])
	case opensShell[c.Program] && len(scripts) == 0 && (at >= len(c.Args) || c.Program == "su" && !r.strict):
		// the input is the script
		if r.strict && (c.Stdin != "" || len(c.Reads) > 0 || len(in.before) > 0) {
			r.refuse(errUnreadable)
		}
		c.executesOutput(in.before)
		r.stdinScript(c)
	case c.Program == "ssh":
		words := c.words[at+1:]
		if shells[programOf(words[0].text)] {
			r.command(words, in) // ssh host bash -s <<EOF
		}
		r.text(strings.Join(c.Args[at:], " "))
	case w.rest && at < len(c.Args):
		r.text(strings.Join(c.Args[at:], " "))
	case !w.rest:
		inner := c.words[at+1:]
		if r.strict && appendsInput[c.Program] && len(inner) > 0 && runsOthers(inner) {
			r.refuse(errUnreadable) // the input contains the command, as in xargs sudo
		}
		switch {
		case !appendsInput[c.Program] || r.strict || !r.spend(len(in.stdin)):
		case len(o.placeholders) > 0:
			for line := range strings.Lines(in.stdin) {
				r.command(r.replaced(inner, o.placeholders, strings.TrimSpace(line)), in)
			}
		default:
			inner = slices.Concat(inner, staticWords(strings.Fields(in.stdin)))
		}
		if slices.ContainsFunc(c.Args[:at], changesDirectoryOption) {
			dirs := r.dirs
			r.dirs = []string{"?"}
			defer func() { r.dirs = dirs }()
		}
		if r.strict && len(inner) > 0 && !o.leavesProgram(inner[0].text) {
			r.refuse(errUnreadable) // the input contains the program, as in xargs -I git git log
		}
		r.command(inner, in)
	}
	if o.unknown && !r.guessing {
		r.guessing = true
		for i := range c.words[min(o.firstUnknown+2, len(c.words)):] {
			r.command(c.words[o.firstUnknown+2+i:], in)
		}
		r.guessing = false
	}
}

// opensShell are wrappers that start a shell if no command follows.
var opensShell = kit.Set("ssh", "sudo", "doas", "run0", "su", "runuser", "chroot", "unshare", "nsenter", "script")

// parallel reads the scripts of GNU parallel in the arguments from the index at. It joins the words before ::: to a
// script and appends an input to it, quoted. For example, parallel git log ";" reboot ::: x runs reboot. Without such
// words each input is a script of its own. The parallel of moreutils runs each word after -- as a script.
func (r *reader) parallel(c *Command, at int, in flow) {
	args := c.Args[at:]
	end := slices.IndexFunc(args, func(arg string) bool { return strings.HasPrefix(arg, ":::") })
	if end < 0 {
		end = len(args)
	}
	script, inputs := args[:end], args[end:]
	if r.strict && (slices.Contains(c.Args, "--") || strings.Contains(strings.Join(script, " "), "{=") ||
		len(script) == 0 && len(inputs) == 0 ||
		len(script) > 0 && runsOthers(c.words[at+1:])) {
		r.refuse(errUnreadable) // the input contains the command, or begins one
		return
	}
	if !r.strict && r.spend(len(in.stdin)) {
		inputs = slices.Concat(inputs, strings.Split(in.stdin, "\n"))
	}
	if len(script) > 0 {
		r.text(strings.Join(script, " "))
	}
	if r.strict && len(script) > 0 {
		return
	}
	for _, input := range inputs {
		if !strings.HasPrefix(input, ":::") && strings.TrimSpace(input) != "" {
			r.text(strings.Join(append(slices.Clone(script), input), " "))
		}
	}
	if slices.Contains(c.Args, "--") {
		for _, word := range args {
			r.text(word)
		}
	}
}

// changesDirectoryOption reports whether an option of a wrapper selects the directory of the command, as in env -C /.
func changesDirectoryOption(arg string) bool {
	return strings.HasPrefix(arg, "--chdir") || strings.HasPrefix(arg, "-C") || strings.HasPrefix(arg, "-D")
}

// appendsInput are programs that append words of their input to a command.
var appendsInput = kit.Set("xargs", "parallel", "entr")

// runsOthers reports whether a command runs others if words are appended to it.
func runsOthers(words []word) bool {
	program := programOf(words[0].text)
	if program == "git" {
		subcommand, _ := gitArguments(&Command{Program: "git", Args: textsOf(words[1:])})
		return !namesSubcommand(words) || gitGrammar(subcommand).runs
	}
	_, wrapper := wrappers[program]
	g, _ := grammarOf(words)
	return wrapper || g != nil && g.runs || shells[program] || runners[program] || scriptFirst[program] ||
		interpreters[interpreterOf(program)] || program == "find" || program == "eval"
}

// namesSubcommand reports whether a git command contains its subcommand, so that words of the input cannot be options
// of git itself, as in xargs git -c.
func namesSubcommand(words []word) bool {
	subcommand, args := gitArguments(&Command{Program: "git", Args: textsOf(words[1:])})
	options := words[:max(0, len(words)-len(args))]
	return subcommand != "" && !slices.ContainsFunc(options, func(w word) bool { return strings.Contains(w.text, "{}") })
}

// wrapperOptions are the leading arguments of a wrapper that are options or their values.
type wrapperOptions struct {
	end          int      // the index of the first other argument
	unknown      bool     // an option is not in the table, so that end is a guess
	firstUnknown int      // the index of this option
	unsafe       bool     // an option selects what runs
	placeholders []string // of xargs
}

// options reads the options of a wrapper.
func (w wrapper) options(program string, args []string) (o wrapperOptions) {
	listed := func(list, name string) bool { return slices.Contains(strings.Fields(list), name) }
	i := 0
	for ; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			i++
			break
		}
		if arg == "-" && program == "env" {
			continue
		}
		if len(arg) < 2 || arg[0] != '-' {
			break
		}
		known, at := true, i
		if strings.HasPrefix(arg, "--") {
			name, value, joined := strings.Cut(arg, "=")
			o.unsafe = o.unsafe || listed(w.unsafe, name)
			switch {
			case listed(w.long, name):
				if !joined {
					i++
				}
			case listed(w.alone, name):
				if name == "--replace" {
					o.placeholders = append(o.placeholders, cmp.Or(value, "{}"))
				}
			default:
				known = false
			}
		} else {
		letters:
			for before, letter := range arg[1:] {
				o.unsafe = o.unsafe || listed(w.unsafe, "-"+string(letter))
				value := arg[1+before+len(string(letter)):]
				switch {
				case strings.ContainsRune(w.flags, letter):
				case strings.ContainsRune(w.optional, letter):
					if letter == 'i' && program == "xargs" {
						o.placeholders = append(o.placeholders, cmp.Or(value, "{}"))
					}
					break letters
				case strings.ContainsRune(w.valued, letter):
					if value == "" {
						i++
						value = strings.Join(args[min(i, len(args)):min(i+1, len(args))], "")
					}
					if letter == 'I' {
						o.placeholders = append(o.placeholders, value)
					}
					break letters
				default:
					known = false
					break letters
				}
			}
		}
		if !known && !o.unknown {
			o.unknown, o.firstUnknown = true, at
		}
	}
	o.end = min(i, len(args))
	return o
}

// replaced returns words in which xargs -I has replaced placeholders by a line of its input.
func (r *reader) replaced(words []word, placeholders []string, line string) []word {
	words = slices.Clone(words)
	for i, w := range words {
		text := w.text
		for _, p := range placeholders {
			if p != "" && r.spend(len(text)+strings.Count(text, p)*len(line)) {
				text = strings.ReplaceAll(text, p, line)
			}
		}
		if text != w.text {
			words[i] = word{text: text, glob: text}
		}
	}
	return words
}

// leavesProgram reports whether the input of xargs can change neither the name of the program nor words that a rule
// could name.
func (o wrapperOptions) leavesProgram(program string) bool {
	return !slices.ContainsFunc(o.placeholders, func(p string) bool {
		return strings.Trim(p, "{}%@") != "" || p == "" || strings.Contains(program, p)
	})
}

// scripts returns the values of the options whose values are scripts, also if other letters precede the option or its
// long name is abbreviated. The values of the last option may follow it.
func (w wrapper) scripts(options, args []string) (scripts []string) {
	for i, arg := range options {
		for _, option := range w.script {
			name, value, joined := strings.Cut(arg, "=")
			switch {
			case strings.HasPrefix(option, "--"):
				if len(name) < 4 || !strings.HasPrefix(option, name) {
					continue
				}
			case len(arg) < 2 || arg[0] != '-' || arg[1] == '-' || !strings.Contains(arg, option[1:]):
				continue
			default:
				_, value, _ = strings.Cut(arg, option[1:])
				joined = value != ""
			}
			if joined {
				scripts = append(scripts, value)
			} else {
				scripts = append(scripts, args[i+1:min(i+2, len(args))]...)
			}
		}
	}
	return scripts
}

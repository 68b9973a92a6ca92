package shell

import (
	"slices"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/kit"
)

// A wrapper describes a program that runs the command after its own arguments, for example timeout 5 make.
type wrapper struct {
	valued string   // the letters of short options with a value
	long   []string // long options whose value is the next word
	args   int      // the number of arguments before the command
	script []string // options whose value is a script
	rest   bool     // the words after the arguments form a script
}

var wrappers = map[string]wrapper{
	"sudo": {valued: "ughpCTRDrtU", long: []string{"--user", "--group", "--host", "--prompt", "--chdir", "--chroot",
		"--close-from", "--command-timeout", "--other-user", "--role", "--type"}},
	"doas": {valued: "uC"},
	"run0": {valued: "ug", long: []string{"--user", "--group", "--chdir"}},
	"env":  {valued: "uCS", long: []string{"--unset", "--chdir"}, script: []string{"-S", "--split-string"}},
	"xargs": {valued: "IPnLdEsa",
		long: []string{"--arg-file", "--delimiter", "--max-args", "--max-lines", "--max-procs", "--max-chars",
			"--replace"}},
	"parallel":    {valued: "jnNIS", long: []string{"--jobs", "--max-args"}},
	"nice":        {valued: "n", long: []string{"--adjustment"}},
	"ionice":      {valued: "cnp"},
	"chrt":        {args: 1},
	"taskset":     {args: 1},
	"timeout":     {valued: "ks", long: []string{"--kill-after", "--signal"}, args: 1},
	"gtimeout":    {valued: "ks", long: []string{"--kill-after", "--signal"}, args: 1},
	"stdbuf":      {valued: "ioe", long: []string{"--input", "--output", "--error"}},
	"time":        {valued: "of", long: []string{"--output", "--format"}},
	"chroot":      {args: 1},
	"unshare":     {},
	"nsenter":     {valued: "t"},
	"flock":       {valued: "wE", args: 1, script: []string{"-c", "--command"}},
	"watch":       {valued: "n", long: []string{"--interval"}, rest: true},
	"strace":      {valued: "oepsEu"},
	"ltrace":      {valued: "oepsu"},
	"nohup":       {},
	"setsid":      {},
	"setpriv":     {},
	"exec":        {valued: "a"},
	"builtin":     {},
	"command":     {},
	"coproc":      {},
	"busybox":     {},
	"toybox":      {},
	"su":          {valued: "sg", script: []string{"-c", "--command"}},
	"runuser":     {valued: "ug", script: []string{"-c", "--command"}},
	"script":      {script: []string{"-c", "--command"}},
	"ssh":         {valued: "BbcDEeFIiJLlmOoPpQRSWw", args: 1, rest: true},
	"trap":        {args: 0, rest: true},
	"cmd":         {rest: true},
	"start":       {},
	"entr":        {},
	"unbuffer":    {},
	"proxychains": {valued: "f"}, "proxychains4": {valued: "f"},
	"torsocks": {}, "torify": {},
	"systemd-inhibit": {long: []string{"--what", "--who", "--why", "--mode"}},
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
	at := w.skip(c.Args)
	options := c.Args
	if c.Program == "env" || c.Program == "flock" {
		options = c.Args[:min(len(c.Args), at+w.args+1)]
	}
	for _, script := range w.scripts(options, c.Args) {
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
	case w.rest && at < len(c.Args):
		r.text(strings.Join(c.Args[at:], " "))
	case !w.rest:
		inner := c.words[at+1:]
		if r.strict && appendsInput[c.Program] && len(inner) > 0 && runsOthers(inner) {
			r.refuse(errUnreadable) // the input contains the command, as in xargs sudo
		}
		if appendsInput[c.Program] && !r.strict && r.spend(len(in.stdin)) {
			inner = slices.Concat(inner, staticWords(strings.Fields(in.stdin)))
		}
		if slices.ContainsFunc(c.Args[:at], changesDirectoryOption) {
			dirs := r.dirs
			r.dirs = []string{"?"}
			defer func() { r.dirs = dirs }()
		}
		r.command(inner, in)
	}
}

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
	if r.strict && (slices.Contains(c.Args, "--") || len(script) == 0 && len(inputs) == 0 ||
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
	_, wrapper := wrappers[program]
	return wrapper || shells[program] || runners[program] || scriptFirst[program] ||
		interpreters[interpreterOf(program)] || program == "find" || program == "eval" || program == "git" && len(words) == 1
}

// skip returns the number of leading arguments that are options or their values.
func (w wrapper) skip(args []string) int {
	i := 0
	for ; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "--":
			return i + 1
		case strings.HasPrefix(arg, "--"):
			if slices.Contains(w.long, arg) {
				i++
			}
		case strings.HasPrefix(arg, "-") && len(arg) > 1:
			if at := strings.IndexAny(arg[1:], w.valued); at >= 0 && at == len(arg)-2 {
				i++
			}
		default:
			return i
		}
	}
	return min(i, len(args))
}

// scripts returns the values of the options whose values are scripts. The values of the last option may follow it.
func (w wrapper) scripts(options, args []string) (scripts []string) {
	for _, option := range w.script {
		for i, arg := range options {
			value, ok := strings.CutPrefix(arg, option)
			long := strings.HasPrefix(option, "--")
			switch {
			case !ok && (long || len(arg) < 3 || arg[0] != '-' || arg[1] == '-' || !strings.HasSuffix(arg, option[1:])):
			case !ok: // several letters, as in script -qc
				scripts = append(scripts, args[i+1:min(i+2, len(args))]...)
			case value == "" && i+1 < len(args):
				scripts = append(scripts, args[i+1])
			case long && strings.HasPrefix(value, "="):
				scripts = append(scripts, value[1:])
			case !long && value != "":
				scripts = append(scripts, value)
			}
		}
	}
	return scripts
}

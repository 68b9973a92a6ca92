package shell

import (
	"strings"
)

// A wrapper describes a program that runs the command after its own arguments, for example timeout 5 make.
type wrapper struct {
	valued string   // the letters of short options with a value
	long   []string // long options whose value is the next word
	args   int      // the number of arguments before the command
	script string   // options, separated by blanks, whose value is a script
	rest   bool     // the words after the arguments form a script
}

var wrappers = map[string]wrapper{
	"sudo": {valued: "ughpCTRDrtU", long: []string{"--user", "--group", "--host", "--prompt", "--chdir", "--chroot",
		"--close-from", "--command-timeout", "--other-user", "--role", "--type"}},
	"doas": {valued: "uC"},
	"env":  {valued: "uCS", long: []string{"--unset", "--chdir"}, script: "-S --split-string"},
	"xargs": {valued: "IPnLdEsa",
		long: []string{"--arg-file", "--delimiter", "--max-args", "--max-lines", "--max-procs", "--max-chars", "--replace"}},
	"parallel":    {valued: "jnNIS", long: []string{"--jobs", "--max-args"}},
	"nice":        {valued: "n", long: []string{"--adjustment"}},
	"ionice":      {valued: "cnp"},
	"chrt":        {args: 1},
	"taskset":     {args: 1},
	"timeout":     {valued: "ks", long: []string{"--kill-after", "--signal"}, args: 1},
	"stdbuf":      {valued: "ioe", long: []string{"--input", "--output", "--error"}},
	"time":        {valued: "of", long: []string{"--output", "--format"}},
	"chroot":      {args: 1},
	"unshare":     {},
	"nsenter":     {valued: "t"},
	"flock":       {valued: "wE", args: 1},
	"watch":       {valued: "n", long: []string{"--interval"}, rest: true},
	"strace":      {valued: "oepsEu"},
	"ltrace":      {valued: "oepsu"},
	"nohup":       {},
	"setsid":      {},
	"exec":        {valued: "a"},
	"builtin":     {},
	"command":     {},
	"coproc":      {},
	"busybox":     {},
	"toybox":      {},
	"su":          {valued: "sg", script: "-c --command"},
	"runuser":     {valued: "ug", script: "-c --command"},
	"script":      {script: "-c --command"},
	"ssh":         {valued: "BbcDEeFIiJLlmOoPpQRSWw", args: 1, rest: true},
	"trap":        {rest: true},
	"cmd":         {rest: true},
	"start":       {},
	"entr":        {},
	"unbuffer":    {},
	"proxychains": {valued: "f"},
}

// wrapped returns the number of words before the wrapped command, including the program. It reports false if c does not
// run another command.
func wrapped(c *Command) (int, bool) {
	w, ok := wrappers[c.Program]
	if !ok || w.rest {
		return 0, false
	}
	if c.Program == "command" && len(c.Args) > 0 && (c.Args[0] == "-v" || c.Args[0] == "-V") {
		return 0, false // this only looks a name up
	}
	at := w.skip(c.Args)
	for n := w.args; n > 0 && at < len(c.Args); n-- {
		at++
	}
	return at + 1, true
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
			for _, long := range w.long {
				if arg == long {
					i++
				}
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

// scriptArgs returns the arguments of a command that a shell will run as scripts.
func scriptArgs(c *Command) (scripts []string) {
	w, ok := wrappers[c.Program]
	if !ok {
		return nil
	}
	at := w.skip(c.Args)
	options := c.Args
	if c.Program == "env" {
		options = c.Args[:at]
	}
	for _, option := range strings.Fields(w.script) {
		for i, arg := range options {
			value, ok := strings.CutPrefix(arg, option)
			if !ok {
				continue
			}
			long := strings.HasPrefix(option, "--")
			switch {
			case value == "" && i+1 < len(c.Args):
				scripts = append(scripts, c.Args[i+1])
			case long && strings.HasPrefix(value, "="):
				scripts = append(scripts, value[1:])
			case !long && value != "":
				scripts = append(scripts, value)
			}
		}
	}
	if !w.rest {
		return scripts
	}
	if c.Program == "cmd" {
		for at < len(c.Args) && strings.HasPrefix(c.Args[at], "/") {
			at++
		}
	}
	at = min(at+w.args, len(c.Args))
	return append(scripts, strings.Join(c.Args[at:], " "))
}

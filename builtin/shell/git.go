package shell

import (
	"regexp"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/kit"
)

// commandKey matches the names of git's settings whose values are commands, or files that contain commands.
var commandKey = regexp.MustCompile(`(?i)^(alias\..*|pager\..*|` +
	`core\.(pager|editor|sshcommand|gitproxy|fsmonitor|askpass|hookspath)|include\.path|includeif\..*\.path|` +
	`init\.templatedir|.*\.(command|cmd|external|textconv|driver|clean|smudge|process|helper|editor|program|difffilter|` +
	`uploadpack|receivepack|vcs|smtpserver|packobjectshook|sendmailcmd|tocmd|cccmd|path))$`)

// gitScripts are the options of git whose value is a script.
var gitScripts = kit.Set("-x", "--exec", "--extcmd", "--tree-filter", "--index-filter", "--env-filter",
	"--msg-filter", "--commit-filter", "--parent-filter", "--tag-name-filter", "--upload-pack", "--receive-pack",
	"--upload-archive")

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
	switch name = strings.ToLower(name); {
	case runs:
	case strings.HasPrefix(name, "alias."):
		script = "git " + value
	case !commandKey.MatchString(name):
		return
	case r.strict && strings.HasSuffix(name, "path"):
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

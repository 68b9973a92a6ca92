package shell

import (
	"regexp"
	"slices"
	"strings"
)

// commandKey matches the names of git's settings whose values are commands, or files that contain commands.
var commandKey = patterns("gitSettings")

// git reads the commands that git runs: aliases, pagers and other settings, and the scripts of subcommands.
func (r *reader) git(c *Command) {
	_, _, operands := r.judge(grammars()["git"], c.words[1:])
	if len(operands) == 0 {
		return
	}
	subcommand, args := operands[0].text, operands[1:]
	_, _, operands = r.judge(gitGrammar(subcommand), args)
	verb := slices.IndexFunc(args, func(w word) bool { return !strings.HasPrefix(w.text, "-") })
	switch {
	case verb < 0:
	case subcommand == "config":
		r.gitConfig(operands)
	case subcommand == "bisect" && args[verb].text == "run":
		r.command(args[verb+1:], flow{parent: c})
	case subcommand == "bisect" && r.strict && (args[verb].text == "view" || args[verb].text == "visualize") &&
		len(args) > verb+1:
		r.refuse() // another program, or the arguments of git
	case subcommand == "submodule" && args[verb].text == "foreach":
		script := args[verb+1:]
		for len(script) > 0 && strings.HasPrefix(script[0].text, "-") {
			script = script[1:]
		}
		if len(script) > 0 {
			r.script(c, len(c.Args)-len(script), len(c.Args))
		}
	}
}

// gitGrammar returns the options of a subcommand of git.
func gitGrammar(subcommand string) *grammar {
	if g := grammars()["git "+subcommand]; g != nil {
		return g
	}
	return grammars()["git *"]
}

// gitSetting reads a setting such as alias.x=!rm.
func (r *reader) gitSetting(w word) {
	name, value, _ := strings.Cut(w.text, "=")
	if !w.isStatic() && r.strict {
		r.refuse()
	}
	script, runs := strings.CutPrefix(value, "!")
	switch name = strings.ToLower(name); {
	case runs:
	case strings.HasPrefix(name, "alias."):
		script = "git " + value
	case r.strict && gitTool.MatchString(name) && strings.Contains(value, "/"): // git reads the file as a script
		r.refuse()
		return
	case !commandKey.MatchString(name):
		return
	case r.strict && (strings.HasSuffix(name, "path") || strings.HasPrefix(name, "protocol.")):
		r.refuse()
	}
	r.text(script)
}

// gitTool matches the names of git's settings whose values name a tool.
var gitTool = regexp.MustCompile(`^(diff|merge)\.(gui)?tool$`)

// gitConfig reads git config KEY VALUE.
func (r *reader) gitConfig(operands []word) {
	if r.strict && len(operands) > 1 && (operands[0].text == "rename-section" ||
		slices.ContainsFunc(operands[:len(operands)-1], func(w word) bool { return !w.isStatic() })) {
		r.refuse() // a setting could get the name of one that runs a program
	}
	for i := 0; i+1 < len(operands); i++ {
		if key, value := operands[i], operands[i+1]; strings.Contains(key.text, ".") {
			r.gitSetting(word{text: key.text + "=" + value.text, glob: key.glob + value.glob})
			return
		}
	}
}

// gitArguments returns the subcommand of a git command and its arguments, without the options of git itself.
func gitArguments(words []word) (subcommand string, args []string) {
	if len(words) == 0 || programOf(words[0].text) != "git" {
		return "", nil
	}
	_, operands := grammars()["git"].read(staticWords(textsOf(words[1:])))
	if len(operands) == 0 {
		return "", nil
	}
	return strings.ToLower(operands[0].text), textsOf(operands[1:])
}

package shell

import (
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/hookgen/hookgen/builtin/internal/kit"
)

// document reads the substitutions in a text that the shell expands like a here-document, for example the value of PS4.
func (r *reader) document(text string) {
	if !strings.ContainsAny(text, "$`") || !r.spend(parseCost*len(text)) {
		return
	}
	r.text("<<X\n" + strings.ReplaceAll(text, "\nX\n", "\n") + "\nX")
}

// expanded reads the substitutions in the values of the variables that an expression evaluates, as in x='a[$(reboot)]';
// echo $((x)).
func (r *reader) expanded(expression syntax.Node) {
	if r.strict || isNil(expression) {
		return
	}
	syntax.Walk(expression, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Lit:
			r.document(r.values[n.Value])
		case *syntax.SglQuoted:
			r.document(n.Value)
		case *syntax.ParamExp:
			if n.Param != nil {
				r.document(r.values[n.Param.Value])
			}
		}
		return true
	})
}

// documentVariables are variables whose values shells expand before they use them.
var documentVariables = kit.Set("ENV", "BASH_ENV", "PS0", "PS1", "PS2", "PS4", "PROMPT_COMMAND")

// commandVariable matches the names of environment variables whose values are commands.
var commandVariable = regexp.MustCompile(`^(?:[A-Z0-9_]*(?:PAGER|EDITOR|BROWSER|ASKPASS|WRAPPER|_RSH|_SSH|_COMMAND)|` +
	`VISUAL|FCEDIT|LESSOPEN|LESSCLOSE|GIT_EXTERNAL_DIFF|GIT_CONFIG_VALUE_[0-9]+|MAKEFLAGS|CC|CXX|LD|SHELL)$`)

// variable reads the commands in the value of an environment variable.
func (r *reader) variable(name, value string) {
	switch {
	case documentVariables[name]:
		r.document(value)
		r.text(value)
	case commandVariable.MatchString(name):
		r.value(value)
	}
}

// environment reads the variables and functions that env receives as arguments.
func (r *reader) environment(word string) {
	name, value, _ := strings.Cut(word, "=")
	if function, ok := strings.CutPrefix(name, "BASH_FUNC_"); ok {
		r.text(strings.TrimRight(function, "%()") + value)
		return
	}
	r.variable(name, value)
}

package builtin

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/vm"

	"github.com/hookgen/hookgen/generated/agent"
)

// A Predicate says whether a rule's condition holds for a call. It must be safe for concurrent use.
type Predicate interface {
	// Match reports whether the condition holds. An error means that it cannot be told.
	Match(call agent.ToolCallRequest) (bool, error)
}

// PredicateFunc is a function as a predicate.
type PredicateFunc func(call agent.ToolCallRequest) (bool, error)

// Match calls f.
func (f PredicateFunc) Match(call agent.ToolCallRequest) (bool, error) { return f(call) }

// PathGlob is a predicate that holds if the path in an argument matches one of the globs. The path is cleaned first, so
// that "a/../secret" is "secret"; "**" stands for any folders. Without the argument it does not hold; an argument
// that is no text cannot be told. The globs are those of doublestar.
func PathGlob(field string, globs ...string) Predicate {
	return glob{field, globs, func(s string) string { return path.Clean(strings.ReplaceAll(s, `\`, "/")) }, doublestar.Match}
}

// CommandGlob is a predicate that holds if the command in an argument matches one of the globs, in which "*" stands for
// any characters. Runs of blanks count as one. It is no shell: see [ShellGuard] for what a command would do.
func CommandGlob(field string, globs ...string) Predicate {
	return glob{field, globs, func(s string) string { return strings.Join(strings.Fields(s), " ") }, func(pattern, s string) (bool, error) {
		return matchesText(pattern, s), nil
	}}
}

type glob struct {
	field     string
	globs     []string
	normalise func(string) string
	match     func(pattern, s string) (bool, error)
}

func (g glob) check() error {
	if g.field == "" || len(g.globs) == 0 {
		return errors.New("a glob needs the name of an argument and a pattern; give it both")
	}
	for _, pattern := range g.globs {
		if !doublestar.ValidatePattern(pattern) {
			return fmt.Errorf("the glob %q is none; see the syntax of doublestar", pattern)
		}
	}
	return nil
}

func (g glob) Match(call agent.ToolCallRequest) (bool, error) {
	args, err := decodedArgs(call)
	if err != nil {
		return false, err
	}
	value, ok := args[g.field]
	if !ok {
		return false, nil
	}
	text, ok := value.(string)
	if !ok {
		return false, fmt.Errorf("the argument %s is no text", g.field)
	}
	text = g.normalise(text)
	for _, pattern := range g.globs {
		if yes, err := g.match(pattern, text); yes || err != nil {
			return yes, err
		}
	}
	return false, nil
}

// Expr is a predicate that holds if an expression over tool, the name, and args, the decoded arguments, is true:
// `args.amount > 100 && args.to not in ["me"]`. The language is that of expr; it has no loops without end and no
// access to anything else.
func Expr(source string) Predicate {
	e := &expression{source: source}
	e.program, e.err = expr.Compile(source, expr.Env(exprEnv{}), expr.AsBool())
	return e
}

type exprEnv struct {
	Tool string         `expr:"tool"`
	Args map[string]any `expr:"args"`
}

type expression struct {
	source  string
	program *vm.Program
	err     error
}

func (e *expression) check() error {
	if e.err != nil {
		return fmt.Errorf("the expression %q cannot be read: %w", e.source, e.err)
	}
	return nil
}

func (e *expression) Match(call agent.ToolCallRequest) (bool, error) {
	if e.err != nil {
		return false, e.err
	}
	args, err := decodedArgs(call)
	if err != nil {
		return false, err
	}
	v, err := expr.Run(e.program, exprEnv{call.Name, args})
	if err != nil {
		return false, err
	}
	yes, ok := v.(bool)
	if !ok {
		return false, fmt.Errorf("the expression is %v, neither true nor false", v)
	}
	return yes, nil
}

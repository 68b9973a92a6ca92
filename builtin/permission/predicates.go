package permission

import (
	"fmt"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/vm"

	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/internal/toolargs"
	"github.com/hookgen/hookgen/builtin/internal/toolname"
	"github.com/hookgen/hookgen/generated/agent"
)

// A Predicate is the condition of a [Rule] on the arguments of a call. It must be safe for concurrent use. [PathGlob],
// [Expr] and shell.CommandGlob make predicates.
//
// A predicate can also have the method Check() error. [Rules] calls it when the hook is added to Hooks, and panics with
// the error.
type Predicate interface {
	// Match reports whether the condition holds. It returns an error if it cannot decide, for example because an
	// argument has the wrong type.
	Match(call agent.ToolCallRequest) (bool, error)
}

// An EveryPredicate is a predicate on something that arguments can contain several times, such as paths. A rule that
// denies calls Match, and a rule that allows calls MatchEvery.
type EveryPredicate interface {
	Predicate
	// MatchEvery reports whether the condition holds for everything in the arguments. It returns false if there is
	// nothing in the arguments for which it could hold.
	MatchEvery(call agent.ToolCallRequest) (bool, error)
}

// PredicateFunc is a function that implements [Predicate].
type PredicateFunc func(call agent.ToolCallRequest) (bool, error)

// Match calls f.
func (f PredicateFunc) Match(call agent.ToolCallRequest) (bool, error) { return f(call) }

// Expr returns a predicate that evaluates an expression, for example `args.amount > 100 && args.to not in ["me"]`. The
// variable tool is the name of the tool, and args are the decoded arguments. The language is that of
// github.com/expr-lang/expr: every expression terminates, and an expression cannot access anything else. Numbers of
// arguments are float64, which rounds integers beyond 2^53.
//
// The names of arguments are compared without case, "_" and "-", because tools decode them in more than one spelling:
// args.mail_to is also the argument "MAIL_TO" or "mailTo". If an argument occurs twice, Match returns an error.
func Expr(source string) Predicate {
	e := &expression{source: source, names: make(expressionNames)}
	e.program, e.err = expr.Compile(source, expr.Env(exprEnv{}), expr.AsBool(), expr.Patch(e.names))
	return e
}

type exprEnv struct {
	Tool string         `expr:"tool"`
	Args map[string]any `expr:"args"`
}

type expression struct {
	source  string
	program *vm.Program
	names   expressionNames
	err     error
}

// expressionNames are the texts in an expression, which include the names of all arguments that it uses, by their
// folded form.
type expressionNames map[string][]string

// Visit collects the text of a node.
func (n expressionNames) Visit(node *ast.Node) {
	if text, ok := (*node).(*ast.StringNode); ok {
		folded := toolargs.FoldName(text.Value)
		n[folded] = append(n[folded], text.Value)
	}
}

// Check returns an error if the expression is invalid.
func (e *expression) Check() error {
	if e.err != nil {
		return fmt.Errorf("the expression %q is invalid: %w", e.source, e.err)
	}
	return nil
}

// Match evaluates the expression.
func (e *expression) Match(call agent.ToolCallRequest) (bool, error) {
	if e.err != nil {
		return false, e.err
	}
	args, err := toolargs.Decode(call)
	if err != nil {
		return false, err
	}
	named, err := e.names.rename(args)
	if err != nil {
		return false, err
	}
	v, err := expr.Run(e.program, exprEnv{call.Name, named.(map[string]any)})
	if err != nil {
		return false, err
	}
	holds, ok := v.(bool)
	if !ok {
		return false, fmt.Errorf("the expression returned %v, neither true nor false", v)
	}
	return holds, nil
}

// rename returns a value in which the names of arguments are written as in the expression. It returns an error if two
// names in an object differ only in their spelling and the expression uses them.
func (n expressionNames) rename(value any) (any, error) {
	switch v := value.(type) {
	case map[string]any:
		object := make(map[string]any, len(v))
		for name, member := range v {
			member, err := n.rename(member)
			if err != nil {
				return nil, err
			}
			spellings := n[toolargs.FoldName(name)]
			if len(spellings) == 0 {
				object[name] = member
			}
			for i, s := range spellings {
				if _, twice := object[s]; twice && i == 0 {
					return nil, fmt.Errorf("the argument %q occurs twice", shorten.To(name, toolname.MaxStored))
				}
				object[s] = member
			}
		}
		return object, nil
	case []any:
		list := make([]any, len(v))
		for i, e := range v {
			var err error
			if list[i], err = n.rename(e); err != nil {
				return nil, err
			}
		}
		return list, nil
	}
	return value, nil
}

package permission

import (
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/vm"

	"github.com/hookgen/hookgen/builtin/internal/toolname"
	"github.com/hookgen/hookgen/builtin/shell"
	"github.com/hookgen/hookgen/generated/agent"
)

// A Predicate is the condition of a [Rule] on the arguments of a call. It must be safe for concurrent use.
type Predicate interface {
	// Match reports whether the condition holds. It returns an error if it cannot decide, for example because an
	// argument has the wrong type.
	Match(call agent.ToolCallRequest) (bool, error)
}

// PredicateFunc is a function that implements [Predicate].
type PredicateFunc func(call agent.ToolCallRequest) (bool, error)

// Match calls f.
func (f PredicateFunc) Match(call agent.ToolCallRequest) (bool, error) { return f(call) }

// PathGlob returns a predicate on an argument that holds a path or a list of paths. For example, PathGlob("path",
// "secret/**") matches calls on files below the folder secret.
//
// If a rule denies or asks, one matching path is enough. If a rule allows, every path must match.
//
// Relative paths and globs refer to the working directory, and paths are cleaned before the comparison. For example, in
// the working directory /srv the paths "a/../secret", "./secret" and "/srv/secret" are equal. A glob that begins with
// "**" matches files in any folder. The syntax is that of doublestar: "*" matches any text within a name, "**" any
// number of folders. Symbolic links are not resolved.
//
// The name of the argument is compared without case, because tools decode it without case. If the argument is missing,
// the predicate does not match. If the argument is not a text or occurs twice, Match returns an error.
func PathGlob(field string, globs ...string) Predicate {
	root, err := os.Getwd()
	if err != nil {
		return pathGlob{err: fmt.Errorf("the working directory is unknown: %w; use PathGlobUnder", err)}
	}
	return PathGlobUnder(root, field, globs...)
}

// PathGlobUnder is like [PathGlob] for tools whose relative paths refer to the directory root instead of the working
// directory. root must be absolute.
func PathGlobUnder(root, field string, globs ...string) Predicate {
	g := pathGlob{field: field, root: slashed(root), given: globs}
	for _, pattern := range globs {
		if !strings.HasPrefix(pattern, "**") && !isRooted(pattern) {
			pattern = strings.TrimSuffix(escapeGlob(g.root), "/") + "/" + strings.TrimPrefix(pattern, "./")
		}
		g.globs = append(g.globs, pattern)
	}
	return g
}

type pathGlob struct {
	root, field string
	given       []string
	globs       []string // given, as absolute globs
	err         error
}

func (g pathGlob) check() error {
	switch {
	case g.err != nil:
		return g.err
	case !isRooted(g.root):
		return fmt.Errorf("the root %q is not an absolute path; give an absolute path", g.root)
	}
	for _, pattern := range g.given {
		if !doublestar.ValidatePattern(pattern) {
			return fmt.Errorf("the glob %q is invalid; use the syntax of doublestar", pattern)
		}
	}
	return checkGlob(g.field, g.given)
}

// Match reports whether one of the paths matches.
func (g pathGlob) Match(call agent.ToolCallRequest) (bool, error) {
	paths, err := g.paths(call)
	return slices.ContainsFunc(paths, g.holds), err
}

// every reports whether there is at least one path and all paths match.
func (g pathGlob) every(call agent.ToolCallRequest) (bool, error) {
	paths, err := g.paths(call)
	return len(paths) > 0 && !slices.ContainsFunc(paths, func(p string) bool { return !g.holds(p) }), err
}

func (g pathGlob) paths(call agent.ToolCallRequest) ([]string, error) {
	paths, _, err := argumentTexts(call, g.field)
	for i, p := range paths {
		if p = slashed(p); !isRooted(p) {
			p = g.root + "/" + p
		}
		paths[i] = path.Clean(p)
	}
	return paths, err
}

func (g pathGlob) holds(p string) bool {
	return slices.ContainsFunc(g.globs, func(pattern string) bool {
		if strings.HasPrefix(pattern, "**") {
			p = strings.TrimPrefix(p, "/")
		}
		return doublestar.MatchUnvalidated(pattern, p)
	})
}

func slashed(p string) string { return strings.ReplaceAll(p, `\`, "/") }

// isRooted reports whether a path with slashes is absolute, on Unix or Windows.
func isRooted(p string) bool {
	return strings.HasPrefix(p, "/") || len(p) > 2 && p[1] == ':' && p[2] == '/'
}

// escapeGlob returns a glob that matches only the text.
func escapeGlob(text string) string {
	return strings.NewReplacer("*", "[*]", "?", "[?]", "[", "[[]", "{", "[{]", "}", "[}]").Replace(text)
}

// CommandGlob returns a predicate on an argument that holds a shell command, or the words of a command as a list. The
// text is parsed as by [shell.Guard]. Each command in the text is compared with the globs, in which "*" matches any
// text. Commands are compared without quotes and with one blank between words.
//
// If a rule denies or asks, one matching command is enough. For example, "git push*" matches "cd x && sudo /usr/bin/git
// push". If a rule allows, every command must match, and none may write to a file or set a variable. For example,
// "git *" allows neither "git log; reboot" nor "git log > /etc/passwd".
//
// The name of the argument is compared without case, because tools decode it without case. If the argument is missing,
// the predicate does not match. If the argument is not a text, occurs twice or is nested too deeply, Match returns an
// error.
func CommandGlob(field string, globs ...string) Predicate { return commandGlob{field, globs} }

type commandGlob struct {
	field string
	globs []string
}

func (g commandGlob) check() error { return checkGlob(g.field, g.globs) }

// Match reports whether one of the commands matches.
func (g commandGlob) Match(call agent.ToolCallRequest) (bool, error) {
	lines, commands, err := g.commands(call)
	holds := slices.ContainsFunc(lines, g.holds) || slices.ContainsFunc(commands, func(c *shell.Command) bool {
		return g.holds(c.Line()) || g.holds(strings.TrimSpace(c.Program+" "+strings.Join(c.Args, " ")))
	})
	return holds, err
}

// every reports whether there is at least one command, and all commands match without writing files or variables.
func (g commandGlob) every(call agent.ToolCallRequest) (bool, error) {
	_, commands, err := g.commands(call)
	return len(commands) > 0 && !slices.ContainsFunc(commands, func(c *shell.Command) bool {
		return c.Assigns || slices.ContainsFunc(c.Writes, writesFile) || !g.holds(c.Line())
	}), err
}

// writesFile reports whether the target of a redirection is a file, and not a file descriptor such as 2 or /dev/null.
func writesFile(target string) bool {
	return strings.Trim(target, "0123456789-") != "" && target != "/dev/null"
}

// commands returns the argument as one line, with one blank between words, and the commands in it.
func (g commandGlob) commands(call agent.ToolCallRequest) (lines []string, commands []*shell.Command, err error) {
	texts, list, err := argumentTexts(call, g.field)
	if err != nil || len(texts) == 0 {
		return nil, nil, err
	}
	var ok bool
	if list {
		commands, ok = shell.ParseWords(texts)
	} else {
		commands, ok = shell.Parse(texts[0])
	}
	if !ok {
		return nil, nil, fmt.Errorf("the argument %s is nested too deeply to be checked", g.field)
	}
	return []string{strings.Join(strings.Fields(strings.Join(texts, " ")), " ")}, commands, nil
}

func (g commandGlob) holds(line string) bool {
	return slices.ContainsFunc(g.globs, func(pattern string) bool { return toolname.Wildcard(pattern, line) })
}

func checkGlob(field string, globs []string) error {
	if field == "" || len(globs) == 0 || slices.Contains(globs, "") {
		return errors.New("a glob needs the name of an argument and a pattern; give both")
	}
	return nil
}

// argumentTexts returns the text of an argument, or the texts of a list. It returns no texts if the argument is
// missing or null.
func argumentTexts(call agent.ToolCallRequest, field string) (texts []string, list bool, err error) {
	args, err := decodedArgs(call)
	if err != nil {
		return nil, false, err
	}
	for key, value := range args {
		if !strings.EqualFold(key, field) {
			continue
		}
		switch v := value.(type) {
		case nil:
			return nil, false, nil
		case string:
			return []string{v}, false, nil
		case []any:
			for _, e := range v {
				text, ok := e.(string)
				if !ok {
					return nil, false, fmt.Errorf("the argument %s is a list with elements that are not texts", field)
				}
				texts = append(texts, text)
			}
			return texts, true, nil
		}
		return nil, false, fmt.Errorf("the argument %s is not a text", field)
	}
	return nil, false, nil
}

// Expr returns a predicate that evaluates an expression, for example `args.amount > 100 && args.to not in ["me"]`. The
// variable tool is the name of the tool, and args are the decoded arguments. The language is that of
// github.com/expr-lang/expr: every expression terminates, and an expression cannot access anything else.
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
		return fmt.Errorf("the expression %q is invalid: %w", e.source, e.err)
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
	holds, ok := v.(bool)
	if !ok {
		return false, fmt.Errorf("the expression returned %v, neither true nor false", v)
	}
	return holds, nil
}

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

// A Predicate says whether a rule's condition holds for a call. It must be safe for concurrent use.
type Predicate interface {
	// Match reports whether the condition holds. An error means that it cannot be told.
	Match(call agent.ToolCallRequest) (bool, error)
}

// PredicateFunc is a function as a predicate.
type PredicateFunc func(call agent.ToolCallRequest) (bool, error)

// Match calls f.
func (f PredicateFunc) Match(call agent.ToolCallRequest) (bool, error) { return f(call) }

// PathGlob is a predicate on the path in an argument, or on each path in a list there. In a rule that denies or asks
// it holds if one of the paths matches one of the globs, in a rule that allows if each of them does.
//
// Paths and globs that are relative stand for files under the working directory, and paths are cleaned, so that
// "a/../secret", "./secret" and "/srv/secret" are one. A glob that begins with "**" stands for files anywhere. The
// argument is found in whatever case, as tools find it. Without the argument the predicate does not hold; where it
// is no text, or comes twice, it cannot be told. Symbolic links are not followed. The globs are those of doublestar:
// "*" stands for any text within a name, "**" for any folders.
func PathGlob(field string, globs ...string) Predicate {
	root, err := os.Getwd()
	if err != nil {
		return pathGlob{err: fmt.Errorf("the working directory is not known: %w; use PathGlobUnder", err)}
	}
	return PathGlobUnder(root, field, globs...)
}

// PathGlobUnder is [PathGlob] for tools that take relative paths from another directory than the working directory.
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
	globs       []string // the same, from the root on
	err         error
}

func (g pathGlob) check() error {
	switch {
	case g.err != nil:
		return g.err
	case !isRooted(g.root):
		return fmt.Errorf("the root %q is no absolute path; give one", g.root)
	}
	for _, pattern := range g.given {
		if !doublestar.ValidatePattern(pattern) {
			return fmt.Errorf("the glob %q is none; see the syntax of doublestar", pattern)
		}
	}
	return checkGlob(g.field, g.given)
}

// Match reports whether one of the paths matches.
func (g pathGlob) Match(call agent.ToolCallRequest) (bool, error) {
	paths, err := g.paths(call)
	return slices.ContainsFunc(paths, g.holds), err
}

// every reports whether there are paths and all of them match.
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

// isRooted reports whether a path with slashes does not depend on a directory.
func isRooted(p string) bool {
	return strings.HasPrefix(p, "/") || len(p) > 2 && p[1] == ':' && p[2] == '/'
}

// escapeGlob returns a glob that stands for the text alone.
func escapeGlob(text string) string {
	return strings.NewReplacer("*", "[*]", "?", "[?]", "[", "[[]", "{", "[{]", "}", "[}]").Replace(text)
}

// CommandGlob is a predicate on the shell command in an argument, or on a list there that holds the words of one. It is
// read as [shell.Guard] reads it: each command in it is compared with the globs, in which "*" stands for any text,
// with one blank between its words and without their quotes.
//
// In a rule that denies or asks it holds if one of the commands matches, or the whole text does, so "git push*" finds
// "cd x && sudo /usr/bin/git push". In a rule that allows it holds if every command matches and none of them
// writes to a file or sets a variable, so "git *" allows neither "git log; reboot" nor "git log > /etc/passwd".
//
// The argument is found in whatever case, as tools find it. Without the argument the predicate does not hold; where
// it is no text, comes twice, or is nested too deeply to be read, it cannot be told.
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

// every reports whether there are commands and all of them match.
func (g commandGlob) every(call agent.ToolCallRequest) (bool, error) {
	_, commands, err := g.commands(call)
	return len(commands) > 0 && !slices.ContainsFunc(commands, func(c *shell.Command) bool {
		return c.Assigns || slices.ContainsFunc(c.Writes, writesFile) || !g.holds(c.Line())
	}), err
}

// writesFile reports whether the target of a redirection is a file, and no other output.
func writesFile(target string) bool {
	return strings.Trim(target, "0123456789-") != "" && target != "/dev/null"
}

// commands returns the texts of the argument, with one blank between their words, and the commands in them.
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
		return nil, nil, fmt.Errorf("the argument %s is nested too deeply to be read", g.field)
	}
	return []string{strings.Join(strings.Fields(strings.Join(texts, " ")), " ")}, commands, nil
}

func (g commandGlob) holds(line string) bool {
	return slices.ContainsFunc(g.globs, func(pattern string) bool { return toolname.Wildcard(pattern, line) })
}

func checkGlob(field string, globs []string) error {
	if field == "" || len(globs) == 0 || slices.Contains(globs, "") {
		return errors.New("a glob needs the name of an argument and a pattern; give it both")
	}
	return nil
}

// argumentTexts returns the text of an argument, or the texts of a list. It returns none where the argument is
// absent or null.
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
					return nil, false, fmt.Errorf("the argument %s holds something else than texts", field)
				}
				texts = append(texts, text)
			}
			return texts, true, nil
		}
		return nil, false, fmt.Errorf("the argument %s is no text", field)
	}
	return nil, false, nil
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

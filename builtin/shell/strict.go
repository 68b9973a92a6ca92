package shell

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"

	"github.com/hookgen/hookgen/builtin/internal/kit"
)

var errUnreadable = errors.New("a part of the command that may run another one is known only when it runs")

// strictText reads a text for a rule that allows. Unlike [reader.text] it refuses everything that could mean something
// else to a shell than to the parser.
func (r *reader) strictText(text string) {
	if err := checkCharacters(text); err != nil {
		r.refuse(err)
		return
	}
	file, err := parse(text, r.lang)
	switch {
	case errors.Is(err, errTooComplex):
		r.exceeded = true
		return
	case err != nil:
		r.refuse(fmt.Errorf("the command is not valid: %w", err))
		return
	case len(misreads(file, text)) > 0:
		r.refuse(errors.New("a comment ends in a backslash or begins within a word"))
		return
	}
	s := strictness{r: r, text: text}
	s.stmts(file.Stmts)
	if r.refusal == nil {
		r.stmts(file.Stmts, flow{})
	}
}

// checkCharacters refuses characters that shells and the parser treat differently.
func checkCharacters(text string) error {
	if !utf8.ValidString(text) {
		return errors.New("the command is not valid UTF-8")
	}
	for _, c := range text {
		if c != ' ' && c != '\t' && c != '\n' && (unicode.IsControl(c) || unicode.IsSpace(c) || unicode.Is(unicode.Cf, c)) {
			return fmt.Errorf("the command contains the character %U", c)
		}
	}
	for rest := text; ; {
		before, after, ok := strings.Cut(rest, "\\\n")
		if !ok {
			break
		}
		if !strings.HasSuffix(before, " ") && !strings.HasSuffix(before, "\t") || after == "" {
			return errors.New("a line is continued within a word")
		}
		rest = after
	}
	if strings.HasSuffix(text, `\`) {
		return errors.New("the command ends in a backslash")
	}
	return nil
}

// A strictness checks a script against the part of the language in which bash, dash and the parser agree, and in which
// a command cannot change the meaning of another one.
type strictness struct {
	r    *reader
	text string
}

func (s strictness) refuse(format string, args ...any) { s.r.refuse(fmt.Errorf(format, args...)) }

func (s strictness) bash() bool { return s.r.lang == syntax.LangBash }

func (s strictness) stmts(list []*syntax.Stmt) {
	for _, stmt := range list {
		s.stmt(stmt)
	}
}

func (s strictness) stmt(stmt *syntax.Stmt) {
	if s.r.refusal != nil || stmt == nil {
		return
	}
	if stmt.Coprocess || stmt.Disown {
		s.refuse("the command starts a coprocess")
	}
	for _, redirect := range stmt.Redirs {
		s.redirect(redirect)
	}
	switch c := stmt.Cmd.(type) {
	case nil:
	case *syntax.CallExpr:
		for _, a := range c.Assigns {
			s.assign(a)
		}
		s.words(c.Args)
	case *syntax.BinaryCmd:
		for {
			s.stmt(c.Y)
			left, ok := c.X.Cmd.(*syntax.BinaryCmd)
			if !ok || len(c.X.Redirs) > 0 {
				break
			}
			c = left
		}
		s.stmt(c.X)
	case *syntax.Subshell:
		s.stmts(c.Stmts)
	case *syntax.Block:
		s.stmts(c.Stmts)
	case *syntax.IfClause:
		for ; c != nil; c = c.Else {
			s.stmts(c.Cond)
			s.stmts(c.Then)
		}
	case *syntax.WhileClause:
		s.stmts(c.Cond)
		s.stmts(c.Do)
	case *syntax.ForClause:
		loop, ok := c.Loop.(*syntax.WordIter)
		if !ok || c.Select || c.Braces {
			s.refuse("the command contains a loop other than for ... in and while")
			return
		}
		s.variable(loop.Name.Value)
		s.words(loop.Items)
		s.stmts(c.Do)
	case *syntax.CaseClause:
		s.word(c.Word)
		for _, item := range c.Items {
			if item.Op != syntax.Break || c.Braces {
				s.refuse("a case does not end in ;;")
			}
			s.words(item.Patterns)
			s.stmts(item.Stmts)
		}
	case *syntax.TimeClause:
		s.stmt(c.Stmt)
	case *syntax.TestClause:
		s.test(c.X)
	case *syntax.DeclClause:
		if c.Variant.Value != "export" {
			s.refuse("the command declares variables with %s", c.Variant.Value)
		}
		for _, a := range c.Args {
			if a.Name == nil {
				s.refuse("export has an option or an argument of unknown value")
				return
			}
			s.assign(a)
		}
	default:
		s.refuse("the command contains a function, arithmetic or another construct that no rule covers")
	}
}

// redirect refuses redirections that write files or connect to the network.
func (s strictness) redirect(d *syntax.Redirect) {
	if d.N != nil && (len(d.N.Value) != 1 || d.N.Value[0] < '0' || d.N.Value[0] > '9') {
		s.refuse("the command redirects %s", d.N.Value)
	}
	if d.N != nil && d.N.Value != "0" && (d.Op == syntax.RdrIn || d.Op == syntax.Hdoc || d.Op == syntax.DashHdoc ||
		d.Op == syntax.WordHdoc) {
		s.refuse("the command opens %s, which a program can read as /dev/fd/%s", d.N.Value, d.N.Value)
	}
	target := d.Word.Lit()
	if d.Op != syntax.WordHdoc && (target == "" || strings.ContainsAny(target, `\*?[{~`)) && !s.isDelimiter(d) {
		s.refuse("the target of a redirection is not a plain word")
		return
	}
	switch d.Op {
	case syntax.RdrIn:
		if strings.HasPrefix(target, "/dev/tcp") || strings.HasPrefix(target, "/dev/udp") {
			s.refuse("the command connects to the network")
		}
	case syntax.DplIn, syntax.DplOut:
		if target != "-" && (len(target) != 1 || target[0] < '0' || target[0] > '9') {
			s.refuse("the command writes to %s", target)
		}
	case syntax.Hdoc, syntax.DashHdoc:
		s.hereDocument(d)
	case syntax.WordHdoc:
		s.word(d.Word)
	default:
		if target != "/dev/null" || d.Op == syntax.RdrInOut {
			s.refuse("the command writes to %s", target)
		}
	}
}

var delimiter = regexp.MustCompile(`^[A-Za-z0-9_]+$`)

// isDelimiter reports whether a redirection is a here-document whose delimiter is a name, quoted or not.
func (s strictness) isDelimiter(d *syntax.Redirect) bool {
	if d.Op != syntax.Hdoc && d.Op != syntax.DashHdoc || len(d.Word.Parts) != 1 {
		return false
	}
	switch p := d.Word.Parts[0].(type) {
	case *syntax.SglQuoted:
		return !p.Dollar && delimiter.MatchString(p.Value)
	case *syntax.DblQuoted:
		if len(p.Parts) == 1 && !p.Dollar {
			lit, ok := p.Parts[0].(*syntax.Lit)
			return ok && delimiter.MatchString(lit.Value)
		}
	case *syntax.Lit:
		return delimiter.MatchString(p.Value)
	}
	return false
}

func (s strictness) hereDocument(d *syntax.Redirect) {
	switch {
	case !s.isDelimiter(d):
		s.refuse("the delimiter of a here-document is not a name")
	case d.Hdoc == nil || d.Word.Lit() == "": // empty, or quoted and therefore not expanded
	case strings.Contains(s.text[d.Hdoc.Pos().Offset():d.Hdoc.End().Offset()], "\\\n"):
		s.refuse("a line of a here-document is continued")
	default:
		s.parts(d.Hdoc.Parts, true)
	}
}

func (s strictness) words(list []*syntax.Word) {
	for _, w := range list {
		s.word(w)
	}
}

func (s strictness) word(w *syntax.Word) {
	if w != nil {
		s.parts(w.Parts, false)
	}
}

func (s strictness) parts(parts []syntax.WordPart, quoted bool) {
	for _, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit:
			s.literal(p, quoted)
		case *syntax.SglQuoted:
			if p.Dollar && !s.bash() {
				s.refuse("POSIX shells disagree about $'...'")
			}
		case *syntax.DblQuoted:
			if p.Dollar {
				s.refuse(`shells disagree about $"..."`)
			}
			s.parts(p.Parts, true)
		case *syntax.ParamExp:
			s.parameter(p)
		case *syntax.CmdSubst:
			if p.Backquotes || p.TempFile || p.ReplyVar {
				s.refuse("a substitution is not written as $(...)")
			}
			s.stmts(p.Stmts)
		case *syntax.ProcSubst:
			s.stmts(p.Stmts)
		case *syntax.ArithmExp:
			s.arithmetic(p)
		default:
			s.refuse("the command contains a pattern such as @(a|b)")
		}
	}
}

// literal refuses a dollar sign that is not escaped, because shells disagree about $'a', $"a" and $[1]; and a number
// sign that begins a word, because it could begin a comment.
func (s strictness) literal(l *syntax.Lit, quoted bool) {
	if !quoted && (strings.IndexByte(l.Value, 0xA0) >= 0 || strings.IndexByte(l.Value, 0x85) >= 0) {
		s.refuse("the command contains a letter that some shells take for a blank; put it in quotes")
	}
	for i := 0; i < len(l.Value); i++ {
		switch l.Value[i] {
		case '\\':
			i++
		case '$', '`':
			s.refuse("the command contains a %q that is neither quoted nor an expansion", l.Value[i])
		case '#':
			if at := int(l.Pos().Offset()); !quoted && i == 0 && (at == 0 || at > len(s.text) ||
				strings.IndexByte(" \t\n;&|()<>", s.text[at-1]) >= 0) {
				s.refuse("a word begins with #")
			}
		}
	}
}

// parameter allows the expansions that cannot run a command or set a variable. For example, ${x@P} runs the commands
// in the value of x, and so does ${a[x]}.
func (s strictness) parameter(p *syntax.ParamExp) {
	if p.Excl || p.Width || p.IsSet || p.Flags != nil || p.NestedParam != nil || p.Index != nil || p.Slice != nil ||
		p.Repl != nil || p.Names != 0 || len(p.Modifiers) > 0 || p.Param == nil {
		s.refuse("the command contains an expansion other than $name, ${name:-default} and the like")
		return
	}
	if p.Exp == nil {
		return
	}
	switch p.Exp.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AlternateUnset, syntax.AlternateUnsetOrNull,
		syntax.RemSmallPrefix, syntax.RemLargePrefix, syntax.RemSmallSuffix, syntax.RemLargeSuffix:
	default:
		s.refuse("the expansion ${%s%s...} can set a variable or run a command", p.Param.Value, p.Exp.Op)
	}
	if w := p.Exp.Word; w != nil && !plainOperand.MatchString(w.Lit()) {
		s.refuse("the expansion of %s contains quotes or another expansion", p.Param.Value)
	}
}

var (
	plainOperand = regexp.MustCompile(`^[A-Za-z0-9_./:@%+,*?=-]+$`)
	plainNumbers = regexp.MustCompile(`^[0-9 +*/%()-]+$`)
)

// arithmetic allows numbers and operators only. Bash evaluates the values of variables, and runs the command in
// a[$(command)].
func (s strictness) arithmetic(a *syntax.ArithmExp) {
	from, to := int(a.Left.Offset())+3, int(a.Right.Offset())
	if a.Bracket || a.Unsigned || from > to || to > len(s.text) || !plainNumbers.MatchString(s.text[from:to]) {
		s.refuse("an arithmetic expression contains more than numbers")
	}
}

// test allows the tests that cannot run a command. For example, [[ -v 'a[$(reboot)]' ]] runs reboot.
func (s strictness) test(x syntax.TestExpr) {
	switch x := x.(type) {
	case *syntax.Word:
		s.word(x)
	case *syntax.ParenTest:
		s.test(x.X)
	case *syntax.UnaryTest:
		if x.Op == syntax.TsVarSet || x.Op == syntax.TsRefVar || x.Op == syntax.TsOptSet {
			s.refuse("a test can run a command")
		}
		s.test(x.X)
	case *syntax.BinaryTest:
		switch x.Op {
		case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
			s.refuse("a test compares numbers, which can run a command")
		}
		s.test(x.X)
		s.test(x.Y)
	}
}

func (s strictness) assign(a *syntax.Assign) {
	if a.Index != nil || a.Array != nil {
		s.refuse("the command sets an array")
		return
	}
	s.word(a.Value)
	static := a.Value == nil || a.Value.Lit() != ""
	value := ""
	if a.Value != nil {
		value = a.Value.Lit()
	}
	s.r.strictAssignment(a.Name.Value, value, static)
}

// variable refuses to set a variable other than an ordinary one, for example with for PATH in x.
func (s strictness) variable(name string) { s.r.strictAssignment(name, "", false) }

var (
	// ordinaryName matches the names of variables that scripts use for themselves. Variables that programs or shells
	// obey have names in upper case or with an underscore, apart from specialNames.
	ordinaryName = regexp.MustCompile(`^[a-z][a-z0-9]*$`)
	specialNames = kit.Set("path", "fpath", "cdpath", "manpath", "mailpath", "fignore", "histchars", "prompt", "psvar",
		"argv",
		"status", "watch")

	// harmlessVariables are variables of programs that select an output format or a mode, if the value is a plain word.
	harmlessVariables = kit.Set("LANG", "LANGUAGE", "LC_ALL", "LC_COLLATE", "LC_CTYPE", "LC_MESSAGES", "LC_NUMERIC",
		"LC_TIME", "TZ",
		"NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "CI", "GOOS", "GOARCH", "CGO_ENABLED",
		"NODE_ENV",
		"RUST_BACKTRACE", "DEBIAN_FRONTEND", "GIT_TERMINAL_PROMPT", "GIT_OPTIONAL_LOCKS", "PYTHONUNBUFFERED",
		"PYTHONDONTWRITEBYTECODE")
	plainValue = regexp.MustCompile(`^[A-Za-z0-9_.,@+-]*$`)
)

// strictAssignment refuses to set a variable that can change which program runs or how it behaves, such as PATH,
// LD_PRELOAD, IFS, BASH_ENV or PAGER. Because new ones appear with every program, only known names are allowed.
func (r *reader) strictAssignment(name, value string, static bool) {
	name = strings.TrimSuffix(name, "+")
	switch {
	case ordinaryName.MatchString(name) && !specialNames[name]:
	case harmlessVariables[name] && static && plainValue.MatchString(value):
	default:
		r.refuse(fmt.Errorf("the command sets the variable %s", name))
	}
}

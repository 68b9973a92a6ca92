package shell

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// strictText reads a text for a rule that allows. Unlike [reader.text] it refuses everything that could mean something
// else to a shell than to the parser.
func (r *reader) strictText(text string) {
	if !plainCharacters(text) {
		r.refuse()
		return
	}
	file, err := parse(text, r.lang)
	if errors.Is(err, errTooComplex) {
		r.exceeded = true
		return
	}
	s := strictness{r: r, text: text}
	if err != nil || len(misreads(file, text)) > 0 {
		r.refuse()
	} else if s.walk(file); !r.refused {
		r.stmts(file.Stmts, flow{})
	}
}

// plainCharacters reports whether shells and the parser treat all characters of a text alike.
func plainCharacters(text string) bool {
	for _, c := range text {
		if c != ' ' && c != '\t' && c != '\n' && (unicode.IsControl(c) || unicode.IsSpace(c) || unicode.Is(unicode.Cf, c)) {
			return false
		}
	}
	for rest := text; ; {
		before, after, ok := strings.Cut(rest, "\\\n")
		if !ok {
			return utf8.ValidString(text) && !strings.HasSuffix(text, `\`)
		}
		if !strings.HasSuffix(before, " ") && !strings.HasSuffix(before, "\t") || after == "" {
			return false // a line is continued within a word
		}
		rest = after
	}
}

// A strictness checks a script against the part of the language in which bash, dash and the parser agree, and in which
// a command cannot change the meaning of another one.
type strictness struct {
	r    *reader
	text string
}

// walk checks a part of the script.
func (s strictness) walk(nodes ...syntax.Node) {
	for _, node := range nodes {
		syntax.Walk(node, func(n syntax.Node) bool {
			ok, deeper := s.permits(n)
			if !ok {
				s.r.refuse()
			}
			return deeper && !s.r.refused
		})
	}
}

// permits reports whether a rule may cover a node, and whether the nodes in it are to be checked, too.
func (s strictness) permits(node syntax.Node) (ok, deeper bool) {
	switch n := node.(type) {
	case nil, *syntax.File, *syntax.CallExpr, *syntax.BinaryCmd, *syntax.Subshell, *syntax.Block, *syntax.IfClause,
		*syntax.WhileClause, *syntax.WordIter, *syntax.TimeClause, *syntax.TestClause, *syntax.ParenTest, *syntax.Word,
		*syntax.ProcSubst, *syntax.Comment:
		return true, true
	case *syntax.Stmt:
		return !n.Coprocess && !n.Disown, true
	case *syntax.Redirect:
		return s.redirect(n), false
	case *syntax.Assign:
		return s.assigns(n), true
	case *syntax.ForClause:
		loop, ok := n.Loop.(*syntax.WordIter)
		return ok && !n.Select && !n.Braces && harmlessAssignment(loop.Name.Value, "", false), true // not for PATH in x
	case *syntax.CaseClause:
		return !n.Braces, true
	case *syntax.CaseItem:
		return n.Op == syntax.Break, true
	case *syntax.UnaryTest: // [[ -v 'a[$(reboot)]' ]] runs reboot
		return n.Op != syntax.TsVarSet && n.Op != syntax.TsRefVar && n.Op != syntax.TsOptSet, true
	case *syntax.BinaryTest: // [[ x -eq 'a[$(reboot)]' ]] runs reboot
		return !slices.Contains([]syntax.BinTestOperator{syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq,
			syntax.TsLss, syntax.TsGtr}, n.Op), true
	case *syntax.DeclClause:
		return n.Variant.Value == "export", true
	case *syntax.Lit:
		return s.literal(n, false), false
	case *syntax.SglQuoted:
		return !n.Dollar || s.r.lang == syntax.LangBash, false // POSIX shells disagree about $'...'
	case *syntax.DblQuoted:
		return !n.Dollar && s.quoted(n.Parts), false
	case *syntax.ParamExp:
		return plainParameter(n), false
	case *syntax.CmdSubst:
		return !n.Backquotes && !n.TempFile && !n.ReplyVar, true
	case *syntax.ArithmExp:
		return s.arithmetic(n), false
	}
	return false, false // a function, arithmetic, a pattern such as @(a|b) or another construct that no rule covers
}

// quoted reports whether a rule may cover parts in double quotes or in a here-document.
func (s strictness) quoted(parts []syntax.WordPart) bool {
	for _, part := range parts {
		if lit, ok := part.(*syntax.Lit); !ok {
			s.walk(part)
		} else if !s.literal(lit, true) {
			return false
		}
	}
	return true
}

var (
	digit      = regexp.MustCompile(`^[0-9]?$`)
	descriptor = regexp.MustCompile(`^(?:[0-9]|-)$`)
	delimiter  = regexp.MustCompile(`^(?:[A-Za-z0-9_]+|'[A-Za-z0-9_]+'|"[A-Za-z0-9_]+")$`)
)

// redirect reports whether a redirection neither writes a file nor connects to the network, and gives a program no
// file that it could read as /dev/fd/3.
func (s strictness) redirect(d *syntax.Redirect) bool {
	number := ""
	if d.N != nil {
		number = d.N.Value
	}
	target := d.Word.Lit()
	if !digit.MatchString(number) || d.Op != syntax.WordHdoc && s.delimiterOf(d) == "" &&
		(target == "" || strings.ContainsAny(target, `\*?[{~`)) {
		return false
	}
	reads := number == "" || number == "0"
	switch d.Op {
	case syntax.RdrIn:
		return reads && !strings.HasPrefix(target, "/dev/tcp") && !strings.HasPrefix(target, "/dev/udp")
	case syntax.DplIn, syntax.DplOut:
		return descriptor.MatchString(target)
	case syntax.Hdoc, syntax.DashHdoc:
		return reads && s.hereDocument(d)
	case syntax.WordHdoc:
		s.walk(d.Word)
		return reads
	}
	return target == "/dev/null" && d.Op != syntax.RdrInOut
}

// delimiterOf returns the delimiter of a here-document if it is a name, quoted or not, or else "".
func (s strictness) delimiterOf(d *syntax.Redirect) string {
	text := s.text[d.Word.Pos().Offset():d.Word.End().Offset()]
	if d.Op != syntax.Hdoc && d.Op != syntax.DashHdoc || !delimiter.MatchString(text) {
		return ""
	}
	return strings.Trim(text, `'"`)
}

// hereDocument reports whether a rule may cover a here-document. In a substitution, bash ends it before a line that
// only begins with the delimiter, as in $(cat <<EOF ... EOF), and runs the rest of the line.
func (s strictness) hereDocument(d *syntax.Redirect) bool {
	name := s.delimiterOf(d)
	if d.Hdoc == nil { // empty
		return name != ""
	}
	text := s.text[d.Hdoc.Pos().Offset():d.Hdoc.End().Offset()]
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(strings.TrimLeft(line, "\t"), name); ok && strings.TrimSuffix(rest, "\n") != "" {
			return false
		}
	}
	isQuoted := d.Word.Lit() == "" // and therefore not expanded
	return isQuoted || !strings.Contains(text, "\\\n") && s.quoted(d.Hdoc.Parts)
}

// literal reports whether a literal has neither a dollar sign that is not escaped, because shells disagree about $'a',
// $"a" and $[1]; nor a number sign that begins a word, because it could begin a comment; nor a letter that some shells
// take for a blank.
func (s strictness) literal(l *syntax.Lit, quoted bool) bool {
	at := int(l.Pos().Offset())
	begins := at == 0 || at > len(s.text) || strings.IndexByte(" \t\n;&|()<>", s.text[at-1]) >= 0
	if !quoted && (strings.IndexByte(l.Value, 0xA0) >= 0 || strings.IndexByte(l.Value, 0x85) >= 0 ||
		begins && strings.HasPrefix(l.Value, "#")) {
		return false
	}
	for i := 0; i < len(l.Value); i++ {
		switch l.Value[i] {
		case '\\':
			i++
		case '$', '`':
			return false
		}
	}
	return true
}

// plainParameter reports whether an expansion can neither run a command nor set a variable. For example, ${x@P} runs
// the commands in the value of x, and so does ${a[x]}.
func plainParameter(p *syntax.ParamExp) bool {
	if p.Excl || p.Width || p.IsSet || p.Flags != nil || p.NestedParam != nil || p.Index != nil || p.Slice != nil ||
		p.Repl != nil || p.Names != 0 || len(p.Modifiers) > 0 || p.Param == nil {
		return false
	}
	return p.Exp == nil || slices.Contains([]syntax.ParExpOperator{
		syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AlternateUnset, syntax.AlternateUnsetOrNull,
		syntax.RemSmallPrefix, syntax.RemLargePrefix, syntax.RemSmallSuffix, syntax.RemLargeSuffix,
	}, p.Exp.Op) && (p.Exp.Word == nil || plainOperand.MatchString(p.Exp.Word.Lit()))
}

var (
	plainOperand = regexp.MustCompile(`^[A-Za-z0-9_./:@%+,*?=-]+$`)
	plainNumbers = regexp.MustCompile(`^[0-9 +*/%()-]+$`)
)

// arithmetic reports whether an expression has numbers and operators only. Bash evaluates the values of variables, and
// runs the command in a[$(command)].
func (s strictness) arithmetic(a *syntax.ArithmExp) bool {
	from, to := int(a.Left.Offset())+3, int(a.Right.Offset())
	return !a.Bracket && !a.Unsigned && from <= to && to <= len(s.text) && plainNumbers.MatchString(s.text[from:to])
}

// assigns reports whether an assignment sets a variable that a rule may cover.
func (s strictness) assigns(a *syntax.Assign) bool {
	value := ""
	if a.Value != nil {
		value = a.Value.Lit()
	}
	return a.Index == nil && a.Array == nil && a.Name != nil &&
		harmlessAssignment(a.Name.Value, value, a.Value == nil || value != "")
}

var (
	// ordinaryName matches the names of variables that scripts use for themselves. Variables that programs or shells
	// obey have names in upper case or with an underscore, apart from specialNames.
	ordinaryName = regexp.MustCompile(`^[a-z][a-z0-9]*$`)
	specialNames = set("specialNames")

	// harmlessVariables are variables of programs that select an output format or a mode, if the value is a plain word.
	harmlessVariables = set("harmlessVariables")
	plainValue        = regexp.MustCompile(`^[A-Za-z0-9_.,@+-]*$`)
)

// harmlessAssignment reports whether a variable can change neither which program runs nor how it behaves, unlike PATH,
// LD_PRELOAD, IFS, BASH_ENV or PAGER. Because new ones appear with every program, only known names are allowed.
func harmlessAssignment(name, value string, static bool) bool {
	name = strings.TrimSuffix(name, "+")
	return ordinaryName.MatchString(name) && !specialNames[name] ||
		harmlessVariables[name] && static && plainValue.MatchString(value)
}

package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// anything replaces the parts of a word whose value is known only when the command runs. A glob contains no such
// character, so only "*" matches it. A text with this character is never allowed.
const anything = "\x01"

// A word is a word of a command as the command receives it.
type word struct {
	text    string     // without quotes; an expansion of unknown value is $NAME, $() or <()
	glob    string     // text, with anything for each expansion
	joined  bool       // one written word expands to several, and this is not the first
	splits  bool       // the word can become several: an expansion is not quoted, or a pattern begins the word
	outputs []*Command // the commands whose output is substituted into the word
}

// isStatic reports whether the word is the same in every run.
func (w word) isStatic() bool { return !w.joined && !strings.Contains(w.glob, anything) }

// staticWords returns words for texts that are not expanded, for example the arguments of a process.
func staticWords(texts []string) []word {
	words := make([]word, len(texts))
	for i, t := range texts {
		words[i] = word{text: t, glob: t}
	}
	return words
}

// textsOf returns the texts of words.
func textsOf(words []word) []string {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = w.text
	}
	return list
}

// A wordBuilder collects the words to which one written word expands.
type wordBuilder struct {
	done       []word
	text, glob strings.Builder
	outputs    []*Command
	begun      bool // a word has begun, though it may be empty
	whole      bool // blanks in expansions do not separate words, as in an assignment
	splits     bool
}

func (b *wordBuilder) static(text string) {
	b.begun = true
	b.text.WriteString(text)
	b.glob.WriteString(text)
}

// expansion adds the text of an expansion. Blanks in the text separate words unless it is quoted.
func (b *wordBuilder) expansion(text string, quoted bool) {
	quoted = quoted || b.whole
	b.splits = b.splits || !quoted
	fields := []string{text}
	if !quoted {
		fields = strings.FieldsFunc(text, isBlank)
	}
	for i, field := range fields {
		if i > 0 || !quoted && isBlank(rune(text[0])) {
			b.separate()
		}
		b.begun = true
		b.text.WriteString(field)
		b.glob.WriteString(anything)
	}
	if !quoted && text != "" && isBlank(rune(text[len(text)-1])) {
		b.separate()
	}
}

func isBlank(r rune) bool { return r == ' ' || r == '\t' || r == '\n' }

// separate ends a word.
func (b *wordBuilder) separate() {
	if b.begun {
		b.done = append(b.done, word{text: b.text.String(), glob: b.glob.String(), joined: len(b.done) > 0,
			splits: b.splits})
	}
	b.begun = false
	b.text.Reset()
	b.glob.Reset()
}

// words returns the words to which written words expand.
func (r *reader) words(written []*syntax.Word) (words []word) {
	for _, w := range written {
		words = append(words, r.expand(w)...)
	}
	return words
}

// expand returns the words to which a written word expands: none, one or more.
func (r *reader) expand(w *syntax.Word) []word {
	if w == nil || !r.spend(1) {
		return nil
	}
	if w.Lit() == "[" { // the program, not the beginning of a pattern
		return staticWords([]string{"["})
	}
	var b wordBuilder
	if pieces := braces(w); pieces != nil {
		for _, p := range pieces {
			b.static(p)
			b.separate()
		}
	} else {
		r.parts(&b, w.Parts, false)
		b.separate()
	}
	for i := range b.done {
		b.done[i].outputs = b.outputs
		if len(b.done) > 1 || hasBraces(w) {
			b.done[i].glob = anything
		}
	}
	return b.done
}

// textOf returns a written word as one text without quotes.
func (r *reader) textOf(w *syntax.Word) string { return strings.Join(textsOf(r.expand(w)), " ") }

// hasBraces reports whether a word could contain a brace expansion such as {a,b} or {1..9}.
func hasBraces(w *syntax.Word) bool {
	var unquoted strings.Builder
	for _, part := range w.Parts {
		if lit, ok := part.(*syntax.Lit); ok {
			unquoted.WriteString(lit.Value)
		}
	}
	_, list, ok := strings.Cut(unquoted.String(), "{")
	return ok && strings.Contains(list, "}") && (strings.Contains(list, ",") || strings.Contains(list, ".."))
}

// braces returns the words to which a word such as {rm,-rf,/} or a.{c,h} expands, nil for other words. It ignores
// braces that contain quotes, expansions or other braces.
func braces(w *syntax.Word) (words []string) {
	if len(w.Parts) != 1 {
		return nil
	}
	lit, ok := w.Parts[0].(*syntax.Lit)
	if !ok || strings.Contains(lit.Value, `\`) {
		return nil
	}
	before, rest, opens := strings.Cut(lit.Value, "{")
	list, after, closes := strings.Cut(rest, "}")
	if !opens || !closes || !strings.Contains(list, ",") {
		return nil
	}
	for piece := range strings.SplitSeq(list, ",") {
		if piece = before + piece + after; piece != "" {
			words = append(words, piece)
		}
	}
	return words
}

// parts adds the parts of a word.
func (r *reader) parts(b *wordBuilder, parts []syntax.WordPart, quoted bool) {
	for _, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit:
			r.literal(b, p.Value, quoted)
		case *syntax.SglQuoted:
			if p.Dollar {
				b.static(unescape(p.Value))
			} else {
				b.static(p.Value)
			}
		case *syntax.DblQuoted:
			b.begun = true
			r.parts(b, p.Parts, true)
		case *syntax.ParamExp:
			r.parameter(b, p, quoted)
		case *syntax.CmdSubst:
			b.expansion(r.substitution(b, p.Stmts, "$()"), quoted)
		case *syntax.ProcSubst:
			r.substitution(b, p.Stmts, "")
			b.expansion("<()", quoted)
		case *syntax.ArithmExp:
			r.nested(p.X)
			b.expansion("$(())", quoted)
		case *syntax.ExtGlob:
			r.text(p.Pattern.Value) // without the option extglob, !(...) is a subshell
			b.expansion("*", quoted)
		}
	}
}

// substitution reads the commands of a substitution, and returns their output if the text contains it.
func (r *reader) substitution(b *wordBuilder, stmts []*syntax.Stmt, unknown string) string {
	from := len(r.found)
	output := strings.TrimRight(r.isolated(stmts, flow{}), "\n")
	if r.spend(len(r.found) - from) {
		b.outputs = append(b.outputs, r.found[from:]...)
	}
	if output == "" || r.strict {
		return unknown
	}
	return output
}

// literal adds a literal, without its backslashes. The shell may replace an unquoted pattern such as a*.go with names
// of files.
func (r *reader) literal(b *wordBuilder, value string, quoted bool) {
	first := strings.IndexAny(value, "*?[")
	if quoted || first < 0 {
		b.static(unquote(value, quoted))
		return
	}
	b.begun = true
	b.splits = b.splits || first == 0 && b.text.Len() == 0
	b.text.WriteString(unquote(value, false))
	last := strings.LastIndexAny(value, "*?[]")
	b.glob.WriteString(unquote(value[:first], false) + anything + unquote(value[last+1:], false))
}

// unquote removes the backslashes of a literal.
func unquote(value string, quoted bool) string {
	if strings.IndexByte(value, '\\') < 0 {
		return value
	}
	var b strings.Builder
	for i := 0; i < len(value); i++ {
		if value[i] == '\\' && i+1 < len(value) && (!quoted || strings.IndexByte("$`\"\\", value[i+1]) >= 0) {
			i++
		}
		b.WriteByte(value[i])
	}
	return b.String()
}

// parameter adds the value of a variable if the text assigns it, otherwise its name.
func (r *reader) parameter(b *wordBuilder, p *syntax.ParamExp, quoted bool) {
	if p.Param == nil {
		b.expansion("$", quoted)
		return
	}
	other := ""
	if p.Exp != nil {
		r.nested(p.Index)
		other = r.textOf(p.Exp.Word)
	} else {
		r.nested(p)
	}
	name := p.Param.Value
	value, known := r.values[name]
	list, isList := r.lists[name]
	if by := r.by[name]; len(by) > 0 && b.text.Len() == 0 && r.spend(len(by)) {
		b.outputs = append(b.outputs, by...) // the word begins with the output of a command
	}
	switch {
	case name == "IFS" && !quoted && !b.whole && !r.strict:
		b.separate()
		return
	case r.strict || p.Length || p.Excl || p.Repl != nil || p.Slice != nil:
		value = "$" + name
	case isList && (p.Index != nil || !known):
		for i, v := range list {
			if !r.spend(1 + len(v)) {
				return
			}
			if i > 0 {
				b.separate()
			}
			b.expansion(v, true)
		}
		return
	case p.Exp != nil && slices.Contains(defaultOperators, p.Exp.Op) && value == "" && other != "" && name != "HOME":
		value = other
	case !known || p.Exp != nil && !slices.Contains(defaultOperators, p.Exp.Op):
		value = "$" + name
	}
	if r.spend(len(value)) {
		b.expansion(value, quoted)
	}
}

// defaultOperators are the operators of expansions like ${a:-b}, whose value is a or else b.
var defaultOperators = []syntax.ParExpOperator{
	syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull,
}

// nested reads the substitutions in a node other than a word, for example in an arithmetic expression.
func (r *reader) nested(node syntax.Node) {
	if node == nil {
		return
	}
	syntax.Walk(node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			r.isolated(n.Stmts, flow{})
			return false
		case *syntax.ProcSubst:
			r.isolated(n.Stmts, flow{})
			return false
		}
		return true
	})
}

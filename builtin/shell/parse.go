package shell

import (
	"strings"
	"unicode/utf8"

	"github.com/hookgen/hookgen/builtin/internal/kit"
)

// A shellScript is a parsed text: a list of pipelines.
type shellScript []shellPipeline

// A shellPipeline is a list of stages; each stage reads the output of the preceding one.
type shellPipeline []*shellStage

// A shellStage is one command of a pipeline, or a group of commands in parentheses or braces.
type shellStage struct {
	words     []shellWord
	redirects []*shellRedirect
	group     shellScript   // of (...) and {...}
	inner     []shellScript // of parentheses among the words, as in other languages
	calls     []shellCall
}

// A shellWord is a word without its quotes. Variables are not expanded.
type shellWord struct {
	text    string
	quoted  bool
	runs    []shellScript // substitutions in the word: $(...), `...` and <(...)
	outputs []*Command    // the commands of runs, once the collector has visited them
}

// A shellRedirect is a redirection such as 2> file or a here-document.
type shellRedirect struct {
	op        string // without the file descriptor
	target    shellWord
	body      string // of a here-document
	delimiter string // of a here-document
	tabs      bool   // leading tabs of the body are removed
}

// A shellCall is a function call of another language: a name, and the quoted texts in its parentheses.
type shellCall struct {
	name  string
	texts []string
}

// keywords can precede a command.
var keywords = kit.Set("if", "then", "else", "elif", "while", "until", "do", "!")

// maxDepth bounds the nesting of commands in commands.
const maxDepth = 40

// A parser parses a text like a shell. It never fails: an unclosed quote or parenthesis is an ordinary character, so
// that commands in texts of other languages are found.
type parser struct {
	text    string
	at      int
	depth   int
	budget  *workBudget
	pending []*shellRedirect // here-documents whose bodies begin on the next line
}

// A workBudget bounds the work for one text, because a hostile text could otherwise take quadratic time. If the budget
// is exceeded, the parser stops.
type workBudget struct {
	remaining int // bytes that may still be scanned
	exceeded  bool
}

func (e *workBudget) spend(n int) bool {
	if e.remaining -= n; e.remaining < 0 {
		e.exceeded = true
	}
	return !e.exceeded
}

// parseScript parses a text.
func parseScript(text string, depth int, budget *workBudget) shellScript {
	p := parser{text: text, depth: depth, budget: budget}
	return p.script(0)
}

// within returns a parser for a part of the text, with the same budget.
func (p *parser) within(text string) *parser {
	return &parser{text: text, depth: p.depth, budget: p.budget}
}

// script parses up to and including the closing byte, or to the end of the text.
func (p *parser) script(end byte) (script shellScript) {
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > maxDepth || !p.budget.spend(len(p.text)-p.at) {
		p.budget.exceeded = true
		p.at = len(p.text)
	}
	var (
		pipe  shellPipeline
		stage = new(shellStage)
	)
	endStage := func() {
		if !stage.empty() {
			pipe = append(pipe, stage)
			stage = new(shellStage)
		}
	}
	endPipe := func() {
		if endStage(); len(pipe) > 0 {
			script = append(script, pipe)
			pipe = nil
		}
	}
	for p.at < len(p.text) && !p.budget.exceeded {
		c := p.text[p.at]
		switch {
		case c == end && end == ')', c == end && end == '}' && stage.empty():
			p.at++
			endPipe()
			return script
		case c == ' ' || c == '\t' || c == '\r':
			p.at++
		case c == '\n':
			p.at++
			endPipe()
			p.bodies()
		case c == '#':
			p.comment()
		case p.take("&>>"), p.take("&>"):
			p.redirect(stage, ">")
		case p.take("&&"), p.take("||"), p.take(";"), p.take("&"), p.take(")"):
			endPipe()
		case p.take("|&"), p.take("|"):
			endStage()
		case c == '(' && stage.empty():
			p.at++
			stage.group = append(stage.group, p.script(')')...)
		case p.take("()"):
			if len(stage.words) == 1 { // a function definition
				stage.words = nil
			}
		case c == '(':
			p.at++
			stage.inner = append(stage.inner, p.script(')'))
		case c == '{' && stage.empty() && p.blankAfter():
			p.at++
			stage.group = append(stage.group, p.script('}')...)
		case (c == '<' || c == '>') && !p.substitutes():
			p.redirect(stage, p.operator())
		default:
			p.words(stage)
		}
	}
	endPipe()
	return script
}

func (s *shellStage) empty() bool {
	return len(s.words) == 0 && len(s.redirects) == 0 && s.group == nil && len(s.inner) == 0
}

// take consumes piece if the remaining text begins with it.
func (p *parser) take(piece string) bool {
	if !strings.HasPrefix(p.text[p.at:], piece) {
		return false
	}
	p.at += len(piece)
	return true
}

func (p *parser) blanks() {
	for p.at < len(p.text) && (p.text[p.at] == ' ' || p.text[p.at] == '\t') {
		p.at++
	}
}

func (p *parser) comment() {
	if end := strings.IndexByte(p.text[p.at:], '\n'); end >= 0 {
		p.at += end
	} else {
		p.at = len(p.text)
	}
}

// blankAfter reports whether the byte after the current one is a blank or the end of the text.
func (p *parser) blankAfter() bool {
	return p.at+1 >= len(p.text) || strings.IndexByte(" \t\r\n", p.text[p.at+1]) >= 0
}

// substitutes reports whether a process substitution such as <(ls) begins here.
func (p *parser) substitutes() bool {
	return p.at+1 < len(p.text) && p.text[p.at+1] == '(' && (p.text[p.at] == '<' || p.text[p.at] == '>')
}

// operator consumes the operator of a redirection.
func (p *parser) operator() string {
	for _, op := range []string{"<<<", "<<-", "<<", "<&", "<>", "<", ">>", ">|", ">&", ">"} {
		if p.take(op) {
			return op
		}
	}
	return ""
}

// redirect consumes the target of a redirection.
func (p *parser) redirect(stage *shellStage, op string) {
	p.blanks()
	r := &shellRedirect{op: op}
	if p.at < len(p.text) && p.text[p.at] != '\n' {
		r.target, _ = p.word()
	}
	stage.redirects = append(stage.redirects, r)
	if op == "<<" || op == "<<-" {
		r.delimiter, r.tabs = r.target.text, op == "<<-"
		p.pending = append(p.pending, r)
	}
}

// bodies consumes the bodies of the here-documents that the preceding line began.
func (p *parser) bodies() {
	pending := p.pending
	p.pending = nil
	for _, r := range pending {
		var body strings.Builder
		for p.at < len(p.text) {
			line, rest, more := strings.Cut(p.text[p.at:], "\n")
			p.at = len(p.text) - len(rest)
			if !more {
				p.at = len(p.text)
			}
			if r.tabs {
				line = strings.TrimLeft(line, "\t")
			}
			if strings.TrimRight(line, "\r") == r.delimiter {
				break
			}
			body.WriteString(line)
			body.WriteByte('\n')
		}
		r.body = body.String()
		if !r.target.quoted {
			r.target.runs = append(r.target.runs, p.within(r.body).expansions()...)
		}
	}
}

// words consumes a word and the parentheses that follow it directly. Braces as in {a,b} expand to several words.
func (p *parser) words(stage *shellStage) {
	start := p.at
	word, more := p.word()
	if p.at == start && !more { // not the beginning of a word
		_, size := utf8.DecodeRuneInString(p.text[p.at:])
		p.at += size
		return
	}
	if !word.quoted && len(word.runs) == 0 {
		switch {
		case word.text == "":
			return
		case len(stage.words) == 0 && keywords[word.text]:
			return
		case len(stage.words) == 0 && word.text == "function":
			p.blanks()
			p.word() // the name of the function
			return
		case p.at < len(p.text) && (p.text[p.at] == '<' || p.text[p.at] == '>') &&
			strings.Trim(word.text, "0123456789") == "":
			return // the file descriptor of a redirection
		}
		if list, ok := strings.CutPrefix(word.text, "{"); ok && strings.HasSuffix(list, "}") && strings.Contains(list, ",") {
			for piece := range strings.SplitSeq(strings.TrimSuffix(list, "}"), ",") {
				stage.words = append(stage.words, shellWord{text: piece})
			}
			return
		}
	}
	stage.words = append(stage.words, word)
	if p.at < len(p.text) && p.text[p.at] == '(' {
		p.call(stage, word.text)
	}
}

// call consumes the parentheses that follow a word directly, if they are closed.
func (p *parser) call(stage *shellStage, name string) {
	texts, end, ok := p.literals()
	if !ok {
		return
	}
	inside := p.text[p.at+1 : end-1]
	p.at = end
	if strings.TrimSpace(inside) == "" && len(stage.words) == 1 { // a function definition
		stage.words = nil
		return
	}
	if len(texts) > 0 {
		stage.calls = append(stage.calls, shellCall{name, texts})
	}
	stage.inner = append(stage.inner, p.within(inside).script(0))
}

// literals returns the quoted texts in the parentheses that begin here, and the position after the parentheses. It
// reports false if they are not closed.
func (p *parser) literals() (texts []string, end int, ok bool) {
	depth := 0
	start := p.at
	defer func() { p.budget.spend(end - start) }()
	for end = p.at; end < len(p.text); end++ {
		switch c := p.text[end]; c {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				end++
				return texts, end, true
			}
		case '\\':
			end++
		case '"', '\'', '`':
			if text, size, closed := literal(p.text[end:]); closed {
				end += size - 1
				if text != "" {
					texts = append(texts, text)
				}
			} else { // an apostrophe
				p.budget.spend(len(p.text) - end)
			}
		}
	}
	return nil, end, false
}

// literal returns the quoted text at the beginning of s, and its size in bytes with its quotes. It reports false if the
// quotes are not closed.
func literal(s string) (text string, size int, closed bool) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		if s[i] == s[0] {
			return b.String(), i + 1, true
		}
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return "", 0, false
}

// word consumes one word. more is true if another word follows without a blank, because $IFS separates them.
func (p *parser) word() (w shellWord, more bool) {
	var b strings.Builder
	defer func() { w.text = b.String() }()
	for p.at < len(p.text) {
		c := p.text[p.at]
		switch c {
		case ' ', '\t', '\r', '\n', ';', '&', '|', '(', ')':
			return w, false
		case '<', '>':
			if !p.substitutes() {
				return w, false
			}
			p.at += 2
			w.runs = append(w.runs, p.script(')'))
			b.WriteString("<()")
		case '\\':
			p.at++
			if p.at < len(p.text) {
				if p.text[p.at] != '\n' {
					b.WriteByte(p.text[p.at])
					w.quoted = true
				}
				p.at++
			}
		case '\'':
			if text, ok := p.until("'"); ok {
				b.WriteString(text)
				w.quoted = true
			} else {
				b.WriteByte(c)
				p.at++
			}
		case '"':
			if !p.quotes(&b, &w) {
				b.WriteByte(c)
				p.at++
			}
		case '$':
			if name := p.fieldSeparator(); name > 0 {
				p.at += name
				return w, true
			}
			p.dollar(&b, &w)
		case '`':
			p.backticks(&b, &w)
		default:
			b.WriteByte(c)
			p.at++
		}
	}
	return w, false
}

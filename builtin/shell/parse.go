package shell

import (
	"strings"
	"unicode/utf8"

	"github.com/hookgen/hookgen/builtin/internal/kit"
)

// A shellScript is what a shell would read from a text: pipelines, one after the other.
type shellScript []shellPipeline

// A shellPipeline is commands, each of which reads what the one before writes.
type shellPipeline []*shellStage

// A shellStage is one command of a pipeline as it is written, or a group of commands in its place.
type shellStage struct {
	words     []shellWord
	redirects []*shellRedirect
	group     shellScript   // of (...) and {...}
	inner     []shellScript // of parentheses among the words, as other languages have them
	calls     []shellCall
}

// A shellWord is a word without its quotes. What only a shell could expand stays as it is written.
type shellWord struct {
	text    string
	quoted  bool
	runs    []shellScript // whose output is put into the word, or stands behind it as a file
	outputs []*Command    // the commands of runs, where they have been collected
}

// A shellRedirect is a redirection.
type shellRedirect struct {
	op     string // without the number before it
	target shellWord
	body   string // of a here-document
	until  string // its delimiter
	tabs   bool   // tabs at the beginning of its lines are left out
}

// A shellCall is a call as other languages write it: a name and texts in the parentheses that follow it.
type shellCall struct {
	name  string
	texts []string
}

// shellKeywords stand before a command.
var shellKeywords = kit.Set("if", "then", "else", "elif", "while", "until", "do", "!")

// maxShellDepth bounds how deeply commands are looked for within commands.
const maxShellDepth = 40

// A shellParser reads a text the way that a shell does. It never fails: a quote or a parenthesis without its end
// stands for itself, so that text in other languages can be read as far as it looks like commands.
type shellParser struct {
	text    string
	at      int
	depth   int
	effort  *shellEffort
	pending []*shellRedirect // here-documents whose bodies begin at the next line
}

// shellEffort bounds the work that a text can cause. When a bound is reached, the rest is left unread and tooMuch
// is set.
type shellEffort struct {
	left    int // bytes to look at
	tooMuch bool
}

func (e *shellEffort) spend(n int) bool {
	if e.left -= n; e.left < 0 {
		e.tooMuch = true
	}
	return !e.tooMuch
}

// parseShell reads a text.
func parseShell(text string, depth int, effort *shellEffort) shellScript {
	p := shellParser{text: text, depth: depth, effort: effort}
	return p.script(0)
}

// within returns a parser of a text that is part of this one.
func (p *shellParser) within(text string) *shellParser {
	return &shellParser{text: text, depth: p.depth, effort: p.effort}
}

// script reads up to the closing byte, which it takes, or to the end.
func (p *shellParser) script(end byte) (script shellScript) {
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > maxShellDepth || !p.effort.spend(len(p.text)-p.at) {
		p.effort.tooMuch = true
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
	for p.at < len(p.text) && !p.effort.tooMuch {
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
			if len(stage.words) == 1 { // a function is defined
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

// take takes a piece of text if it comes next.
func (p *shellParser) take(piece string) bool {
	if !strings.HasPrefix(p.text[p.at:], piece) {
		return false
	}
	p.at += len(piece)
	return true
}

func (p *shellParser) blanks() {
	for p.at < len(p.text) && (p.text[p.at] == ' ' || p.text[p.at] == '\t') {
		p.at++
	}
}

func (p *shellParser) comment() {
	if end := strings.IndexByte(p.text[p.at:], '\n'); end >= 0 {
		p.at += end
	} else {
		p.at = len(p.text)
	}
}

// blankAfter reports whether the byte after the next is a blank or missing.
func (p *shellParser) blankAfter() bool {
	return p.at+1 >= len(p.text) || strings.IndexByte(" \t\r\n", p.text[p.at+1]) >= 0
}

// substitutes reports whether a process substitution comes next.
func (p *shellParser) substitutes() bool {
	return p.at+1 < len(p.text) && p.text[p.at+1] == '(' && (p.text[p.at] == '<' || p.text[p.at] == '>')
}

// operator takes the operator of a redirection.
func (p *shellParser) operator() string {
	for _, op := range []string{"<<<", "<<-", "<<", "<&", "<>", "<", ">>", ">|", ">&", ">"} {
		if p.take(op) {
			return op
		}
	}
	return ""
}

// redirect takes the target of a redirection.
func (p *shellParser) redirect(stage *shellStage, op string) {
	p.blanks()
	r := &shellRedirect{op: op}
	if p.at < len(p.text) && p.text[p.at] != '\n' {
		r.target, _ = p.word()
	}
	stage.redirects = append(stage.redirects, r)
	if op == "<<" || op == "<<-" {
		r.until, r.tabs = r.target.text, op == "<<-"
		p.pending = append(p.pending, r)
	}
}

// bodies takes the bodies of the here-documents of the line that has just ended.
func (p *shellParser) bodies() {
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
			if strings.TrimRight(line, "\r") == r.until {
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

// words takes a word, or the words that braces make of one, with the parentheses that follow it directly.
func (p *shellParser) words(stage *shellStage) {
	start := p.at
	word, more := p.word()
	if p.at == start && !more { // a byte that begins nothing
		_, size := utf8.DecodeRuneInString(p.text[p.at:])
		p.at += size
		return
	}
	if !word.quoted && len(word.runs) == 0 {
		switch {
		case word.text == "":
			return
		case len(stage.words) == 0 && shellKeywords[word.text]:
			return
		case len(stage.words) == 0 && word.text == "function":
			p.blanks()
			p.word() // its name
			return
		case p.at < len(p.text) && (p.text[p.at] == '<' || p.text[p.at] == '>') && strings.Trim(word.text, "0123456789") == "":
			return // the number of a redirection
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

// call takes parentheses that follow a word directly, if they have an end.
func (p *shellParser) call(stage *shellStage, name string) {
	texts, end, ok := p.literals()
	if !ok {
		return
	}
	inside := p.text[p.at+1 : end-1]
	p.at = end
	if strings.TrimSpace(inside) == "" && len(stage.words) == 1 { // a function is defined
		stage.words = nil
		return
	}
	if len(texts) > 0 {
		stage.calls = append(stage.calls, shellCall{name, texts})
	}
	stage.inner = append(stage.inner, p.within(inside).script(0))
}

// literals returns the quoted texts in the parentheses that come next, and where these end. It reports false if
// they do not.
func (p *shellParser) literals() (texts []string, end int, ok bool) {
	depth := 0
	start := p.at
	defer func() { p.effort.spend(end - start) }()
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
				p.effort.spend(len(p.text) - end)
			}
		}
	}
	return nil, end, false
}

// literal returns the text in the quotes that come first, and how long it is with them. It reports false if they
// have no end.
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

// word takes one word. It reports true if a word ends here although another one follows without a blank.
func (p *shellParser) word() (w shellWord, more bool) {
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

package shell

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

var (
	awkSeparator = regexp.MustCompile(`(?m)^(?:-F|--field-separator)[\n=]?.*$`)
	awkLiteral   = regexp.MustCompile(`"((?:[^"\\]|\\.)*)"`)
	awkRuns      = regexp.MustCompile(`\bsystem\b|\bgetline\b|\|`)
	awkFile      = regexp.MustCompile(`>\s*"([^"]*)"`)
)

// awk reads the commands that a program of awk runs. Their texts can be joined, come from -v, or be lines of the input.
func (r *reader) awk(c *Command, in flow) {
	if r.strict {
		return // checkTexts refuses what runs a command
	}
	program := awkSeparator.ReplaceAllString(strings.Join(c.Args, "\n"), "")
	if slices.Contains(c.Args, "-f") {
		program += "\n" + c.Stdin
	}
	for _, m := range awkFile.FindAllStringSubmatch(program, -1) {
		c.Writes = append(c.Writes, m[1])
	}
	if !awkRuns.MatchString(program) {
		return
	}
	r.foreign(program)
	joined := ""
	for _, m := range awkLiteral.FindAllStringSubmatch(program, -1) {
		text := unescape(m[1], false)
		r.text(text)
		joined += text
	}
	r.text(joined)
	for i, arg := range c.Args {
		if _, value, ok := strings.Cut(arg, "="); ok && i > 0 && c.Args[i-1] == "-v" {
			r.text(value)
		}
	}
	c.executesOutput(in.before)
	r.stdinScript(c)
}

var (
	// sedExecutes matches the command e of GNU sed, which runs a command, or the lines of the input.
	sedExecutes = regexp.MustCompile(`(?m)(?:^|[;{}]|[0-9$/!,#|])[ \t]*e(?:[ \t]+([^\n]+)|[ \t]*(?:$|[;}]))`)
	sedWrites   = regexp.MustCompile(`(?m)(?:^|[;{}]|[0-9$/!,#|gpIiMm])[ \t]*[wW][ \t]*(/[^\n;}]+)`)
	sedReplaces = regexp.MustCompile(`s[/#|,@:]`)
)

// sed reads the commands that a script of sed runs, and the files that it writes.
func (r *reader) sed(c *Command, in flow) {
	if r.strict {
		return // checkTexts refuses what runs a command
	}
	for _, text := range c.texts() {
		text = strings.TrimPrefix(strings.TrimPrefix(text, "--expression="), "-e")
		for _, m := range sedWrites.FindAllStringSubmatch(text, -1) {
			c.Writes = append(c.Writes, strings.TrimSpace(m[1]))
		}
		runs := false
		for _, m := range sedExecutes.FindAllStringSubmatch(text, -1) {
			runs = true
			r.text(m[1])
		}
		for _, at := range sedReplaces.FindAllStringIndex(text, -1) {
			replacement, flags := substitution(text[at[1]:], text[at[1]-1])
			if strings.Contains(flags, "e") {
				runs = true
				r.text(replacement)
			}
		}
		if runs {
			c.executesOutput(in.before)
			r.stdinScript(c)
		}
	}
}

// substitution returns the replacement and the flags of the command s of sed, without its first delimiter.
func substitution(text string, delimiter byte) (replacement, flags string) {
	var parts [3]strings.Builder
	part := 0
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\' && i+1 < len(text):
			i++
			parts[part].WriteByte(text[i])
		case text[i] == delimiter && part < 2:
			part++
		case part == 2 && strings.IndexByte("0123456789egipIMm", text[i]) < 0:
			return parts[1].String(), parts[2].String()
		default:
			parts[part].WriteByte(text[i])
		}
	}
	return parts[1].String(), parts[2].String()
}

// checkTexts refuses programs of awk and sed that run commands or write files. Because another version can read a
// program differently, a program is refused unless each version reads it alike.
func (r *reader) checkTexts(program string, texts, operands []word) {
	isSed := scriptFirst[program] && strings.HasSuffix(program, "sed")
	if !r.strict || !isSed && !strings.HasSuffix(program, "awk") {
		return
	}
	if len(texts) == 0 {
		texts = operands[:min(1, len(operands))]
		if isSed && len(operands) > 1 && operands[0].text == "" { // sed -i '' of BSD
			texts = operands[:2]
		}
	}
	for _, w := range texts {
		if !w.isStatic() || isSed && !sedHarmless().MatchString(w.text) || !isSed && !awkIsHarmless(w.text) {
			r.refuse(errUnreadable)
		}
	}
}

var (
	// awkConstants are strings, comments, and the regular expressions that cannot be divisions.
	awkConstants = regexp.MustCompile(`"(?:[^"\\\n]|(?s:\\.))*"|#[^\n]*|` +
		`(^|[({,;!~&|}=<>?:]|[^\\]\n)[ \t]*/(?:[^/\\\n\[]|\\[^\n]|\[\^?\]?[^\]\[/\n"\\]*\])*/`)
	awkUncertain = regexp.MustCompile(`["/]`)
	awkHarmful   = regexp.MustCompile(`\bsystem\b|\bgetline\b|@|\|&|(?:^|[^|])\|(?:[^|]|$)`)

	// An output of awk can have more than one line: a comma, an operator or a backslash continues it. If a part could be
	// a string, its end is uncertain.
	awkWrites   = regexp.MustCompile(awkOutput + `>`)
	awkMayWrite = regexp.MustCompile(awkOutput + `(?:>|"(?s:.*)>)`)
)

const awkOutput = `\bprintf?\b(?:[^";}\n]|[\\,&|?:][ \t0]*\n)*`

// awkIsHarmless reports whether a program of awk neither runs a command nor writes a file. If it is not certain what is
// a division and what a regular expression, strings count as code.
func awkIsHarmless(program string) bool {
	code := awkConstants.ReplaceAllString(program, "$1 0 ")
	if awkUncertain.MatchString(code) {
		return !awkHarmful.MatchString(program) && !awkMayWrite.MatchString(program)
	}
	return !awkHarmful.MatchString(code) && !awkWrites.MatchString(code)
}

// sedHarmless matches the scripts of sed that contain only commands that neither run others nor write files. The
// commands s and y are known with some delimiters only.
var sedHarmless = sync.OnceValue(func() *regexp.Regexp {
	var replaces strings.Builder
	for _, d := range `/|,#@:!~%+=_` {
		q := regexp.QuoteMeta(string(d))
		pattern := `(?:[^\[\\\n` + q + `]|\\.|\[\^?\]?(?:[^\]\[\\\n]|\\[^\]\n]|\[:[a-z]+:\])*\])*`
		text := `(?:[^\\\n` + q + `]|\\[\s\S])*`
		replaces.WriteString(`|s` + q + pattern + q + text + q + `[gpIiMm0-9]*|y` + q + text + q + text + q)
	}
	const address = `(?:[0-9]+(?:~[0-9]+)?|\$|/(?:[^/\[\\\n]|\\.|\[\^?\]?(?:[^\]\[\\\n]|\[:[a-z]+:\])*\])*/[IM]*)`
	return regexp.MustCompile(`^(?:[\s;}]*(?:` + address + `\s*(?:,\s*[+~]?` + address + `)?)?[\s!]*(?:\{|(?:` +
		`[=dDgGhHnNpPxzF]|[lqQ]\s*[0-9]*|[aic](?:\\\n|\\?[^\n\\])[^\n\\]*|[btT:]\s*[A-Za-z0-9_]*|r\s*[^\n]*|#[^\n]*` +
		replaces.String() + `)[ \t]*(?:[;}\n]|$)))*[\s;}]*$`)
})

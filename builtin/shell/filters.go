package shell

import (
	"regexp"
	"strings"
	"sync"

	"github.com/hookgen/hookgen/builtin/internal/kit"
)

// scriptFirst are programs whose first argument is a program in a language that can run commands.
var scriptFirst = kit.Set("awk", "gawk", "mawk", "nawk", "sed", "gsed", "vim", "vi", "nvim", "ex", "view")

// checkTexts looks at programs of awk and sed. For a rule that allows, it refuses those that run commands or write
// files. Because another version can read a program differently, it refuses all but those that each version reads
// alike.
func (r *reader) checkTexts(c *Command, texts, operands []word) {
	isSed := scriptFirst[c.Program] && strings.HasSuffix(c.Program, "sed")
	if !isSed && !strings.HasSuffix(c.Program, "awk") {
		return
	}
	if len(texts) == 0 {
		texts = operands[:min(1, len(operands))]
		if isSed && len(operands) > 1 && operands[0].text == "" { // sed -i '' of BSD
			texts = operands[:2]
		}
	}
	for _, w := range texts {
		switch {
		case isSed && sedHarmless().MatchString(w.text) && w.isStatic():
		case isSed && (r.strict || r.spend(len(w.text)) && sedRuns.MatchString(w.text)):
			r.opaque(c)
		case !isSed && (!w.isStatic() && r.strict || !awkIsHarmless(w.text)):
			r.code(c, w.text)
		}
	}
}

// sedRuns matches scripts of sed that can run a command: with the command e or the flag e of s.
var sedRuns = regexp.MustCompile(`(?m)(?:^|[;{}]|[0-9$/!,#|])[ \t]*e(?:[ \t]+[^\n]+|[ \t]*(?:$|[;}]))|` +
	`s[/#|,@:].*[/#|,@:][0-9gpIiMm]*e|[wW]\s*/dev/`)

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

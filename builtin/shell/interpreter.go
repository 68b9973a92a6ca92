package shell

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/hookgen/hookgen/builtin/internal/kit"
)

// shell reads the commands that a shell runs: the text after -c, or else the standard input unless a file is given.
func (r *reader) shell(c *Command, in flow) {
	stdin, isScript, ended := false, false, false // ended: no more options follow
	for i := 0; i < len(c.Args); i++ {
		arg := c.Args[i]
		switch {
		case r.strict && !c.words[i+1].isStatic(): // sh -c -$- '-x; evil' 'git log': the text does not say what it is
			r.refuse()
			return
		case isStdin(arg) && !isScript && !ended:
			stdin = true
			i = len(c.Args)
		case !ended && (arg == "--" || arg == "-" && isScript):
			ended = true
		case len(arg) > 1 && arg[0] == '+' && !ended:
			isScript = isScript || strings.Contains(arg, "c")
			i += strings.Count(strings.ToLower(arg), "o")
		case arg == "--rcfile", arg == "--init-file":
			if i++; i < len(c.Args) {
				c.executes(c.words[i+1])
			}
		case strings.HasPrefix(arg, "--command") && !ended: // of fish
			_, text, joined := strings.Cut(arg, "=")
			isScript = !joined
			r.text(text)
		case strings.HasPrefix(arg, "--") && !ended:
		case len(arg) > 1 && arg[0] == '-' && !ended:
			stdin = stdin || strings.Contains(arg, "s")
			isScript = isScript || strings.Contains(arg, "c")
			i += strings.Count(strings.ToLower(arg), "o") // the values of -o and -O
		case isScript:
			c.executes(c.words[i+1])
			r.script(c, i, i+1)
			return
		default: // a script file, or a process substitution
			c.executes(c.words[i+1])
			if !stdin {
				return
			}
			i = len(c.Args)
		}
	}
	switch {
	case isScript: // the script is missing
	case r.strict && (c.Stdin == "" || len(in.before) > 0):
		r.refuse()
	default:
		c.executesOutput(in.before)
		r.text(c.Stdin)
	}
}

// codeOptions are the letters of options of interpreters whose value is code, a module or a file.
const codeOptions = "cemrpCEF"

// interpreterOf returns the name of a program without a version: python for python3.12.
func interpreterOf(program string) string { return strings.TrimRight(program, "0123456789.-") }

// interpreter records the commands whose output an interpreter runs, and looks at the code in its arguments.
func (r *reader) interpreter(c *Command, in flow) {
	isPowerShell := c.Program == "pwsh" || c.Program == "powershell"
	for i, arg := range c.Args {
		lower := strings.ToLower(arg)
		isOption := len(arg) > 1 && arg[0] == '-'
		switch {
		case r.strict && !c.words[i+1].isStatic(): // it may be -c
			r.refuse()
			return
		case isStdin(arg):
			r.runsInput(c, in)
			r.code(c, c.Stdin)
			return
		case arg == "-m": // a module
			return
		case isPowerShell && isOption && strings.HasPrefix("-file", lower):
			return
		case isPowerShell && isOption && (strings.HasPrefix("-encodedcommand", lower) || lower == "-ec"):
			r.opaque(c)
		case isPowerShell && isOption && !strings.HasPrefix("-command", lower):
		case isPowerShell:
			c.executes(c.words[i+1:]...)
			text := strings.Join(c.Args[i:], " ")
			r.code(c, text)
			r.text(strings.ReplaceAll(strings.TrimPrefix(text, arg[:len(arg)*strings.Count(arg[:1], "-")]), `\ `, "/ "))
			return
		case arg == "eval" && i == 0, strings.HasPrefix(arg, "--eval"), strings.HasPrefix(arg, "--print"),
			isOption && arg[1] != '-' && strings.ContainsAny(arg, codeOptions):
			_, value, isLong := strings.Cut(arg, "=") // --eval=...
			if !isLong {
				value = strings.TrimLeft(arg, "-"+codeOptions)
			}
			r.code(c, value+"\n"+strings.Join(c.Args[i+1:], "\n"))
			c.executes(c.words[i+1:]...)
			return
		case !isOption:
			c.executes(c.words[i+1])
			return
		}
	}
	if c.Stdin != "" {
		r.code(c, c.Stdin)
	}
	c.executesOutput(in.before)
}

// runsCode matches code of other languages that can run a program, remove a directory, write to a device, or run a text
// that it makes. The list is in words.txt.
var runsCode = patterns("code")

// code looks at code in another language. A rule that allows covers none.
func (r *reader) code(c *Command, text string) {
	if r.strict || r.spend(len(text)) && (runsCode.MatchString(text) ||
		strings.Contains(text, "`") && slices.Contains([]string{"perl", "ruby", "php"}, interpreterOf(c.Program))) {
		r.opaque(c)
	}
}

// opaque notes that a command can run others that cannot be read.
func (r *reader) opaque(c *Command) {
	c.opaque = true
	if r.strict {
		r.refuse()
	}
}

// commandEscapes match the commands that run others in the arguments and the input of programs.
var commandEscapes = func() map[string]*regexp.Regexp {
	all := make(map[string]*regexp.Regexp)
	for _, entry := range list("escapes") {
		program, pattern, _ := strings.Cut(entry, " ")
		all[program] = regexp.MustCompile(pattern)
	}
	return all
}()

// escapes looks for commands that programs with a language of their own run, for example ! in an editor.
func (r *reader) escapes(c *Command) {
	escape := commandEscapes[c.Program]
	if escape == nil || !r.spend(len(c.Stdin)) {
		return
	}
	for _, w := range append(slices.Clip(c.words[1:]), staticWords([]string{c.Stdin})...) {
		if (r.strict || w.isStatic()) && escape.MatchString(w.text) {
			r.opaque(c)
		}
	}
}

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

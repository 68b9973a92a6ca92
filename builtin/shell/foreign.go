package shell

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/kit"
)

// A foreign text is not valid shell: a script in another language, or a malformed command. It is searched for commands
// at the beginnings of lines, and for texts in calls such as os.system("rm -rf /").
type foreign struct {
	r         *reader
	text      string
	at        int
	words     []word // of the current command
	writes    []string
	word      strings.Builder
	begun     bool   // a word has begun
	literal   string // the last literal of the current word
	toFile    bool   // the next word is the target of a redirection
	pipelines int    // the index of the first command of the pipeline
	piped     bool   // the current command reads the output of the preceding ones
	open      []parenthesis
}

// A parenthesis is the text before an opening parenthesis.
type parenthesis struct {
	call  string // the name of a call, "" for a group
	words []word // of the command that contains the parenthesis
	texts []string
	from  int // the index of the first command in the parenthesis
}

// foreign reads a text of unknown language.
func (r *reader) foreign(text string) {
	if r.depth++; r.depth > maxNesting || !r.spend(parseCost*len(text)) {
		r.exceeded = true
		return
	}
	defer func() { r.depth-- }()
	f := &foreign{r: r, text: text, pipelines: len(r.found)}
	for f.at < len(text) && !r.exceeded {
		f.next()
	}
	for f.endCommand(false); len(f.open) > 0 && !r.exceeded; f.endCommand(false) {
		f.close()
	}
}

// next consumes the next character or literal.
func (f *foreign) next() {
	c := f.text[f.at]
	f.at++
	switch c {
	case '"', '\'', '`':
		f.quote(c)
	case ' ', '\t', '\r', ',', '=':
		f.endWord()
	case '\n', ';', '&', '{', '}':
		f.endCommand(false)
	case '|':
		f.endCommand(f.at >= len(f.text) || f.text[f.at] != '|')
	case '>', '<':
		f.endWord()
		f.toFile = c == '>'
	case '(':
		call := ""
		if f.begun {
			call = f.word.String()
			f.reset()
		}
		f.endWord()
		f.open = append(f.open, parenthesis{call: call, words: f.words, from: len(f.r.found)})
		f.words = nil
	case ')':
		f.endCommand(false)
		f.close()
	case '#':
		f.comment(1)
	case '/':
		if f.at < len(f.text) && f.text[f.at] == '/' && f.comment(1) {
			return
		}
		f.add(c)
	case '\\':
		if f.at < len(f.text) && f.text[f.at] != '\n' {
			f.add(f.text[f.at])
		}
		f.at++
	default:
		f.add(c)
	}
}

func (f *foreign) add(c byte) {
	f.begun = true
	f.word.WriteByte(c)
}

// comment skips the rest of the line if a comment begins here, after a blank.
func (f *foreign) comment(size int) bool {
	if before := f.at - size - 1; before >= 0 && !strings.ContainsRune(" \t\r\n", rune(f.text[before])) {
		if size == 1 && f.text[f.at-1] == '#' {
			f.add('#')
		}
		return false
	}
	if end := strings.IndexByte(f.text[f.at:], '\n'); end >= 0 {
		f.at += end
	} else {
		f.at = len(f.text)
	}
	return true
}

// quote consumes a literal. A quote that is not closed in its line is an apostrophe.
func (f *foreign) quote(q byte) {
	rest := f.text[f.at:]
	if q != '`' {
		rest, _, _ = strings.Cut(rest, "\n")
	}
	var b strings.Builder
	for i := 0; i < len(rest); i++ {
		if rest[i] == q {
			f.at += i + 1
			f.addLiteral(b.String(), unescape(rest[:i], true), q)
			return
		}
		if rest[i] == '\\' && i+1 < len(rest) {
			i++
		}
		b.WriteByte(rest[i])
	}
	f.r.spend(len(rest))
}

// addLiteral adds a literal to the current word. In a call, its escapes are those of the other language. For example,
// \n in os.system("ls\nrm -rf x") is a line break.
func (f *foreign) addLiteral(text, unescaped string, q byte) {
	if len(f.open) > 0 && text != "" {
		top := &f.open[len(f.open)-1]
		top.texts = append(top.texts, unescaped)
	} else if q == '`' {
		f.r.text(text)
	}
	f.begun = true
	f.word.WriteString(text)
	f.literal = text
}

func (f *foreign) reset() {
	f.word.Reset()
	f.begun, f.literal = false, ""
}

// endWord ends the current word.
func (f *foreign) endWord() {
	if !f.begun {
		return
	}
	text, literal := f.word.String(), f.literal
	f.reset()
	if f.toFile {
		f.toFile = false
		f.writes = append(f.writes, text)
		return
	}
	if before, after, ok := strings.Cut(text, "$IFS"); ok {
		after = strings.TrimPrefix(after, "}")
		f.words = append(f.words, staticWords([]string{strings.TrimSuffix(before, "${"), after})...)
		return
	}
	if literal == text && len(f.words) > 0 && runsText[f.words[len(f.words)-1].text] {
		f.r.text(literal)
	}
	f.words = append(f.words, word{text: text, glob: text})
}

// runsText are the words of other languages after which a text is a command, as in exec "rm -rf x" of Perl.
var runsText = kit.Set("system", "exec", "spawn", "popen", "script", "shell_exec", "passthru", "qx", "!", "send",
	"shell-command", "syscmd", "esyscmd")

// beginnings are the words of other languages that can precede a command.
var beginnings = kit.Set("if", "then", "else", "elif", "while", "until", "do", "!", "return", "await", "try",
	"function", "BEGIN",
	"END")

// endCommand ends the current command. If it is piped, the next command reads its output.
func (f *foreign) endCommand(piped bool) {
	f.endWord()
	f.toFile = false
	for len(f.words) > 0 && beginnings[f.words[0].text] {
		f.words = f.words[1:]
	}
	in := flow{writes: f.writes}
	if f.piped {
		in.before = slices.Clip(f.r.found[f.pipelines:])
	}
	if len(f.words) > 0 {
		f.r.command(f.words, in)
	} else if len(f.writes) > 0 {
		f.r.found = append(f.r.found, &Command{Writes: f.writes, dirs: f.r.dirs})
	}
	f.words, f.writes, f.piped = nil, nil, piped
	if !piped {
		f.pipelines = len(f.r.found)
	}
}

// close ends a parenthesis, and continues the command that contains it.
func (f *foreign) close() {
	if len(f.open) == 0 {
		return
	}
	p := f.open[len(f.open)-1]
	f.open = f.open[:len(f.open)-1]
	if p.call != "" && p.call != "$" {
		f.r.foreignCall(p.call, p.texts)
	}
	outputs := slices.Clip(f.r.found[p.from:])
	if f.r.spend(len(outputs)) {
		f.words = append(p.words, word{text: "$()", glob: anything, outputs: outputs})
	}
}

// foreignCall reads the commands in a call of another language, for example subprocess.run(["rm", "-rf", "/"]). Each
// text is read as a script, and all texts together as the words of one command. Functions that only print are ignored.
func (r *reader) foreignCall(name string, texts []string) {
	name = strings.TrimRight(strings.ToLower(name[strings.LastIndexAny(name, ".:>=[")+1:]), "!") // File.rm_rf! of Elixir
	switch {
	case removing[name] && len(texts) == 0: // of a variable
		r.command(append(staticWords([]string{"rm", "-rf", "--"}), word{text: "$()", glob: anything}), flow{})
		return
	case removing[name]:
		r.command(staticWords(append([]string{"rm", "-rf", "--"}, texts[0])), flow{})
		return
	case printing[name] || len(texts) == 0:
		return
	}
	for _, text := range texts {
		r.text(text)
	}
	if len(texts) > 1 {
		r.command(staticWords(texts), flow{})
		r.text(strings.Join(texts, "")) // "rm" + " -rf x"
	}
}

// printing are the names of functions that only display or compare texts.
var printing = kit.Set("print", "println", "printf", "fprintf", "sprintf", "puts", "log", "info", "debug", "warn",
	"warning", "error", "errorf", "fatalf", "echo", "format", "len", "write", "writefilesync", "writefile", "assert",
	"includes",
	"contains", "startswith", "endswith", "compile", "match", "search", "sub", "gsub", "replace", "split", "values",
	"test", "it",
	"describe", "expect", "equal", "raise", "exception", "valueerror", "runtimeerror", "new", "append", "push", "join")

// removing are the names of functions that remove a directory with everything in it.
var removing = kit.Set("rmtree", "rm_rf", "rm_r", "rmsync", "rimraf", "removeall", "rimrafsync", "remove_tree",
	"remove_dir_all",
	"deltree", "remove_entry_secure")

// printed reads the texts that a script of another language could print.
func (r *reader) printed(c *Command) {
	if !interpreters[interpreterOf(c.Program)] && !scriptFirst[c.Program] {
		return
	}
	for _, arg := range c.Args {
		if !r.spend(len(arg)) {
			return
		}
		for _, m := range printedLiteral.FindAllStringSubmatch(arg, -1) {
			r.text(unescape(m[1]+m[2]+m[3], true))
		}
	}
}

// printedLiteral matches a literal of another language, and the replacement of sed.
var printedLiteral = regexp.MustCompile(`"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|s/[^/]*/((?:[^/\\]|\\.)*)/`)

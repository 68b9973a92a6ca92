package shell

import (
	"cmp"
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
	download  *Command            // the call in the current pipeline that returns a text from the network, or nil
	names     map[string]string   // the functions to which the text gives another name
	target    string              // the variable that the current command assigns, or ""
	values    map[string][]string // the texts of variables
	result    string              // the path that the last parenthesis contains, as in Path('x'), or ""
}

// renaming matches the import of a function under another name, in Python or JavaScript, and assigning an assignment
// of a function to a variable.
var (
	renaming  = regexp.MustCompile(`\b(\w+)(?:\s+as\s+|\s*:\s*)(\w+)\s*(?:[,;)}\n]|$)`)
	assigning = regexp.MustCompile(`\b(\w+)\s*=[^=;\n]*\.(\w+)\s*(?:[;\n]|$)`)
)

// renamedFunctions returns the functions that a text gives other names, as in from shutil import rmtree as r.
func renamedFunctions(text string) map[string]string {
	names := make(map[string]string)
	add := func(name, function string) {
		if function = strings.ToLower(function); removing[function] {
			names[strings.ToLower(name)] = function
		}
	}
	for _, m := range renaming.FindAllStringSubmatch(text, -1) {
		add(m[2], m[1])
	}
	for _, m := range assigning.FindAllStringSubmatch(text, -1) {
		add(m[1], m[2])
	}
	return names
}

// A parenthesis is the text before an opening parenthesis.
type parenthesis struct {
	call  string // the name of a call, "" for a group
	words []word // of the command that contains the parenthesis
	texts []string
	args  []string // texts, with those of variables and of calls that return a path
	from  int      // the index of the first command in the parenthesis
	at    int      // the index of the text in the parenthesis

	object   string   // the path whose method is called, or ""
	target   string   // the variable to which the command assigns a text, or ""
	download *Command // the call in the parenthesis that returns a text from the network or decodes one, or nil
}

// foreign reads a text of unknown language.
func (r *reader) foreign(text string) {
	if r.depth++; r.depth > maxNesting || !r.spend(parseCost*len(text)) {
		r.exceeded = true
		return
	}
	defer func() { r.depth-- }()
	text = strings.ReplaceAll(text, "${IFS}", "$IFS") // braces end a command
	f := &foreign{r: r, text: text, pipelines: len(r.found), names: renamedFunctions(text),
		values: make(map[string][]string)}
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
	case ' ', '\t', '\r', ',':
		f.endWord()
	case '=':
		f.endWord()
		f.assign()
	case '\n', ';', '&', '{', '}':
		f.endCommand(false)
	case '|':
		f.endCommand(f.at >= len(f.text) || f.text[f.at] != '|')
	case '>', '<':
		f.endWord()
		f.toFile = c == '>'
	case '(':
		call := ""
		switch {
		case f.begun:
			call = f.word.String()
			f.reset()
		case f.at > 1 && f.text[f.at-2] == ')':
			call = "()" // of the result of a call, as in getattr(os, 'system')('ls')
		}
		f.method(call)
		f.endWord()
		f.open = append(f.open, parenthesis{call: call, words: f.words, from: len(f.r.found), at: f.at,
			object: f.objectOf(call), target: f.target})
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
	if plain := decoded(text); !f.r.strict && plainText.MatchString(plain) {
		f.r.text(plain)
	}
	if len(f.open) > 0 && text != "" {
		top := &f.open[len(f.open)-1]
		top.texts = append(top.texts, unescaped)
		top.args = append(top.args, unescaped)
	} else if q == '`' {
		f.r.text(text)
	}
	if f.target != "" && (len(f.open) == 0 || f.open[len(f.open)-1].returnsPath()) {
		f.values[f.target] = append(f.values[f.target], unescaped)
	}
	f.begun = true
	f.word.WriteString(text)
	f.literal = text
}

// plainText matches a text that could be a command, unlike most texts that only look like base64.
var plainText = regexp.MustCompile(`^[ -~\n\t]{4,}$`)

func (f *foreign) reset() {
	f.word.Reset()
	f.begun, f.literal = false, ""
}

// method reads a text that one of its methods runs, as in "ls".execute() of Groovy and "ls".! of Scala.
func (f *foreign) method(word string) {
	if text, method, ok := cutLast(word, "."); ok && (method == "execute" || method == "!") {
		f.r.text(text)
	}
}

func cutLast(s, separator string) (before, after string, ok bool) {
	if at := strings.LastIndex(s, separator); at >= 0 {
		return s[:at], s[at+len(separator):], true
	}
	return s, "", false
}

// endWord ends the current word.
func (f *foreign) endWord() {
	if !f.begun {
		return
	}
	text, literal := f.word.String(), f.literal
	f.reset()
	f.method(text)
	if f.toFile {
		f.toFile = false
		f.writes = append(f.writes, text)
		return
	}
	if strings.Contains(text, "$IFS") {
		f.words = append(f.words, staticWords(strings.Fields(strings.ReplaceAll(text, "$IFS", " ")))...)
		return
	}
	if literal == text && len(f.words) > 0 && runsText[f.words[len(f.words)-1].text] {
		f.r.text(literal)
	}
	if values := f.values[text]; literal == "" && len(f.open) > 0 && f.r.spend(len(values)) {
		top := &f.open[len(f.open)-1]
		top.args = append(top.args, values...)
	}
	f.words = append(f.words, word{text: text, glob: text})
}

// runsText are the words of other languages after which a text is a command, as in exec "rm -rf x" of Perl.
var runsText = kit.Set("system", "exec", "spawn", "popen", "script", "shell_exec", "passthru", "qx", "!", "send",
	"shell-command", "shell-command-to-string", "syscmd", "esyscmd")

// beginnings are the words of other languages that can precede a command.
var beginnings = kit.Set("if", "then", "else", "elif", "while", "until", "do", "!", "return", "await", "try",
	"function", "BEGIN",
	"END")

// endCommand ends the current command. If it is piped, the next command reads its output.
func (f *foreign) endCommand(piped bool) {
	f.endWord()
	f.toFile, f.target = false, ""
	for len(f.words) > 0 && (beginnings[f.words[0].text] || f.words[0].text == "()") {
		f.words = f.words[1:]
	}
	in := flow{writes: f.writes}
	if f.piped {
		if in.before = slices.Clip(f.r.found[f.pipelines:]); f.download != nil {
			in.before = append(in.before, f.download)
		}
	}
	if len(f.words) > 0 {
		f.r.command(f.words, in)
	} else if len(f.writes) > 0 {
		f.r.found = append(f.r.found, &Command{Writes: f.writes, dirs: f.r.dirs})
	}
	f.words, f.writes, f.piped = nil, nil, piped
	if !piped {
		f.pipelines, f.download = len(f.r.found), nil
	}
}

// close ends a parenthesis, and continues the command that contains it.
func (f *foreign) close() {
	if len(f.open) == 0 {
		return
	}
	p := f.open[len(f.open)-1]
	f.open = f.open[:len(f.open)-1]
	f.target = p.target
	if p.call != "" && p.call != "$" {
		f.r.foreignCall(cmp.Or(f.names[strings.ToLower(p.call)], p.call), p, f.text[p.at:min(f.at, len(f.text))])
	}
	f.returnPath(p)
	outputs := slices.Clip(f.r.found[p.from:])
	f.downloads(p)
	if len(f.open) > 0 && listing[strings.ToLower(p.call)] && f.r.spend(len(p.texts)) {
		top := &f.open[len(f.open)-1]
		top.texts = append(top.texts, p.texts...)
	}
	result := word{text: "$()", glob: anything, outputs: outputs}
	switch name := strings.ToLower(p.call); {
	case evaluates[name]:
		result.text = name // as in iex(New-Object Net.WebClient).DownloadString('...')
	case p.call != "" && p.call != "$":
		result.text = "()" // which is not the name of a program
	}
	if f.r.spend(len(outputs)) {
		f.words = append(p.words, result)
	}
}

// downloads notes that a parenthesis returns a text from the network or decodes one, and reports commands that run it.
func (f *foreign) downloads(p parenthesis) {
	_, name, _ := cutLast("."+strings.ToLower(p.call), ".")
	if downloading[name] {
		p.download = &Command{Program: name, Args: slices.Clip(p.texts), dirs: f.r.dirs}
	} else if decodesText.MatchString(p.call) {
		p.download = &Command{Program: strings.ToLower(p.call), concealed: true, dirs: f.r.dirs}
	}
	switch {
	case p.download == nil:
	case evaluating[name], len(p.words) > 0 && evaluating[strings.ToLower(p.words[0].text)]:
		f.r.found = append(f.r.found, &Command{Program: "eval", Executes: []*Command{p.download}, dirs: f.r.dirs})
	case len(f.open) > 0:
		f.open[len(f.open)-1].download = p.download
	default:
		f.download = p.download
	}
}

// foreignCall reads the commands in a call of another language, for example subprocess.run(["rm", "-rf", "/"]). Each
// text is read as a script, and all texts together as the words of one command. Functions that only print are ignored.
// The arguments are those of the call as written.
func (r *reader) foreignCall(name string, p parenthesis, arguments string) {
	call, texts := name, p.texts
	name = strings.TrimRight(strings.ToLower(name[strings.LastIndexAny(name, ".:>=[")+1:]), "!") // File.rm_rf! of Elixir
	recursive := removingSome[name] && r.spend(len(arguments)) && recursion.MatchString(arguments)
	switch {
	case removing[name] && len(texts) == 0: // of a variable
		r.command(append(staticWords([]string{"rm", "-rf", "--"}), word{text: "$()", glob: anything}), flow{})
		return
	case removing[name], recursive && len(texts) > 0:
		r.command(staticWords(append([]string{"rm", "-rf", "--"}, texts[0])), flow{})
		return
	case r.changesFile(call, p):
		return
	case name == "kill" && r.spend(len(arguments)) && everyProcess.MatchString(arguments):
		r.command(staticWords([]string{"kill", "--", "-1"}), flow{})
		return
	case running[name]:
		texts = p.args
	}
	switch {
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
	"includes", "contains", "startswith", "endswith", "compile", "match", "search", "sub", "gsub", "replace", "split",
	"values", "test", "it",
	"describe", "expect", "equal", "raise", "exception", "valueerror", "runtimeerror", "new", "append", "push", "join",
	"dump", "dumps", "stringify")

var (
	// removing are the names of functions that remove a directory with everything in it.
	removing = kit.Set("rmtree", "rm_rf", "rm_r", "rmsync", "rimraf", "removeall", "rimrafsync", "remove_tree", "del-cli",
		"remove_dir_all", "deltree", "remove_entry_secure", "deletedir", "deleterecursively",
		"remove_dir", "remove_entry", "removesync", "emptydir", "emptydirsync")

	// removingSome are the names of functions that do so only if an argument says it.
	removingSome = kit.Set("rm", "rmdir", "rmdirsync", "remove", "unlink")
	recursion    = regexp.MustCompile(`(?i)recursive['"]?\s*(?:[:=]|=>)\s*(?:true|1)`)

	// everyProcess matches the arguments of a call that sends a signal to all processes.
	everyProcess = regexp.MustCompile(`^\s*-1\s*,|,\s*-1\s*\)?$`)

	// running are the names of functions that run a command.
	running = kit.Set("system", "popen", "run", "call", "check_call", "check_output", "getoutput", "spawn", "spawnsync",
		"execsync", "execfilesync", "exec", "shell_exec", "passthru", "proc_open", "execvp", "execute")

	// downloading are the names of functions that return a text from the network, and evaluating those that run a text.
	downloading = kit.Set("urlopen", "downloadstring", "fetch", "file_get_contents")
	evaluating  = kit.Set("exec", "eval", "iex", "invoke-expression", "system", "popen", "execsync", "shell_exec",
		"passthru", "check_output", "check_call", "getoutput")

	// listing are the names of functions that only make a list of texts, as in system2("rm", c("-rf", "/")) of R.
	listing = kit.Set("c", "list", "split", "array", "of", "path")
)

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

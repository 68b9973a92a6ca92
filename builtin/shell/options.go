package shell

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// A grammar lists the options of a program by their effects. options.txt describes the words.
type grammar struct {
	styles  []string
	options map[string]effect // by name: -x, --long, or + for a word that begins with a plus sign
	runs    bool              // an option can make the program run another one
}

// An effect is the meaning of an option. The zero value is that of an option that the table does not list.
type effect struct {
	does    string         // a word of options.txt; "unknown" if the argument can be any option
	matters *regexp.Regexp // if not nil, only such values matter
}

//go:embed options.txt
var optionTable string

// grammars are the grammars of all programs, by the name of the program, with its subcommand if it has any.
var grammars = sync.OnceValue(func() map[string]*grammar {
	all := make(map[string]*grammar)
	var g *grammar
	for line := range strings.Lines(optionTable) {
		kind, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		words := strings.Fields(rest)
		switch kind {
		case "", "#":
			g = nil
		case ":":
			if g == nil {
				g = &grammar{options: make(map[string]effect)}
			}
			if (words[0] == "git" || words[0] == "go") && len(words) > 1 { // the first operand is a subcommand
				for i := range words[1:] {
					words[1+i] = words[0] + " " + words[1+i]
				}
				words = words[1:]
			}
			for _, name := range words {
				all[name] = g
			}
		case "style":
			g.styles = words
			g.runs = g.runs || g.is("refused") || g.wraps()
		default:
			for _, token := range words {
				g.add(kind, token)
			}
		}
	}
	return all
})

// add adds the options of one word of the table.
func (g *grammar) add(kind, token string) {
	name, pattern, _ := strings.Cut(token, "~")
	e := effect{does: kind}
	if pattern != "" {
		e.matters = regexp.MustCompile(pattern)
	}
	names := []string{name}
	if name[0] == '-' && name[1] != '-' {
		names = names[:0]
		for _, letter := range name[1:] {
			names = append(names, "-"+string(letter))
		}
	}
	for _, n := range names {
		g.options[n] = e
	}
	g.runs = g.runs || e.isDangerous() && !g.is("static")
}

func (g *grammar) is(style string) bool { return slices.Contains(g.styles, style) }

func (e effect) isDangerous() bool {
	return slices.Contains([]string{"run", "exec", "begin", "setting", "refuse"}, e.does)
}

// takesNext reports whether the value of the option can be the next word.
func (e effect) takesNext() bool {
	return slices.Contains([]string{"run", "exec", "begin", "setting", "value", "text"}, e.does) || e.matters != nil
}

// grammarOf returns the grammar of a command, or nil, and the index of the word before the arguments that it describes.
func grammarOf(words []word) (g *grammar, at int) {
	if len(words) == 0 {
		return nil, 0
	}
	program := programOf(words[0].text)
	if g := grammars()[program]; g != nil || len(words) == 1 {
		return g, 0
	}
	return grammars()[program+" "+words[1].text], 1
}

// long returns the effect of a long option, which can be abbreviated. If an abbreviation fits several options, one
// that runs a program is preferred: a shorter list of options, of another version, could contain no other.
func (g *grammar) long(name string) effect {
	if e, ok := g.options[name]; ok || g.is("exact") {
		return e
	}
	name = strings.ToLower(name)
	negated, isNegated := strings.CutPrefix(name, "--no-")
	var found effect
	var foundName string
	for n, e := range g.options {
		switch {
		case len(n) < 3:
		case strings.HasPrefix(strings.ToLower(n), name):
			if better := e.isDangerous() && !found.isDangerous(); foundName == "" || better ||
				n < foundName && e.isDangerous() == found.isDangerous() {
				found, foundName = e, n
			}
		case (isNegated && strings.HasPrefix(n, "--"+negated) || strings.HasPrefix("--no-", name)) && foundName == "":
			found = effect{does: "flag"}
		}
	}
	return found
}

// An option is an option in the arguments of a command.
type option struct {
	effect
	name  string
	value word
}

// read returns the options in the arguments of a command, in order, and the operands.
func (g *grammar) read(words []word) (options []option, operands []word) {
	ended, unsure := false, false // unsure: the word before could be an option whose value is this word
	for i := 0; i < len(words); i++ {
		// add adds an option. Its value is the rest of the word or else the next word.
		add := func(e effect, name string, rest word, joined bool) {
			if e.does == "" && !g.is("open") {
				e.does = "unknown"
			}
			unsure = unsure || e.does == "" || e.does == "unknown"
			if !joined && e.takesNext() && i+1 < len(words) {
				i++
				rest = words[i]
				if len(rest.text) > 1 && rest.text[0] == '-' { // in another version of the program, the option has no value
					inner, _ := g.read(words[i : i+1])
					for _, o := range inner {
						if o.isDangerous() {
							options = append(options, option{effect{does: "refuse"}, o.name, o.value})
						}
					}
				}
			}
			if rest.splits {
				options = append(options, option{effect: effect{does: "unknown"}})
			}
			if e.matters == nil || e.matters.MatchString(rest.text) || !rest.isStatic() {
				options = append(options, option{e, name, rest})
			}
		}
		// letters reads short options in one word.
		letters := func(w word, text string) {
			for at, letter := range text {
				name := "-" + string(letter)
				e := g.options[name]
				rest := word{text: text[at+len(string(letter)):], glob: w.glob, splits: w.splits}
				takes := e.takesNext() || e.does == "maybe"
				add(e, name, rest, !takes || e.does == "maybe" || rest.text != "")
				if takes {
					return
				}
			}
		}
		w := words[i]
		wasUnsure := unsure
		unsure = false
		plus, hasPlus := g.options["+"]
		switch name, value, joined := strings.Cut(w.text, "="); {
		case ended:
			operands = append(operands, w)
		case w.splits, w.joined, strings.HasPrefix(w.glob, anything):
			options = append(options, option{effect: effect{does: "unknown"}})
			operands = append(operands, w)
		case i == 0 && g.is("old") && w.text != "" && w.text[0] != '-':
			for _, letter := range w.text {
				e := g.options["-"+string(letter)]
				add(e, "-"+string(letter), word{}, e.does == "maybe")
			}
		case w.text == "--":
			ended = !wasUnsure
		case hasPlus && strings.HasPrefix(w.text, "+"):
			add(plus, "+", word{text: w.text[1:], glob: w.glob}, true)
		case len(w.text) < 2 || w.text[0] != '-':
			operands = append(operands, w)
			ended = g.is("stops")
		case w.text[1] == '-':
			add(g.long(name), name, word{text: value, glob: w.glob, splits: w.splits}, joined)
		default:
			if g.is("single") && len(name) > 2 {
				if e := g.long("-" + name); e.does != "" || g.is("exact") {
					add(e, "-"+name, word{text: value, glob: w.glob, splits: w.splits}, joined)
					continue
				}
			}
			letters(w, w.text[1:])
		}
	}
	return options, operands
}

// plainProgram matches a program without a directory, and its plain arguments. Every program splits them alike.
var plainProgram = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.+-]*( [A-Za-z0-9_.:@%,+=-]+)*$`)

// judge reads the commands in the options of a program. It returns the options, and the arguments that are programs in
// a language of its own: the values of such options, or else the operands. For a rule that allows, it refuses each
// option that can select what runs, unless the value is a command that the rule can cover.
func (r *reader) judge(g *grammar, words []word) (options []option, texts, operands []word) {
	if r.strict && g.is("refused") {
		r.refuse()
	}
	options, operands = g.read(words)
	for _, o := range options {
		switch {
		case o.does == "text":
			texts = append(texts, o.value)
		case o.does == "setting":
			r.gitSetting(o.value)
		case !r.strict:
			if o.does == "run" || o.does == "exec" || o.does == "begin" ||
				o.does == "unknown" && strings.Contains(o.value.text, " ") {
				r.value(o.value.text)
			}
		case o.does == "begin", o.does == "refuse", o.does == "unknown" && g.runs:
			r.refuse()
		case o.does != "run" && o.does != "exec":
		case !o.value.isStatic() || o.does == "exec" && !plainProgram.MatchString(o.value.text):
			r.refuse()
		default:
			r.text(o.value.text)
		}
	}
	return options, texts, operands
}

// valuesOf returns the values of options: of letters, which can follow others, and of long names.
func valuesOf(args []string, letters string, long ...string) (values []string) {
	for i, arg := range args {
		switch value, joined, ok := optionIn(arg, letters, long); {
		case ok && joined:
			values = append(values, value)
		case ok:
			values = append(values, args[i+1:min(i+2, len(args))]...)
		}
	}
	return values
}

// hasOption reports whether the arguments before "--" contain an option: one of the letters, alone or with others, or
// a long name, also shortened or with a value.
func hasOption(args []string, letters string, long ...string) bool {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return slices.ContainsFunc(args, func(arg string) bool {
		_, _, ok := optionIn(arg, letters, long)
		return ok
	})
}

// optionIn reports whether a word has an option, and returns the value in the same word.
func optionIn(arg, letters string, long []string) (value string, joined, ok bool) {
	if strings.HasPrefix(arg, "--") {
		name, value, joined := strings.Cut(arg, "=")
		return value, joined, slices.ContainsFunc(long, func(l string) bool {
			return name == l || len(name) > 4 && strings.HasPrefix(l, name)
		})
	}
	at := strings.IndexAny(arg, letters)
	if at < 1 || arg[0] != '-' {
		return "", false, false
	}
	return arg[at+1:], at+1 < len(arg), true
}

package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/hookgen/hookgen/builtin/internal/kit"
)

const (
	maxNesting = 40   // of scripts in scripts, as in sh -c 'sh -c ...', and of commands that run commands
	maxDirs    = 8    // directories in which a command could run
	maxValue   = 4096 // bytes of the value of a variable that is remembered
	parseCost  = 8    // units of work per byte that is parsed
)

// A reader gathers the commands of parsed scripts, in the order of their positions.
type reader struct {
	lang     syntax.LangVariant
	strict   bool // the reading is for a rule that allows
	refused  bool // no rule may allow the text; only if strict
	found    []*Command
	values   map[string]string     // of the variables that the text has assigned so far
	lists    map[string][]string   // of arrays, of the positional parameters, and of the variables of loops
	by       map[string][]*Command // the commands whose output a variable contains
	dirs     []string              // in which the next command could run, relative to the first one; "?" is unknown
	depth    int
	budget   int // bounds the work, because a hostile text could otherwise take quadratic time
	exceeded bool
}

// newReader returns a reader for texts of size bytes in total.
func newReader(lang syntax.LangVariant, size int) *reader {
	return &reader{
		lang: lang, budget: 1<<20 + 64*size, values: make(map[string]string), lists: make(map[string][]string),
		dirs: []string{"."}, by: make(map[string][]*Command),
	}
}

// spend reports whether the reader may do n units of work.
func (r *reader) spend(n int) bool {
	if r.budget -= n; r.budget < 0 {
		r.exceeded = true
	}
	return !r.exceeded
}

// refuse notes that no rule may allow the text.
func (r *reader) refuse() { r.refused = true }

// text reads a text as a script.
func (r *reader) text(text string) {
	if r.depth++; r.depth > maxNesting || !r.spend(parseCost*len(text)) {
		r.exceeded = true
		return
	}
	defer func() { r.depth-- }()
	if r.strict {
		r.strictText(text)
		return
	}
	text = strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "\uFFFD")
	if strings.Contains(text, "\r") { // part of a word for a shell, the end of a line for Windows
		r.lenientText(strings.ReplaceAll(text, "\r", "\uFFFD"))
		text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	}
	r.lenientText(text)
}

// quotedHash replaces a number sign after a quote, which the parser takes for a comment.
var quotedHash = strings.NewReplacer(`"#`, `"_`, `'#`, `'_`)

// lenientText reads a text in the reader's language, or if that fails in another one. Of a text that is not valid, it
// also reads each line that is valid by itself, and looks at the rest as code in another language.
func (r *reader) lenientText(text string) {
	for _, lang := range slices.Compact(append([]syntax.LangVariant{r.lang}, AnyShell.variants()...)) {
		file, ok, err := parseLeniently(text, lang)
		if err != nil {
			r.exceeded = true
			return
		}
		if file != nil {
			r.stmts(file.Stmts, flow{})
		}
		if ok {
			return
		}
	}
	if quoted := quotedHash.Replace(text); quoted != text {
		r.lenientText(quoted)
		return
	}
	unknown := &Command{Args: []string{text}, dirs: r.dirs}
	if r.code(unknown, text); unknown.opaque {
		r.found = append(r.found, unknown)
	}
	for line := range strings.Lines(text) {
		if line == text || !r.spend(parseCost*len(line)) {
			break
		}
		if file, err := parse(line, r.lang); err == nil {
			r.stmts(file.Stmts, flow{})
		}
	}
}

// isolated reads statements in a shell of their own, whose directory and variables do not matter to later commands.
func (r *reader) isolated(stmts []*syntax.Stmt, in flow) string {
	dirs := r.dirs
	defer func() { r.dirs = dirs }()
	return r.stmts(stmts, in)
}

// stmts reads statements, and returns their output if the text contains it.
func (r *reader) stmts(list []*syntax.Stmt, in flow) string {
	var output strings.Builder
	for _, s := range list {
		out := r.stmt(s, in)
		if !r.spend(1 + len(out)) {
			break
		}
		output.WriteString(out)
	}
	return output.String()
}

// stmt reads a statement, and returns its output if the text contains it.
func (r *reader) stmt(s *syntax.Stmt, in flow) (output string) {
	if s == nil || !r.spend(1) {
		return ""
	}
	in = r.redirects(s.Redirs, in)
	switch c := s.Cmd.(type) {
	case nil:
		if len(s.Redirs) > 0 { // > file
			r.found = append(r.found, &Command{Writes: in.writes, Reads: in.reads, dirs: r.dirs, empties: in.empties})
		}
	case *syntax.CallExpr:
		for _, a := range c.Assigns {
			r.assign(a)
		}
		if len(c.Args) > 0 {
			return r.command(r.words(c.Args), in)
		}
	case *syntax.BinaryCmd:
		return r.binary(c, in)
	case *syntax.Subshell:
		return r.isolated(c.Stmts, in)
	case *syntax.Block:
		return r.stmts(c.Stmts, in)
	case *syntax.IfClause:
		for ; c != nil; c = c.Else {
			output += r.stmts(c.Cond, in) + r.stmts(c.Then, in)
		}
	case *syntax.WhileClause:
		r.repeats(c)
		return r.stmts(c.Cond, in) + r.stmts(c.Do, in)
	case *syntax.ForClause:
		r.repeats(c)
		if loop, ok := c.Loop.(*syntax.WordIter); ok {
			delete(r.values, loop.Name.Value)
			delete(r.lists, loop.Name.Value)
			if items := textsOf(r.words(loop.Items)); len(items) > 0 {
				r.lists[loop.Name.Value] = items // the body runs for each of them
			}
		} else {
			r.nested(c.Loop)
		}
		return r.stmts(c.Do, in)
	case *syntax.CaseClause:
		r.textOf(c.Word)
		for _, item := range c.Items {
			r.words(item.Patterns)
			output += r.stmts(item.Stmts, in)
		}
	case *syntax.FuncDecl:
		r.repeats(c)
		if c.Name != nil && forksItself(c) {
			r.found = append(r.found, &Command{Program: c.Name.Value, forks: true, dirs: r.dirs})
		}
		return r.stmt(c.Body, in)
	case *syntax.TimeClause:
		return r.stmt(c.Stmt, in)
	case *syntax.CoprocClause:
		return r.stmt(c.Stmt, in)
	case *syntax.DeclClause:
		r.declaration(c, in)
	default: // arithmetic and tests
		r.nested(c)
	}
	return output
}

// binary reads a list such as a && b or a pipeline such as a | b. Long ones are nested to the left.
func (r *reader) binary(c *syntax.BinaryCmd, in flow) (output string) {
	piped := func(op syntax.BinCmdOperator) bool { return op == syntax.Pipe || op == syntax.PipeAll }
	chain := []*syntax.BinaryCmd{c}
	for {
		left, ok := chain[len(chain)-1].X.Cmd.(*syntax.BinaryCmd)
		if !ok || len(chain[len(chain)-1].X.Redirs) > 0 || piped(left.Op) != piped(c.Op) {
			break
		}
		chain = append(chain, left)
	}
	from := len(r.found)
	output = r.stmt(chain[len(chain)-1].X, in)
	for _, link := range slices.Backward(chain) {
		if !piped(link.Op) {
			output += r.stmt(link.Y, in)
			continue
		}
		next := in
		next.stdin, next.before = output, slices.Clip(r.found[from:])
		if len(in.before) > 0 && r.spend(len(in.before)+len(next.before)) {
			next.before = slices.Concat(in.before, next.before)
		}
		output = r.stmt(link.Y, next)
	}
	return output
}

// redirects reads redirections.
func (r *reader) redirects(list []*syntax.Redirect, in flow) flow {
	if len(list) == 0 {
		return in
	}
	in.writes, in.reads, in.before = slices.Clip(in.writes), slices.Clip(in.reads), slices.Clip(in.before)
	for _, redirect := range list {
		var target word
		if expanded := r.expand(redirect.Word); len(expanded) > 0 {
			target = expanded[0]
		}
		switch redirect.Op {
		case syntax.RdrIn, syntax.DplIn:
			in.reads = append(in.reads, target.text)
			in.before = append(in.before, target.outputs...) // sh < <(curl ...)
		case syntax.RdrInOut:
			in.reads, in.writes = append(in.reads, target.text), append(in.writes, target.text)
		case syntax.Hdoc, syntax.DashHdoc:
			var outputs []*Command
			in.stdin, outputs = r.hereDocument(redirect)
			in.before = append(in.before, outputs...)
		case syntax.WordHdoc:
			in.stdin = target.text + "\n"
			in.before = append(in.before, target.outputs...)
		default:
			in.writes = append(in.writes, target.text)
			if redirect.Op != syntax.AppOut && redirect.Op != syntax.AppAll && redirect.Op != syntax.DplOut {
				in.empties = append(slices.Clip(in.empties), target.text)
			}
		}
	}
	return in
}

// hereDocument returns the text of a here-document, and the commands whose output it contains.
func (r *reader) hereDocument(redirect *syntax.Redirect) (string, []*Command) {
	if redirect.Hdoc == nil {
		return "", nil
	}
	if word := redirect.Word.Lit(); word == "" || strings.Contains(word, `\`) { // quoted: the text is not expanded
		if lit, ok := redirect.Hdoc.Parts[0].(*syntax.Lit); ok && len(redirect.Hdoc.Parts) == 1 {
			return lit.Value, nil
		}
	}
	var b wordBuilder
	r.parts(&b, redirect.Hdoc.Parts, true)
	return b.text.String(), b.outputs
}

// declaration reads a command such as export A=b, which the parser does not treat as a simple command.
func (r *reader) declaration(c *syntax.DeclClause, in flow) {
	words := staticWords([]string{c.Variant.Value})
	for _, a := range c.Args {
		switch {
		case a.Name == nil:
			words = append(words, r.expand(a.Value)...)
		case a.Naked:
			words = append(words, staticWords([]string{a.Name.Value})...)
		default:
			words = append(words, staticWords([]string{a.Name.Value + "=" + r.assign(a)})...)
		}
	}
	r.command(words, in)
}

// assign reads an assignment, and returns the value.
func (r *reader) assign(a *syntax.Assign) string {
	if a.Name == nil {
		return r.textOf(a.Value)
	}
	name := a.Name.Value
	r.nested(a.Index)
	if a.Array != nil {
		list := slices.Clip(r.lists[name])
		if !a.Append {
			list = nil
		}
		for _, e := range a.Array.Elems {
			r.nested(e.Index)
			list = append(list, textsOf(r.expand(e.Value))...)
		}
		delete(r.values, name)
		r.lists[name] = list
		return strings.Join(list, " ")
	}
	b := wordBuilder{whole: true}
	if a.Value != nil {
		r.parts(&b, a.Value.Parts, false)
	}
	value := b.text.String()
	if a.Append {
		value = r.values[name] + value
	}
	if len(value) > maxValue || !r.spend(len(value)) {
		delete(r.values, name) // unknown from here on
		return value
	}
	r.values[name] = value
	delete(r.lists, name)
	r.by[name] = b.outputs
	r.variable(name, value)
	return value
}

// repeats notes that the commands of a loop or a function run repeatedly. If one of them changes the directory, the
// directory of all of them is unknown.
func (r *reader) repeats(node syntax.Node) {
	if !r.spend(int(node.End().Offset() - node.Pos().Offset())) {
		return
	}
	syntax.Walk(node, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok && len(c.Args) > 0 && changesDirectory[c.Args[0].Lit()] {
			r.dirs = []string{"?"}
		}
		return true
	})
}

var changesDirectory = kit.Set("cd", "chdir", "pushd", "popd", "set-location", "sl")

// forksItself reports whether a function calls itself in the background or in a pipeline, like the fork bomb
// f() { f | f & }.
func forksItself(f *syntax.FuncDecl) (found bool) {
	calls := func(s *syntax.Stmt) bool {
		if s == nil {
			return false
		}
		c, ok := s.Cmd.(*syntax.CallExpr)
		return ok && len(c.Args) > 0 && c.Args[0].Lit() == f.Name.Value
	}
	syntax.Walk(f.Body, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			found = found || n.Background && calls(n)
		case *syntax.BinaryCmd:
			found = found || (n.Op == syntax.Pipe || n.Op == syntax.PipeAll) && (calls(n.X) || calls(n.Y))
		}
		return !found
	})
	return found
}

package gen

import (
	_ "embed" // for point.go.tmpl
	"fmt"
	"go/format"
	"go/scanner"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/template"

	"github.com/dave/jennifer/jen"
)

// Points with the same law differ only in names. So the code of each law is rendered and formatted once per run, with
// placeholders for the names, and for each point the emitter only substitutes them. The result stays gofmt-clean,
// because no placeholder affects alignment. A point whose types or comments gofmt might lay out differently is
// formatted again.
const (
	anyPoint      = "HookgenPoint"
	anyPayload    = "HookgenPayload"
	anyParam      = "hookgenParam"
	anyCollect    = "HookgenCollected"
	anyResult     = "HookgenResult"
	anyEdit       = "HookgenEdited"
	anyField      = "HookgenField"
	anyLegal      = "HookgenLegal"
	anyLeaving    = "HookgenLeaving"
	anyExits      = "HookgenExits"
	anyOutcomes   = "HookgenOutcomes"
	anyBallots    = "case HookgenBallots:\n\t\t\t\trank = hookgenRank"
	anyParams     = "hookgenMatches func(HookgenMatched) R"
	anyMatches    = "case HookgenMatched:\n\t\treturn hookgenMatches(x)"
	anyResults    = "HookgenLaw"
	anyText       = "HookgenText"
	anyDoc        = "// HookgenDoc\n"
	anyDeprecated = "//\n// HookgenDeprecated\n"
)

// A law is the part of a point that determines its code, except for the names.
type law struct {
	Kind                           Kind
	Replace, Edit, Exits, Collects bool
	Closed, Open, Reverse, Results bool
}

func lawOf(p *Point) law {
	return law{Kind: p.Kind, Replace: p.Replace, Edit: p.Edit.Expr != nil, Exits: len(p.Exits) > 0,
		Collects: p.Collect.Expr != nil,
		Closed:   p.Policy == FailClosed, Open: p.Policy == FailOpen, Reverse: p.Reverse, Results: len(p.Results) > 0}
}

// The template uses the methods below.

func (l law) Observe() bool     { return l.Kind == Observe }
func (l law) Flow() bool        { return l.Kind == Flow }
func (l law) Vote() bool        { return l.Kind == Vote }
func (l law) CollectOnly() bool { return l.Kind == Collect }
func (l law) Check() bool       { return l.Kind == Check }
func (l law) Around() bool      { return l.Kind == Around }
func (l law) Decides() bool     { return l.Flow() || l.Vote() }
func (l law) Rewrites() bool    { return l.Replace || l.Edit }

// FailureEnds reports whether every failure ends the fire.
func (l law) FailureEnds() bool { return l.Closed || l.Check() }

// ReturnsErr reports whether Fire returns an error.
func (l law) ReturnsErr() bool { return l.Decides() || l.Check() || l.Around() || l.Closed }

// Names returns the results of runHooks as a list of names.
func (l law) Names() string { return strings.Join(l.choose("exit", "collected", "err"), ", ") }

// choose returns the texts for those results that the law has: the exit, the contributions and the error.
func (l law) choose(exit, collected, err string) []string {
	var chosen []string
	if l.Exits {
		chosen = append(chosen, exit)
	}
	if l.Collects {
		chosen = append(chosen, collected)
	}
	if l.ReturnsErr() {
		chosen = append(chosen, err)
	}
	return chosen
}

// Named returns the result list of runHooks, with a blank before it.
func (l law) Named() string {
	if l.Observe() {
		return ""
	}
	return " (" + strings.Join(l.choose("exit HookgenPointExit", "collected []HookgenCollected", "err error"), ", ") + ")"
}

// DropResults returns the left side of an assignment that keeps only the error of runHooks.
func (l law) DropResults() string {
	if !l.ReturnsErr() {
		return ""
	}
	return strings.Join(l.choose("_", "_", "err"), ", ") + " = "
}

// PayloadParam returns the payload parameter of runHooks: a pointer if hooks may change the payload.
func (l law) PayloadParam() string {
	if l.Rewrites() {
		return "payload *HookgenPayload"
	}
	return "payload HookgenPayload"
}

// By, ByNames and NilBy return the parameters of runHooks for FireBy: declared, as arguments, and as nil arguments for
// Fire.
func (l law) By() string      { return l.by("by *hookkit.By, ", "bys *[]hookkit.By, ") }
func (l law) ByNames() string { return l.by("by, ", "bys, ") }
func (l law) NilBy() string   { return l.by("nil, ", "nil, ") }

func (l law) by(by, bys string) string {
	text := ""
	if l.decidesBy() {
		text = by
	}
	if l.Collects {
		text += bys
	}
	return text
}

// decidesBy reports whether a single hook can decide a fire.
func (l law) decidesBy() bool { return l.Decides() || l.Check() || l.Around() }

// ByOrNil returns the argument for the hook that decided.
func (l law) ByOrNil() string {
	if l.decidesBy() {
		return "by"
	}
	return "nil"
}

// FiredFields returns the fields of fired that are set when the fire is decided, or "" if only the verdict is set.
func (l law) FiredFields() string {
	return l.fired("fired.Final", l.choose("fired.Exit", "fired.Collected", "fired.Err"), "fired.Ballots")
}

// FiredValues returns the values for FiredFields.
func (l law) FiredValues() string {
	return l.fired("*payload", l.choose("exit", "hookimpl.Returned(&all.Dispatch, collected)", "all.Err(err)"),
		"all.Ballots()")
}

// fired joins the texts for those fields that the law has.
func (l law) fired(final string, results []string, ballots string) string {
	if l.Rewrites() {
		results = append([]string{final}, results...)
	}
	if l.Vote() {
		results = append(results, ballots)
	}
	return strings.Join(results, ", ")
}

// Calls returns the constructor of the runtime for the description of the point.
func (l law) Calls() string {
	switch {
	case l.Decides() && l.Collects:
		return "DecidingAndCollecting"
	case l.Decides():
		return "Deciding"
	case l.Collects:
		return "Collecting"
	}
	return "Checking"
}

// Law returns the value of hookimpl.Law.
func (l law) Law() string {
	var parts []string
	for _, part := range []struct {
		has  bool
		name string
	}{
		{l.Decides(), "Decides"}, {l.Closed, "FailsClosed"}, {l.Check(), "Checks"}, {l.Around(), "Wraps"},
		{l.Reverse, "Reversed"},
	} {
		if part.has {
			parts = append(parts, "hookimpl."+part.name)
		}
	}
	return strings.Join(parts, " | ")
}

//go:embed point.go.tmpl
var pointTemplate string

var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("point").Parse(pointTemplate))
})

// A lawText is the formatted code for a law, with placeholders: the API of a point, and its machinery.
type lawText struct{ api, machinery string }

// lawText returns the code for a law. It renders the code on first use.
func (e *emitter) lawText(l law) (lawText, error) {
	if text, ok := e.laws[l]; ok {
		return text, nil
	}
	var text lawText
	var err error
	if text.api, err = e.formatted(string(e.render(func(f *jen.File) { emitAPI(f, l) }))); err != nil {
		return text, err
	}
	var machinery strings.Builder
	names := []string{"description", "fire"}
	if l.Around() {
		names[1] = "around"
	}
	for _, name := range names {
		if err := templates().ExecuteTemplate(&machinery, name, l); err != nil {
			return text, err
		}
	}
	text.machinery, err = e.formatted(machinery.String())
	e.laws[l] = text
	return text, err
}

// formatted formats code, and renames local names that collide with types or imports of the spec.
func (e *emitter) formatted(code string) (string, error) {
	text, err := format.Source([]byte(code))
	if err != nil {
		return "", fmt.Errorf("the generated code does not parse: %w", err)
	}
	return strings.TrimSpace(renameLocals(string(text), e.taken, e.suffix)), nil
}

// fields are the unexported fields of generated types. A field cannot hide a type, so renameLocals leaves these names
// alone.
var fields = map[string]bool{"registry": true, "fire": true, "level": true}

// freeSuffix returns a suffix of underscores that no taken name has.
func freeSuffix(taken map[string]bool) string {
	suffix := "_"
	for name := range taken {
		for strings.HasSuffix(name, suffix) {
			suffix += "_"
		}
	}
	return suffix
}

// renameLocals appends the suffix to local names that are also taken by the spec. For example, if the spec declares a
// type hook, the variable hook becomes hook_. Local names are identifiers without a qualifier that begin with a
// lower-case letter, except fields, and the type parameters P and R.
func renameLocals(code string, taken map[string]bool, suffix string) string {
	var s scanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(code))
	s.Init(file, []byte(code), nil, 0)
	var out strings.Builder
	done, selector := 0, false
	for {
		pos, tok, name := s.Scan()
		if tok == token.EOF {
			break
		}
		if tok == token.IDENT && !selector && taken[name] && !fields[name] &&
			(name[0] >= 'a' && name[0] <= 'z' || name == "P" || name == "R") {
			end := file.Offset(pos) + len(name)
			out.WriteString(code[done:end] + suffix)
			done = end
		}
		selector = tok == token.PERIOD
	}
	if done == 0 {
		return code
	}
	return out.String() + code[done:]
}

// A substitution replaces the placeholders in the code of a law with the names of one point.
type substitution struct {
	replacer *strings.Replacer
	plain    bool // the result is as gofmt would have it
}

// substitution returns the substitution for a point.
func (e *emitter) substitution(p *Point) substitution {
	var pairs []string
	sub := substitution{plain: true}
	put := func(placeholder, text string) { pairs = append(pairs, placeholder, text) }
	typ := func(placeholder string, t Type) {
		if t.Expr != nil {
			text, plain := e.typeText(t.Expr)
			sub.plain = sub.plain && plain
			put(placeholder, text)
		}
	}
	exits := make([]string, len(p.Exits))
	for i, x := range p.Exits {
		exits[i] = x.Name
	}
	typ(anyPayload, p.Payload)
	typ(anyCollect, p.Collect)
	typ(anyResult, p.Around)
	typ(anyEdit, p.Edit)
	put(anyField, p.EditField)
	if len(exits) > 0 {
		params := matchParams(exits, e.taken, e.suffix)
		var funcs, cases, ballots []string
		for i, x := range exits {
			funcs = append(funcs, params[i]+" func("+x+") R")
			cases = append(cases, "case "+x+":\n\t\treturn "+params[i]+"(x)")
			ballots = append(ballots, fmt.Sprintf("case %s:\n\t\t\t\trank = %d", x, i+1))
		}
		renamed := strings.NewReplacer(") R", ") R"+e.suffix, "(x)", "(x"+e.suffix+")") // see renameLocals
		put(renamed.Replace(anyParams), renamed.Replace(strings.Join(funcs, ", ")))
		put(renamed.Replace(anyMatches), renamed.Replace(strings.Join(cases, "\n\t")))
		put(anyParams, strings.Join(funcs, ", ")) // the shorter after the longer
		put(anyMatches, strings.Join(cases, "\n\t"))
		put(anyBallots, strings.Join(ballots, "\n\t\t\t"))
		renamed = strings.NewReplacer("rank =", "rank"+e.suffix+" =")
		put(renamed.Replace(anyBallots), renamed.Replace(strings.Join(ballots, "\n\t\t\t")))
		put(anyLeaving, joinOr(exits))
		put(anyExits, strings.Join(exits, ", "))
	}
	if lawOf(p).Decides() {
		legal := legalNames(p)
		put(anyLegal, joinOr(legal))
		var outcomes []string
		for _, name := range legal {
			verb := strings.TrimSuffix(name, p.Name)
			if slices.Contains(exits, name) {
				outcomes = append(outcomes, fmt.Sprintf("hookimpl.Exiting[%s](%q)", name, name))
			} else {
				outcomes = append(outcomes, fmt.Sprintf("hookimpl.Rewriting(%q, %s)", verb, name))
			}
		}
		put(anyOutcomes, strings.Join(outcomes, ", "))
	}
	put(anyPoint, p.Name)
	put(lowerFirst(anyPoint), lowerFirst(p.Name))
	put(anyParam, e.paramName(p))
	put(strconv.Quote(anyText), strconv.Quote(e.text(p.Payload.Expr)))
	put(strconv.Quote(anyResults), strconv.Quote(e.law(p)))
	reason := deprecation(p.Doc) // at the end of the comment
	head := docLines(strings.Replace(p.Doc, reason, "", 1))
	if len(head) > 0 {
		head = append(head, "//")
	}
	if !strings.HasPrefix(p.Doc, p.Name+" ") {
		head = append([]string{"// " + p.Name + " is a hook of the point " + p.Name + ".", "//"}, head...)
	}
	sub.plain = sub.plain && plainDoc(head)
	put(anyDoc, strings.Join(head, "\n")+"\n")
	deprecated := docLines(reason)
	sub.plain = sub.plain && plainDoc(deprecated)
	if len(deprecated) > 0 {
		deprecated = append([]string{"//"}, append(deprecated, "")...)
	}
	put(anyDeprecated, strings.Join(deprecated, "\n"))
	sub.replacer = strings.NewReplacer(pairs...)
	return sub
}

// apply returns the code of a law for the point.
func (s substitution) apply(code string) (string, error) {
	text := s.replacer.Replace(code)
	if s.plain {
		return text, nil
	}
	formatted, err := formatTwice([]byte(text))
	return strings.TrimSpace(string(formatted)), err
}

// legalNames returns the outcomes that a hook of the point may return: constructors and exits.
func legalNames(p *Point) []string {
	var names []string
	if p.Replace {
		names = append(names, "Replace"+p.Name)
	}
	if p.Edit.Expr != nil {
		names = append(names, "Edit"+p.Name)
	}
	for _, x := range p.Exits {
		names = append(names, x.Name)
	}
	return names
}

// matchParams returns the parameter names of a Match function, one for each exit.
func matchParams(exits []string, taken map[string]bool, suffix string) []string {
	used := map[string]bool{}
	for _, name := range []string{"exit", "none", "x"} {
		used[name] = true
		used[name+suffix] = taken[name] // see renameLocals
	}
	params := make([]string, len(exits))
	for i, name := range exits {
		param := lowerFirst(name)
		for used[param] || taken[param] || token.IsKeyword(param) || predeclared[param] || builtins[param] ||
			imported[param] {
			param += "_"
		}
		used[param], params[i] = true, param
	}
	return params
}

// paramName returns the name of the payload parameter in exported signatures. It is the name in the spec, unless that
// would collide with another name.
func (e *emitter) paramName(p *Point) string {
	if p.Param == "" || p.Param == "_" || slices.Contains(paramNames, p.Param) || imported[p.Param] || e.taken[p.Param] {
		name := "payload"
		for e.taken[name] {
			name += "_"
		}
		return name
	}
	return p.Param
}

// paramNames are the other parameters in exported signatures.
var paramNames = []string{"ctx", "run", "f", "h", "p", "act", "next", "when", "reason", "exit", "by", "bys",
	"collected", "err", "result", "returned"}

// imported are the qualifiers that every generated file has.
var imported = map[string]bool{"context": true, "io": true, "hookkit": true, "hookimpl": true}

package gen

import (
	"fmt"
	"strconv"
	"strings"
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
	anyZeros      = "HookgenZeros"
	anyBallots    = "case HookgenBallots:\n\t\t\t\trank = hookgenRank"
	anyParams     = "hookgenMatches func(HookgenMatched) R"
	anyMatches    = "case HookgenMatched:\n\t\treturn hookgenMatches(x)"
	anyResults    = "HookgenLaw"
	anyText       = "HookgenText"
	anyWords      = "HookgenWords"
	anySpec       = "HookgenSpec"
	anyDoc        = "// HookgenDoc\n"
	anyDeprecated = "//\n// HookgenDeprecated\n"
)

// A substitution replaces the placeholders in the code of a law with the names of one point.
type substitution struct {
	names *strings.Replacer
	docs  *strings.Replacer
	plain bool // the result is as gofmt would have it
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
	typ(anyPayload, p.Payload)
	typ(anyCollect, p.Collect)
	typ(anyResult, p.Around)
	typ(anyEdit, p.Edit)
	put(anyField, p.EditField)
	if p.Leaves() {
		params := matchParams(p.Exits, e.taken, e.suffix)
		var funcs, cases, ballots []string
		for i, x := range p.Exits {
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
		put(anyLeaving, joinOr(p.Exits))
		put(anyExits, strings.Join(p.Exits, ", "))
	}
	if p.Decides() {
		put(anyLegal, joinOr(legalNames(p)))
		var zeros []string
		for _, name := range p.Exits {
			zeros = append(zeros, name+"{}")
		}
		put(anyZeros, strings.Join(zeros, ",\n\t\t\t"))
	}
	put(anyWords, lawDoc(p))
	put(anyPoint, p.Name)
	put(lowerFirst(anyPoint), lowerFirst(p.Name))
	put(anyParam, e.paramName(p))
	put(strconv.Quote(anySpec), strconv.Quote(e.to.Source))
	put(strconv.Quote(anyText), strconv.Quote(e.text(p.Payload.Expr)))
	put(strconv.Quote(anyResults), strconv.Quote(e.results(p)))
	head, deprecated := splitDoc(p.Doc)
	if len(head) > 0 {
		head = append(head, "//")
	}
	if !strings.HasPrefix(p.Doc, p.Name+" ") {
		head = append([]string{"// " + p.Name + " is a hook of the point " + p.Name + ".", "//"}, head...)
	}
	sub.plain = sub.plain && plainDoc(head)
	sub.plain = sub.plain && plainDoc(deprecated)
	if len(deprecated) > 0 {
		deprecated = append([]string{"//"}, append(deprecated, "")...)
	}
	sub.names = strings.NewReplacer(pairs...)
	sub.docs = strings.NewReplacer(anyDoc, strings.Join(head, "\n")+"\n", anyDeprecated, strings.Join(deprecated, "\n"))
	return sub
}

// apply returns the code of a law for the point.
func (s substitution) apply(law lawText) (point lawText, err error) {
	if point.api, err = s.part(law.api); err == nil {
		point.machinery, err = s.part(law.machinery)
	}
	return point, err
}

func (s substitution) part(code string) (string, error) {
	text := replaced(s.docs, fold(fill(replaced(s.names, code))))
	if s.plain {
		return text, nil
	}
	formatted, err := formatTwice([]byte(text))
	return strings.TrimSpace(string(formatted)), err
}

// replaced returns r.Replace(text), with fewer allocations if the result is at most half as long again.
func replaced(r *strings.Replacer, text string) string {
	var out strings.Builder
	out.Grow(len(text) + len(text)/2)
	_, _ = r.WriteString(&out, text) // a Builder never fails
	return out.String()
}

// legalNames returns the outcomes that a hook of the point may return: constructors and p.Exits.
func legalNames(p *Point) []string {
	var names []string
	if p.Replace {
		names = append(names, "Replace"+p.Name)
	}
	if p.Edit.Expr != nil {
		names = append(names, "Edit"+p.Name)
	}
	return append(names, p.Exits...)
}

package gen

import (
	"bytes"
	_ "embed" // for molds.txt
	"fmt"
	"go/ast"
	"strconv"
	"strings"
	"sync"

	"github.com/dave/jennifer/jen"
)

// Points with the same law have the same code but for names. So that code was made and formatted once, as molds
// with stand-ins for the names, and is cast for each point: molds.txt holds them, and a test holds
// molds.txt to what this package emits. What is cast reads the same after gofmt: the stand-ins stand where their
// length moves nothing, and only types that gofmt leaves on one line are put in. A point with another type, and a comment
// that gofmt would change, are made and formatted for themselves.

//go:generate go test -run ^TestMoldsAreFresh$ . -update

//go:embed molds.txt
var moldsText string

// molds returns the molds by key.
var molds = sync.OnceValue(func() map[string]string {
	table := map[string]string{}
	for part := range strings.SplitSeq(moldsText, moldMark) {
		if key, text, ok := strings.Cut(part, "\n"); ok {
			table[key] = text
		}
	}
	return table
})

// moldMark begins the line that holds a mold's key.
const moldMark = "-- mold "

// The stand-ins.
const (
	anyPoint   = "HookgenPoint"
	anyPayload = "HookgenPayload"
	anyParam   = "hookgenParam"
	anyCollect = "HookgenCollected"
	anyResult  = "HookgenResult"
	anyEdit    = "HookgenEdited"
	anyField   = "HookgenField"
	anyLegal   = "HookgenLegal"
	anyExits   = "HookgenExits"
	anyLeaving = "HookgenLeaving"
	anyBallots = "HookgenBallots"
	anyRank    = "hookgenRank"
	anyResults = "HookgenLaw"
	anyText    = "HookgenText"
	anyDoc     = "// HookgenDoc"
)

// A cast is one part of one point: a mold and what to put in, or a piece made for this point alone.
type cast struct {
	text  string
	fill  *strings.Replacer // nil for nothing
	alone *piece
}

func (c cast) write(out *bytes.Buffer) {
	switch {
	case c.alone != nil:
		paragraph(out, string(c.alone.text))
	case c.fill != nil:
		paragraph(out, c.fill.Replace(c.text))
	default:
		paragraph(out, c.text)
	}
}

// parts are the parts of a point, in the order of the file.
var parts = []struct {
	name   string
	emit   func(*pointEmitter, *jen.File)
	forget func(*lawShape) // what the part does not depend on
}{
	{"hook", (*pointEmitter).hookTypes, func(s *lawShape) { s.replace, s.edit, s.exits, s.rev = false, false, false, false }},
	{"outcomes", (*pointEmitter).outcomes, func(s *lawShape) { s.collects, s.closed, s.rev, s.open = false, false, false, false }},
	{"next", (*pointEmitter).next, func(s *lawShape) { *s = lawShape{kind: s.kind} }},
	{"observers", (*pointEmitter).observers, func(s *lawShape) { s.rev, s.open = false, false }},
	{"point", (*pointEmitter).point, func(s *lawShape) { s.rev, s.open = false, false }},
	{"description", (*pointEmitter).description, func(s *lawShape) { s.replace, s.edit, s.exits, s.open = false, false, false, false }},
	{"watch", (*pointEmitter).watch, func(s *lawShape) { s.rev, s.open = false, false }},
	{"fire", (*pointEmitter).fire, func(s *lawShape) { s.rev, s.open = false, false }},
}

// point adds the parts of a point.
func (ps *pieces) point(p *Point) {
	pe := newPointEmitter(ps.e, p)
	fill, plain := pe.fill()
	for _, part := range parts {
		text, ok := molds()[moldKey(part.name, pe.shape(), part.forget)]
		if !ok || !plain {
			ps.alone(func(f *jen.File) { part.emit(pe, f) })
			continue
		}
		ps.casts = append(ps.casts, cast{text: text, fill: fill})
	}
}

func moldKey(part string, s lawShape, forget func(*lawShape)) string {
	forget(&s)
	return fmt.Sprint(part, s)
}

// raw renders what add adds, without header and imports.
func (e *emitter) raw(add func(*jen.File)) []byte {
	f := e.file()
	f.Comment(section)
	add(f)
	var b bytes.Buffer
	if err := f.Render(&b); err != nil {
		return []byte(err.Error()) // jennifer fails only where it formats
	}
	_, raw, _ := bytes.Cut(b.Bytes(), sectionLine)
	return raw
}

// A lawShape is what a mold depends on.
type lawShape struct {
	kind                                   Kind
	replace, edit, exits, collects, closed bool
	open                                   bool // a policy that is not closed
	rev                                    bool
	observe                                bool // no results at all
}

func (p *pointEmitter) shape() lawShape {
	return lawShape{p.p.Kind, p.p.Replace, p.p.Edit.Expr != nil, p.exits(), p.collects(), p.failClosed(), p.p.Policy == FailOpen, p.p.Reverse, len(p.p.Results) == 0}
}

// shapes calls f with a stand-in for every law that a point can have.
func (e *emitter) shapes(f func(*pointEmitter)) {
	no, yes, must := []bool{false}, []bool{false, true}, []bool{true}
	each := func(kind Kind, replace, edit, exits, collect []bool, policies ...Policy) {
		for _, policy := range policies {
			for _, re := range replace {
				for _, ed := range edit {
					for _, ex := range exits {
						for _, co := range collect {
							for _, rev := range yes {
								if kind != Flow || re || ed || ex {
									f((&pointEmitter{emitter: e, p: anyLaw(kind, policy, re, ed, ex, co, rev)}).standIn())
								}
							}
						}
					}
				}
			}
		}
	}
	each(Observe, no, no, no, no, NoPolicy)
	each(Flow, yes, yes, yes, yes, FailClosed, FailOpen)
	each(Vote, no, no, must, yes, FailClosed, FailOpen)
	each(Collect, no, no, no, must, FailClosed, FailOpen)
	each(Check, no, no, no, no, NoPolicy)
	each(Around, no, no, no, no, NoPolicy)
}

// anyLaw returns a point with the law and nothing else.
func anyLaw(kind Kind, policy Policy, replace, edit, exits, collect, reverse bool) *Point {
	some := Type{Expr: ast.NewIdent("T")}
	p := &Point{Name: anyPoint, Kind: kind, Policy: policy, Payload: some, Replace: replace, Reverse: reverse}
	if edit {
		p.Edit = some
	}
	if exits {
		p.Exits = []*Exit{{Name: "T"}}
	}
	if collect {
		p.Collect = some
	}
	if kind == Around {
		p.Around = some
	}
	if kind != Observe || reverse {
		p.Results = []ast.Expr{some.Expr}
	}
	return p
}

// standIn returns the emitter of a point of the same law whose names are stand-ins.
func (p *pointEmitter) standIn() *pointEmitter {
	return &pointEmitter{emitter: p.emitter, p: p.p, n: anyPoint, param: anyParam, stand: true}
}

// fill returns what is put in for the stand-ins, and whether gofmt would leave that as it is.
func (p *pointEmitter) fill() (*strings.Replacer, bool) {
	var pairs []string
	plain := true
	put := func(standIn, text string) { pairs = append(pairs, standIn, text) }
	typ := func(standIn string, t Type) {
		if t.Expr != nil {
			text, ok := p.plainType(t.Expr)
			plain = plain && ok
			put(standIn, text)
		}
	}
	typ(anyPayload, p.p.Payload)
	typ(anyCollect, p.p.Collect)
	typ(anyResult, p.p.Around)
	typ(anyEdit, p.p.Edit)
	put(anyField, p.p.EditField)
	put(anyPoint, p.n)
	put(lowerFirst(anyPoint), lowerFirst(p.n))
	put(anyParam, p.param)
	put(strconv.Quote(anyText), strconv.Quote(p.text(p.p.Payload.Expr)))
	put(strconv.Quote(anyResults), strconv.Quote(p.law(p.p)))
	if p.decides() {
		put(anyLegal, or(p.legal()))
	}
	if p.exits() {
		names := exitNames(p.p.Exits)
		put(anyLeaving, or(names))
		put(anyExits, strings.Join(names, ", "))
		var ballots strings.Builder // the cases of a switch, as far as the last one's name
		for i, name := range names {
			if i > 0 {
				fmt.Fprintf(&ballots, ":\n\t\t\t\tr = %d\n\t\t\tcase ", i)
			}
			ballots.WriteString(name)
		}
		put(anyBallots, ballots.String())
		put(anyRank, strconv.Itoa(len(names)))
	}
	plain = plain && plainDoc(p.head())
	put(anyDoc, strings.Join(p.head(), "\n"))
	return strings.NewReplacer(pairs...), plain
}

// plainDoc reports whether gofmt leaves the lines of a comment as they are: paragraphs of words, and nothing that could
// be a heading, a list, a link or code.
func plainDoc(lines []string) bool {
	empty := func(i int) bool { return i >= 0 && i < len(lines) && lines[i] == "//" }
	for i, l := range lines {
		if empty(i) {
			if empty(i - 1) {
				return false
			}
			continue
		}
		if len(l) < 4 || l[:3] != "// " || strings.Contains(l, "``") || strings.Contains(l, "''") {
			return false // what gofmt lays out or writes otherwise
		}
		c := l[3]
		capital := 'A' <= c && c <= 'Z'
		if capital && empty(i-1) && empty(i+1) {
			return false // perhaps a heading
		}
		if !('a' <= c && c <= 'z' || capital || c == '"' || c == '(') {
			return false
		}
	}
	return true
}

// plainType returns a type as gofmt writes it, for the types that it always leaves on one line.
func (e *emitter) plainType(x ast.Expr) (string, bool) {
	switch x := x.(type) {
	case *ast.Ident:
		return x.Name, true
	case *ast.SelectorExpr:
		if q, ok := x.X.(*ast.Ident); ok && e.names[e.paths[q.Name]] != "" {
			return e.names[e.paths[q.Name]] + "." + x.Sel.Name, true
		}
	case *ast.StarExpr:
		t, ok := e.plainType(x.X)
		return "*" + t, ok
	case *ast.ArrayType:
		if x.Len == nil {
			t, ok := e.plainType(x.Elt)
			return "[]" + t, ok
		}
	case *ast.MapType:
		k, ok := e.plainType(x.Key)
		v, also := e.plainType(x.Value)
		return "map[" + k + "]" + v, ok && also
	case *ast.IndexExpr:
		t, ok := e.plainType(x.X)
		a, also := e.plainType(x.Index)
		return t + "[" + a + "]", ok && also
	}
	return "", false
}

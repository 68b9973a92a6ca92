package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"strings"
)

// A mutant is one planted bug.
type mutant struct {
	ID   int
	File string // below the root of the repository
	Func string // with its receiver; "" outside functions
	What string // the source and the change, on one line
	N    int    // counts mutants of Func with the same What, from 1
	Line int
}

// Key identifies the mutant in equivalent.txt. It does not contain line numbers, so that it survives edits of the
// file.
func (m mutant) Key() string { return fmt.Sprintf("%s | %s | %s | %d", m.File, m.Func, m.What, m.N) }

// A planter walks one file and plants mutants. Each mutant is an edit of the text that a function of the helper
// file switches on. Without a selected mutant the file behaves as before.
type planter struct {
	fset  *token.FileSet
	src   []byte
	path  string
	info  *types.Info
	pkg   *types.Package
	names map[*types.Package]string // qualifiers of the imports
	next  func(mutant) int          // registers a mutant and returns its number
	like  *regexp.Regexp            // functions to skip; may be nil
	edits edits

	function string
	results  []string // the types of the function's results
	count    map[string]int
}

// plant plants all mutants of a file.
func (p *planter) plant(f *ast.File) {
	for _, decl := range f.Decls {
		p.count = map[string]int{}
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Body == nil {
				continue
			}
			p.function = functionName(d)
			if p.like != nil && p.like.MatchString(p.function) {
				continue
			}
			p.body(d.Type, d.Body)
		case *ast.GenDecl:
			p.function = ""
			p.walk(d)
		}
	}
}

func functionName(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return d.Name.Name
	}
	star := ""
	t := d.Recv.List[0].Type
	if s, ok := t.(*ast.StarExpr); ok {
		star, t = "*", s.X
	}
	switch x := t.(type) {
	case *ast.IndexExpr:
		t = x.X
	case *ast.IndexListExpr:
		t = x.X
	}
	return "(" + star + t.(*ast.Ident).Name + ")." + d.Name.Name
}

// body plants in a function's body. A panic replaces a missing return after a mutant.
func (p *planter) body(t *ast.FuncType, b *ast.BlockStmt) {
	defer func(outer []string) { p.results = outer }(p.results)
	p.results = nil
	if t.Results != nil {
		for _, field := range t.Results.List {
			for range max(1, len(field.Names)) {
				p.results = append(p.results, p.text(field.Type))
			}
		}
	}
	p.list(b.List)
	if len(p.results) > 0 {
		p.edits.insert(p.offset(b.Rbrace), ";panic(\"a mutant did not return\");")
	}
}

func (p *planter) offset(pos token.Pos) int { return p.fset.PositionFor(pos, false).Offset }

func (p *planter) text(n ast.Node) string {
	return string(p.src[p.offset(n.Pos()):p.offset(n.End())])
}

// brief returns the text of a node on one line, truncated.
func (p *planter) brief(n ast.Node) string {
	s := strings.ReplaceAll(strings.Join(strings.Fields(p.text(n)), " "), "|", "¦")
	if r := []rune(s); len(r) > 72 {
		s = string(r[:72]) + "…"
	}
	return s
}

// is registers a mutant for a node and returns the condition that selects it.
func (p *planter) is(n ast.Node, what string) string {
	return fmt.Sprintf("mutantIs(%d)", p.number(n, what))
}

func (p *planter) number(n ast.Node, what string) int {
	what = p.brief(n) + " → " + what
	p.count[what]++
	return p.next(mutant{
		File: p.path, Func: p.function, What: what, N: p.count[what], Line: p.fset.Position(n.Pos()).Line,
	})
}

func (p *planter) wrap(n ast.Node, before, after string) {
	p.edits.wrap(p.offset(n.Pos()), p.offset(n.End()), before, after)
}

// negate makes a mutant of a condition.
func (p *planter) negate(e ast.Expr) { p.wrap(e, "("+p.is(e, "negated")+" != (", "))") }

// condition plants in a boolean expression. It negates the expression if that has no other mutant.
func (p *planter) condition(e ast.Expr) {
	switch x := e.(type) {
	case *ast.ParenExpr:
		p.condition(x.X)
		return
	case *ast.BinaryExpr, *ast.UnaryExpr:
	case *ast.Ident:
		if x.Name == "true" || x.Name == "false" {
			break
		}
		p.negate(e)
	default:
		p.negate(e)
	}
	p.walk(e)
}

func (p *planter) constant(e ast.Expr) bool { return p.info.Types[e].Value != nil }

func (p *planter) basic(e ast.Expr) types.BasicInfo {
	t := p.info.TypeOf(e)
	if t == nil {
		return 0
	}
	if b, ok := t.Underlying().(*types.Basic); ok {
		return b.Info()
	}
	return 0
}

// comparisons are functions of the helper file. Each implements a boundary mutant and a negation mutant.
var comparisons = map[token.Token]string{
	token.LSS: "mutantLess", token.LEQ: "mutantLessOrSame", token.GTR: "mutantMore", token.GEQ: "mutantMoreOrSame",
}

var boundary = map[token.Token]string{token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">"}

// sameAsBoundary are the integer operands for which replacing 0 by 1, or 1 by 0, equals the boundary mutant.
var sameAsBoundary = map[token.Token]string{token.LSS: "0", token.GTR: "1", token.LEQ: "1", token.GEQ: "0"}

// arithmetic maps operators to functions of the helper file and to the operators of the mutants.
var arithmetic = map[token.Token][2]string{
	token.ADD: {"mutantAdd", "-"}, token.SUB: {"mutantSub", "+"}, token.MUL: {"mutantMul", "/"},
	token.QUO: {"mutantQuo", "*"},
	token.AND: {"mutantAnd", "bitwise or"}, token.OR: {"mutantOr", "bitwise and"},
}

// walk plants in a node and in those below it. It skips nil.
func (p *planter) walk(n ast.Node) {
	if n != nil {
		ast.Inspect(n, p.visit)
	}
}

// visit plants in a node, and reports whether the nodes below it are to be visited. Types and the keys of literals have
// no mutants, because some of them must stay constants.
func (p *planter) visit(n ast.Node) bool {
	switch x := n.(type) {
	case *ast.BinaryExpr:
		if !p.constant(x) {
			p.binary(x)
		}
		return false
	case *ast.UnaryExpr:
		if x.Op == token.NOT && !p.constant(x) {
			p.negate(x)
		}
		return !p.constant(x)
	case *ast.BasicLit:
		p.literal(x)
	case *ast.Ident:
		if c, ok := p.info.Uses[x].(*types.Const); ok && c.Parent() == types.Universe &&
			(x.Name == "true" || x.Name == "false") {
			p.wrap(x, "("+p.is(x, "negated")+" != ", ")")
		}
	case *ast.FuncLit:
		p.body(x.Type, x.Body)
		return false
	case *ast.KeyValueExpr:
		p.walk(x.Value)
		return false
	case ast.Expr:
		return !p.info.Types[x].IsType()
	case ast.Stmt:
		return p.stmt(x)
	case *ast.GenDecl:
		return x.Tok == token.VAR
	}
	return true
}

func (p *planter) binary(x *ast.BinaryExpr) {
	op := func(text string) { p.edits.replace(p.offset(x.OpPos), p.offset(x.OpPos)+len(x.Op.String()), text) }
	operands := func(plant func(ast.Expr)) { plant(x.X); plant(x.Y) }
	switch x.Op {
	case token.LAND, token.LOR:
		other := "||"
		if x.Op == token.LOR {
			other = "&&"
		}
		is := p.is(x, other)
		// by De Morgan, so that the right side stays lazy
		p.wrap(x, "("+is+" != (", "))")
		p.wrap(x.X, "("+is+" != (", "))")
		p.wrap(x.Y, "("+is+" != (", "))")
		operands(p.condition)
		return
	case token.EQL, token.NEQ:
		p.negate(x)
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
		p.wrap(x, fmt.Sprintf("%s(%d, %d, ", comparisons[x.Op], p.number(x, boundary[x.Op]), p.number(x, "negated")), ")")
		op(",")
		if lit, ok := x.Y.(*ast.BasicLit); ok && sameAsBoundary[x.Op] == lit.Value {
			p.walk(x.X)
			return
		}
	default:
		if does, ok := arithmetic[x.Op]; ok && p.basic(x)&types.IsInteger != 0 {
			p.wrap(x, fmt.Sprintf("%s(%d, ", does[0], p.number(x, does[1])), ")")
			op(",")
		}
	}
	operands(func(e ast.Expr) { p.walk(e) })
}

// literal plants in 0 and 1.
func (p *planter) literal(x *ast.BasicLit) {
	if x.Kind != token.INT || x.Value != "0" && x.Value != "1" || p.basic(x)&types.IsInteger == 0 {
		return
	}
	other := map[string]string{"0": "1", "1": "0"}[x.Value]
	t, known := p.info.TypeOf(x), true
	if named, ok := t.(*types.Named); ok && named.Obj().Pkg() != p.pkg {
		_, known = p.names[named.Obj().Pkg()]
	}
	if !known {
		return
	}
	name := types.TypeString(types.Default(t), func(pkg *types.Package) string { return p.names[pkg] })
	p.edits.replace(p.offset(x.Pos()), p.offset(x.End()), fmt.Sprintf("%s(mutantInt(%d, %s, %s))", name,
		p.number(x, other), x.Value, other))
}

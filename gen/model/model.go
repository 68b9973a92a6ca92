// Package model is the model of a spec: what its points are, how their hooks run, and the words for it. Package gen
// reads a spec file into it, and checks the file; package emit generates code from it. It is plain data.
package model

import (
	"go/ast"
	"go/token"
	"go/types"
)

// A Spec is one spec file, read and understood. Every value in it has its position in the source.
type Spec struct {
	Dir     string         // the directory, as given
	File    string         // the spec file, joined to Dir
	Package string         // its package name
	Doc     string         // the package comment, "" if none
	Fset    *token.FileSet // resolves every position below
	Imports []Import       // of the spec file, in source order, without the spec language itself
	SpecPkg Import         // the import of the spec language, under the name it has in the file

	Interface *ast.TypeSpec // the interface that carries //hookgen:points
	PointsDoc string        // its comment without directives
	Wire      bool          // it carries //hookgen:wire: other processes can speak the spec
	Ignores   []Ignore      // above the interface, for changes of the whole spec
	Env       Type          // the argument of spec.Env; zero without it
	Parents   []Parent      // embedded Points of other generated packages, in source order
	Points    []*Point      // in source order, groups flattened where they are embedded
	Exits     []*Exit       // exits used by a point, in order of declaration
	Exports   []Export      // exported types and constants of the package, sorted by name; Points included
	Declared  []string      // every name in the package's scope, sorted; not those of tests and of generated code
}

// Wired reports whether hooks of other processes can answer the point.
func (s *Spec) Wired(p *Point) bool { return s.Wire && !p.Local && p.Kind != Around }

// An Import is one line of the import block.
type Import struct {
	Name string // the qualifier used in the file
	Path string
	Pos  token.Pos
}

// A Parent is an embedded Points interface of another generated package.
type Parent struct {
	Import Import
	Pos    token.Pos
	Before int      // the number of points in Points that precede it in source order
	Groups []*Group // the groups that embed it, outermost first
}

// A Group is an interface of the spec file that is embedded to group points.
type Group struct {
	Name string
	Doc  string
	Pos  token.Pos
}

// A Type is a type expression as written in the spec.
type Type struct {
	Expr ast.Expr // nil for none
	Pos  token.Pos
}

// IsZero reports whether t is the zero Type.
func (t Type) IsZero() bool { return t.Expr == nil }

// String returns the expression on one line, or "".
func (t Type) String() string {
	if t.Expr == nil {
		return ""
	}
	return types.ExprString(t.Expr)
}

// Names returns the unqualified names in the type that are not names of fields, methods and parameters.
func (t Type) Names() []string {
	var all []string
	EachName(t.Expr, func(name *ast.Ident) { all = append(all, name.Name) })
	return all
}

// EachName calls visit for every unqualified name below node, except the names of fields and methods.
func EachName(node ast.Node, visit func(*ast.Ident)) {
	ast.Inspect(node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			EachName(n.Type, visit)
			return false
		case *ast.SelectorExpr:
			return false
		case *ast.Ident:
			visit(n)
		}
		return true
	})
}

// A Point is one method of the points interface.
type Point struct {
	Name    string
	Doc     string // the comment above the method, without directives
	Pos     token.Pos
	Groups  []*Group // the groups that hold it, outermost first; the points of a group are neighbours in Points
	Param   string   // the name of the parameter, "" if it has none or one that would hide a name of the package
	Payload Type
	Results []ast.Expr // the result list as written
	Law[Type]

	Local   bool // it carries //hookgen:local: its payloads must not leave the process
	Ignores []Ignore
}

// An Ignore is a //hookgen:ignore line. It silences one rule of hookgen breaking for a point or for the whole spec.
type Ignore struct {
	Rule   string
	Reason string
	Pos    token.Pos
}

// An Exit is a struct type that a hook can return to end a fire.
type Exit struct {
	Name   string
	Doc    string
	Pos    token.Pos
	Fields []Field
}

// A Field is one field of a struct or one type parameter, as written.
type Field struct {
	Name     string
	Embedded bool // the source has the type only, and the field is named after it
	Type     Type
	Tag      string // with its quotes, "" if none
	Doc      string // the comment above it or after it
}

// An Export is an exported type or constant of the spec package that is not an exit.
type Export struct {
	Name   string
	Doc    string
	Pos    token.Pos
	Const  bool
	Params []Field // type parameters with their constraints, for a generic type
	Parts  string  // "Its fields: To string; Text string." for a struct, the methods for an interface; else ""

	Group    token.Pos // of a constant: the declaration that it is part of, perhaps with others in parentheses
	GroupDoc string    // the comment on that declaration, if it has parentheses
}

// An Output is the destination of the generated code: its package, and whether that is the spec's own package.
type Output struct {
	Package  string // the name of the generated package
	SpecPath string // the import path of the spec's package; "" to generate into that package itself
	Source   string // what the header names the spec; "" to leave it out
}

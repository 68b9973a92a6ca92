// Package summary turns a spec into plain data for documentation and exports: points, laws, outcomes, and the
// types that hooks meet. It imports package gen only.
//
// Start with [Of].
package summary

import (
	"go/ast"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/hookgen/hookgen/gen"
	"github.com/hookgen/hookgen/gen/model"
)

// A Spec holds the facts of a spec. Its JSON form is the model that hookgen export prints.
type Spec struct {
	Package string    `json:"package"`
	Path    string    `json:"path,omitempty"`      // the import path of the spec's package, "" outside of a module
	Doc     string    `json:"doc,omitempty"`       // the package comment
	About   string    `json:"pointsDoc,omitempty"` // the comment on the points interface
	Env     Type      `json:"env,omitzero"`
	Extends []*Parent `json:"extends,omitempty"`
	Groups  []*Group  `json:"groups,omitempty"` // in the order of their first points
	Points  []*Point  `json:"points"`
	Exits   []*Exit   `json:"exits,omitempty"`

	// Interface is the name of the points interface.
	Interface string `json:"-"`
	// Types are the types of the package that payloads, exits and Env mention, in the order in which a reader meets
	// them. Exits are not among them.
	Types []*TypeDecl `json:"-"`
	// Imports are those of the spec file.
	Imports []gen.Import `json:"-"`
}

// A Position is a place in a file of the spec's package.
type Position struct {
	File string `json:"file"` // its base name, so that outputs are equal on every machine
	Line int    `json:"line"`
	Col  int    `json:"col"`
}

// A Parent is another generated package whose points this spec takes over.
type Parent struct {
	Name     string   `json:"name"` // of the package
	Path     string   `json:"path"` // its import path
	Position Position `json:"position"`
	Before   int      `json:"-"` // the number of points that precede it
	In       []string `json:"-"` // the groups that embed it, outermost first
}

// A Group is an embedded interface that groups points.
type Group struct {
	Name     string   `json:"name"`
	Doc      string   `json:"doc,omitempty"`
	Position Position `json:"position"`
}

// A Type is a type as the spec writes it. In JSON it is its Text. The zero value has no text.
type Type struct {
	Text  string   // on one line, for readers
	Names []string // the unqualified names in it that are not names of fields
}

// String returns the text.
func (t Type) String() string { return t.Text }

// IsZero reports whether t is the zero value.
func (t Type) IsZero() bool { return t.Text == "" }

// MarshalText returns the text.
func (t Type) MarshalText() ([]byte, error) { return []byte(t.Text), nil }

// A Point is one fire point.
type Point struct {
	Name       string   `json:"name"`
	Doc        string   `json:"doc,omitempty"`
	Deprecated string   `json:"deprecated,omitempty"` // the paragraph that begins with "Deprecated:"
	Position   Position `json:"position"`
	Groups     []string `json:"groups,omitempty"` // outermost first
	Payload    Type     `json:"payload"`
	Param      string   `json:"param,omitempty"` // the name of the parameter
	Wire       bool     `json:"wire,omitempty"`  // hooks of other processes can answer the point
	Local      bool     `json:"local,omitempty"` // the point must not leave the process
	gen.Law[Type]
}

// An Exit is a struct type that a hook can return to end a fire.
type Exit struct {
	Name       string   `json:"name"`
	Doc        string   `json:"doc,omitempty"`
	Deprecated string   `json:"deprecated,omitempty"`
	Position   Position `json:"position"`
	Points     []string `json:"points"` // where it is legal
	Fields     []Field  `json:"fields"`
}

// A Field is a field of a struct.
type Field struct {
	Name     string `json:"name"`
	Type     Type   `json:"type"`
	Tag      string `json:"tag,omitempty"` // without quotes
	Embedded bool   `json:"embedded,omitempty"`
	Doc      string `json:"doc,omitempty"`
}

// A TypeDecl is a type that the package declares.
type TypeDecl struct {
	Name     string
	Doc      string
	Position Position
	Params   []Field
	Alias    bool
	Struct   bool
	Type     Type
	Fields   []Field // of a struct: the exported and the embedded ones
	Encodes  bool    // it has a method MarshalJSON or MarshalText
}

// Of returns the facts of a spec. path is the import path of its package, or "".
func Of(s *gen.Spec, path string) *Spec {
	c := &converter{spec: s, points: map[string][]string{}}
	out := &Spec{
		Package: s.Package, Path: path, Doc: s.Doc, About: s.PointsDoc, Env: typ(s.Env), Points: []*Point{},
		Imports: s.Imports, Interface: s.Interface.Name.Name,
	}
	for _, p := range s.Parents {
		out.Extends = append(out.Extends, &Parent{
			Name: p.Import.Name, Path: p.Import.Path, Position: c.position(p.Pos), Before: p.Before, In: names(p.Groups),
		})
	}
	groups := map[*gen.Group]bool{}
	for _, p := range s.Points {
		for _, g := range p.Groups {
			if !groups[g] {
				groups[g] = true
				out.Groups = append(out.Groups, &Group{Name: g.Name, Doc: g.Doc, Position: c.position(g.Pos)})
			}
		}
		out.Points = append(out.Points, c.point(p))
	}
	for _, x := range s.Exits {
		out.Exits = append(out.Exits, &Exit{
			Name: x.Name, Doc: x.Doc, Deprecated: model.Deprecation(x.Doc), Position: c.position(x.Pos),
			Points: c.points[x.Name], Fields: c.fields(x.Fields),
		})
	}
	out.Types = c.reachable(out)
	return out
}

// A converter converts the parts of one spec.
type converter struct {
	spec   *gen.Spec
	points map[string][]string // where an exit is legal
}

func (c *converter) position(pos token.Pos) Position {
	p := c.spec.Fset.PositionFor(pos, false)
	return Position{filepath.Base(p.Filename), p.Line, p.Column}
}

func typ(t gen.Type) Type {
	if t.IsZero() {
		return Type{}
	}
	return Type{Text: t.String(), Names: t.Names()}
}

func (c *converter) point(p *gen.Point) *Point {
	out := &Point{
		Name: p.Name, Doc: p.Doc, Deprecated: model.Deprecation(p.Doc), Position: c.position(p.Pos), Groups: names(p.Groups),
		Payload: typ(p.Payload), Param: p.Param, Wire: c.spec.Wired(p), Local: p.Local,
		Law: model.LawWith(p.Law, typ),
	}
	for _, x := range p.Exits {
		c.points[x] = append(c.points[x], p.Name)
	}
	return out
}

func names(groups []*gen.Group) []string {
	var all []string
	for _, g := range groups {
		all = append(all, g.Name)
	}
	return all
}

// fields returns the fields that code of other packages can reach: exported and embedded ones.
func (c *converter) fields(list []gen.Field) []Field {
	fields := []Field{}
	for _, f := range list {
		if !f.Embedded && !token.IsExported(f.Name) {
			continue
		}
		fields = append(fields, Field{
			Name: f.Name, Type: typ(f.Type), Tag: tag(f.Tag), Embedded: f.Embedded, Doc: f.Doc,
		})
	}
	return fields
}

// reachable returns the declared types that the parts of the spec mention, directly or through fields.
func (c *converter) reachable(s *Spec) []*TypeDecl {
	var found []*TypeDecl
	met := map[string]bool{}
	for _, x := range s.Exits {
		met[x.Name] = true
	}
	// follow adds the types that t mentions. Type parameters are names of the declaration that t is a part of.
	var follow func(t Type, params []Field)
	follow = func(t Type, params []Field) {
		for _, name := range t.Names {
			if met[name] || slices.ContainsFunc(params, func(p Field) bool { return p.Name == name }) {
				continue
			}
			d := c.spec.TypeDecl(name)
			if d == nil {
				continue
			}
			met[name] = true
			decl := c.decl(d)
			found = append(found, decl)
			if !decl.Struct {
				follow(decl.Type, decl.Params)
			}
			for _, f := range decl.Fields {
				follow(f.Type, decl.Params)
			}
		}
	}
	for _, p := range s.Points {
		for _, t := range []Type{p.Payload, p.Edit, p.Collect, p.Around} {
			follow(t, nil)
		}
	}
	for _, x := range s.Exits {
		for _, f := range x.Fields {
			follow(f.Type, nil)
		}
	}
	follow(s.Env, nil)
	return found
}

func (c *converter) decl(d *gen.TypeDecl) *TypeDecl {
	decl := &TypeDecl{
		Name: d.Name, Doc: d.Doc, Position: c.position(d.Pos), Alias: d.Alias, Type: typ(d.Type),
		Fields: c.fields(d.Fields), Encodes: d.Encodes,
	}
	_, decl.Struct = ast.Unparen(d.Type.Expr).(*ast.StructType)
	for _, p := range d.Params {
		decl.Params = append(decl.Params, Field{Name: p.Name, Type: typ(p.Type)})
	}
	return decl
}

// tag returns a struct tag without its quotes.
func tag(literal string) string {
	value, err := strconv.Unquote(literal)
	if err != nil {
		return "" // there is none
	}
	return value
}

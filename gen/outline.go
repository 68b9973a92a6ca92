package gen

import (
	"go/ast"
	"go/token"
	"path"
	"slices"

	"github.com/hookgen/hookgen/gen/model"
)

// specInfo holds one spec while it is checked: the model, and facts that only the rules need, such as the position of
// each directive. The model may be incomplete, because building it neither reports mistakes nor stops at them.
type specInfo struct {
	*Spec

	// The files of the package; see classify.
	file   *file   // the spec file
	others []*file // the other files that belong to every build
	broken []*file // files that do not parse and may be of the package

	// The declarations of the package; see scopeOfFiles.
	scope   map[string]*declaration
	methods []*declaration // of every type of the package

	// The imports of the spec file; see resolveQualifiers.
	imports     []*importLine
	candidates  map[string][]*importLine // the imports that can have a qualifier
	qualifiers  map[string]*importLine   // every qualifier in the types of the spec file; nil where it is not certain
	uses        []qualifierUse           // the first use of each qualifier, in source order
	importNames []string                 // that the imports may have
	unclearPath string                   // the first import path that is not a package name, or ""

	// The points interface and its groups; see readInterface.
	directives []fileDirective
	embeds     []*embedding
	members    []*member
	byName     map[string]*member // the first of each name
	owners     map[string]*member // the point that a generated name belongs to
	groups     map[string]bool    // interfaces reached from the points interface
	interfaces []string           // those of the spec file but for the points interface, sorted

	// Imports that the generic types of other files add to the model; see importQualifiers.
	unresolved       []unresolvedQualifier
	importedAs       map[string]string // import paths to the names of the model's imports; nil until one is adopted
	importNamesTaken map[string]bool   // the names of the model's imports; nil until one is adopted

	// Results that several rules need.
	editables      map[string]*editable // by the payload as written
	undefinedNames map[string]string    // the results of undefined for types
	suggestions    int                  // calls of suggest, which maxSuggestions limits
}

// A fileDirective is a directive, its file, and the declaration that it marks.
type fileDirective struct {
	directive
	file   *file
	target target // zero if it marks nothing
}

// marksType returns the type that the directive marks, or nil if it marks a method or nothing.
func (d *fileDirective) marksType() *ast.TypeSpec {
	if d.target.method != nil {
		return nil
	}
	return d.target.spec
}

// A qualifierUse is the first use of a qualifier in the spec file.
type qualifierUse struct {
	name string
	sel  *ast.SelectorExpr
}

// A member is a method of the points interface or of a group. The rules decide whether it is a valid point.
type member struct {
	*Point
	ident  *ast.Ident
	params []parameter
	law    []*element
	first  *member // the member before it that has the same name, nil if there is none

	keyLine  *directive // the //hookgen:key above it, nil without one
	keyError string     // the reason why the line does not give a key, "" if it does
}

// A parameter is one parameter of a method.
type parameter struct {
	name *ast.Ident // nil if it has none
	typ  ast.Expr
}

// Pos returns the position of the name, or of the type if the parameter has no name.
func (p *parameter) Pos() token.Pos {
	if p.name != nil {
		return p.name.Pos()
	}
	return p.typ.Pos()
}

// An embedKind classifies an embedded element of the points interface.
type embedKind int

const (
	wrongEmbed    embedKind = iota
	envEmbed                // spec.Env[E]
	groupEmbed              // an interface of the spec file
	cycleEmbed              // an interface that is being read already
	repeatedEmbed           // a group that was embedded before
	parentEmbed             // Points of another package
	markerEmbed             // another name of the spec language
)

// An embedding is one embedded element of the points interface or of a group.
type embedding struct {
	kind   embedKind
	expr   ast.Expr
	group  *declaration
	sel    *ast.SelectorExpr
	marker *markerUse
}

// outline builds the specInfo of a spec file. files are all files of the directory except tests. points may be nil.
func outline(dir string, fset *token.FileSet, f *file, files []*file, found []fileDirective,
	points *ast.TypeSpec) *specInfo {
	r := &specInfo{
		Spec: &Spec{Spec: model.Spec{
			Dir: dir, File: f.path, Package: f.tree.Name.Name, Doc: f.tree.Doc.Text(), Fset: fset, Interface: points,
		}},
		file: f, directives: found,
		imports: importLines(f.tree), groups: map[string]bool{},
		byName: map[string]*member{}, owners: map[string]*member{}, editables: map[string]*editable{},
		undefinedNames: map[string]string{},
	}
	r.classify(files)
	r.scope, r.methods = scopeOfFiles(slices.Concat([]*file{r.file}, r.others))
	r.resolveQualifiers()
	r.Imports, r.SpecPkg = modelImports(r.imports, r.qualifiers)
	if points != nil {
		for _, d := range declarations(f) {
			if d.spec == points {
				r.PointsDoc = d.doc.Text()
				r.readInterface(d, nil, map[*ast.TypeSpec]bool{})
			}
		}
	}
	r.readDirectives()
	r.assignOwners()
	r.readInterfaces()
	r.readLaws()
	r.readKeys()
	r.readExits()
	r.readExports()
	return r
}

// classify finds the files that belong to the package of the spec. Files with build constraints are left out, because a
// spec holds in every build.
func (r *specInfo) classify(files []*file) {
	for _, f := range files {
		name := f.tree.Name.Name
		if len(f.errors) > 0 && (name == r.Package || name == "" || name == "_") {
			r.broken = append(r.broken, f)
		}
		if f != r.file && name == r.Package && everyBuild(f) {
			r.others = append(r.others, f)
		}
	}
}

// resolveQualifiers finds the import for each qualifier in the types of the spec file.
func (r *specInfo) resolveQualifiers() {
	r.qualifiers = map[string]*importLine{}
	r.candidates = importsByName(r.imports)
	for _, l := range r.imports {
		r.importNames = append(r.importNames, l.names...)
		if r.unclearPath == "" && l.name == "" && !token.IsIdentifier(path.Base(l.path)) {
			r.unclearPath = l.path
		}
	}
	for _, decl := range r.file.tree.Decls {
		group, ok := decl.(*ast.GenDecl)
		if !ok || group.Tok != token.TYPE {
			continue
		}
		for _, spec := range group.Specs {
			qualified(spec, func(x *ast.Ident, sel *ast.SelectorExpr) {
				if _, met := r.qualifiers[x.Name]; met || r.scope[x.Name] != nil && r.scope[x.Name].kind != token.TYPE {
					return // a variable, whose fields the length of an array may count
				}
				r.qualifiers[x.Name] = nil
				if lines := r.candidates[x.Name]; len(lines) == 1 {
					r.qualifiers[x.Name] = lines[0]
				}
				r.uses = append(r.uses, qualifierUse{x.Name, sel})
			})
		}
	}
}

// readInterface reads the points interface or a group, and the groups that it embeds, in source order. groups are the
// groups that are being read, and open holds their interfaces too, to detect a cycle.
func (r *specInfo) readInterface(d *declaration, groups []*Group, open map[*ast.TypeSpec]bool) {
	body := ast.Unparen(d.spec.Type).(*ast.InterfaceType)
	r.groups[d.name] = true
	open[d.spec] = true
	for _, field := range body.Methods.List {
		if signature, ok := field.Type.(*ast.FuncType); ok && len(field.Names) == 1 {
			r.addMember(field, field.Names[0], signature, groups)
			continue
		}
		e := r.embedding(field.Type, open)
		r.embeds = append(r.embeds, e)
		switch e.kind {
		case envEmbed:
			if r.Env.IsZero() && len(e.marker.args) == 1 {
				r.Env = typeOf(e.marker.args[0])
			}
		case parentEmbed:
			line := r.qualifiers[e.sel.X.(*ast.Ident).Name]
			if line != nil {
				r.Parents = append(r.Parents, Parent{Pos: e.expr.Pos(), Before: len(r.Points), Groups: groups,
					Import: Import{Name: e.sel.X.(*ast.Ident).Name, Path: line.path, Pos: line.pos}})
			}
		case groupEmbed:
			group := &Group{Name: e.group.name, Doc: e.group.doc.Text(), Pos: e.group.pos}
			r.readInterface(e.group, append(slices.Clone(groups), group), open)
		}
	}
	delete(open, d.spec)
}

// readInterfaces collects the names of the other interfaces of the spec file.
func (r *specInfo) readInterfaces() {
	for name, d := range r.scope {
		if d.file != r.file || d.spec == nil || d.spec == r.Interface {
			continue
		}
		if _, ok := ast.Unparen(d.spec.Type).(*ast.InterfaceType); ok {
			r.interfaces = append(r.interfaces, name)
		}
	}
	slices.Sort(r.interfaces)
}

// embedding classifies an embedded element.
func (r *specInfo) embedding(expr ast.Expr, open map[*ast.TypeSpec]bool) *embedding {
	e := &embedding{expr: expr}
	if m := r.markerUse(expr); m != nil {
		e.marker, e.kind = m, markerEmbed
		if m.Place == model.Embedded {
			e.kind = envEmbed
		}
		return e
	}
	switch x := ast.Unparen(expr).(type) {
	case *ast.SelectorExpr:
		if _, ok := x.X.(*ast.Ident); ok && x.Sel.Name == "Points" {
			e.kind, e.sel = parentEmbed, x
		}
	case *ast.Ident:
		d := r.scope[x.Name]
		if d == nil || d.file != r.file || d.spec == nil || d.generic() {
			break
		}
		if _, ok := ast.Unparen(d.spec.Type).(*ast.InterfaceType); !ok {
			break
		}
		e.group = d
		switch {
		case open[d.spec]:
			e.kind = cycleEmbed
		case r.groups[d.name]:
			e.kind = repeatedEmbed
		default:
			e.kind = groupEmbed
		}
	}
	return e
}

// addMember adds a method of the interface to the members, and to the points unless its name is a duplicate.
func (r *specInfo) addMember(field *ast.Field, name *ast.Ident, signature *ast.FuncType, groups []*Group) {
	m := &member{ident: name, Point: &Point{Name: name.Name, Doc: field.Doc.Text(), Pos: name.Pos(), Groups: groups}}
	m.params = flatten(signature.Params)
	for _, p := range flatten(signature.Results) {
		m.Results = append(m.Results, p.typ)
	}
	r.members = append(r.members, m)
	if m.first = r.byName[m.Name]; m.first == nil {
		r.byName[m.Name] = m
		r.Points = append(r.Points, m.Point)
	}
}

// flatten returns one parameter for each name, so that a, b T becomes two parameters.
func flatten(list *ast.FieldList) []parameter {
	if list == nil {
		return nil
	}
	var all []parameter
	for _, field := range list.List {
		for _, name := range field.Names {
			all = append(all, parameter{name: name, typ: field.Type})
		}
		if len(field.Names) == 0 {
			all = append(all, parameter{typ: field.Type})
		}
	}
	return all
}

// typeOf returns the model's Type for an expression.
func typeOf(expr ast.Expr) Type { return Type{Expr: expr, Pos: expr.Pos()} }

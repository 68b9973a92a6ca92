package gen

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
)

// A File is a Go file that was read already, for example from an old commit.
type File struct {
	Path string // for positions
	Text []byte
}

// Files reads the Go files of a directory that can contain a spec or its types: no tests, and nothing that hookgen
// generated.
func Files(dir string) ([]File, Diagnostics) {
	sources, failures := load(dir, isSource)
	if large := tooLarge(sources); large != nil {
		return nil, large
	}
	var files []File
	for _, s := range sources {
		files = append(files, File{s.path, s.text})
	}
	return files, failures
}

// Outline reads a spec from the files of a directory, without the rules of the language: an older hookgen may have had
// other rules. Files that hookgen generated are skipped. A spec that does not parse is a diagnostic.
func Outline(dir string, files []File) (*Spec, Diagnostics) {
	var sources []source
	for _, f := range files {
		if !Generated(f.Text) {
			sources = append(sources, source{fileName(f.Path), f.Path, f.Text, int64(len(f.Text))})
		}
	}
	r, found := outlineOf(dir, sources)
	if len(found) == 0 && r.Interface == nil {
		found = runRules(r, directiveRules())
	}
	if len(found) > 0 {
		return nil, found.sorted()
	}
	r.fillEdits()
	r.Spec.info = r
	return r.Spec, nil
}

// fileName returns the name of a file without its directory. The file can be in a revision of git, as in v1:spec.go.
func fileName(file string) string { return file[strings.LastIndexAny(file, "/\\:")+1:] }

// Surface returns the surface of a spec. module is the path of its module, or "" if it is in none; files returns the
// files of another package of the module, or nil if they are unknown. A file that does not parse is a diagnostic,
// because it may hide types.
func (s *Spec) Surface(module string, files func(importPath string) []File) (*Surface, Diagnostics) {
	r := &surfaceReader{specInfo: s.info, module: module, files: files, packages: map[string]*surfacePackage{},
		types: map[string]*SurfaceType{}, unread: map[string]bool{}}
	r.own = &surfacePackage{namespace: namespace{scope: map[string]*declaration{}}, methods: s.info.methods}
	for _, scope := range []map[string]*declaration{s.info.limitedScope, s.info.scope} {
		for name, d := range scope {
			r.own.scope[name] = d
		}
	}
	r.own.path = r.importPaths(s.info.file, s.info.qualifiers)
	r.own.files = slices.Concat([]*file{s.info.file}, s.info.others, s.info.limited)
	r.own.constants = evaluate(r.Fset, r.own.files)
	for _, f := range s.info.broken {
		r.reportSyntax(f)
	}
	surface := r.surface()
	if len(r.found) > 0 {
		return nil, r.found.sorted()
	}
	return surface, nil
}

// reportSyntax reports the syntax errors of a file.
func (r *surfaceReader) reportSyntax(f *file) {
	for _, e := range f.errors {
		r.found = append(r.found, Diagnostic{Pos: e.Pos, Message: syntaxMessage(f, e), Rule: ruleSyntax})
	}
}

// A surfaceReader reads the surface of one spec.
type surfaceReader struct {
	*specInfo
	module   string
	files    func(importPath string) []File
	own      *surfacePackage
	packages map[string]*surfacePackage // by import path; nil if the files are unknown
	types    map[string]*SurfaceType
	unread   map[string]bool
	found    Diagnostics
}

// A surfacePackage is a package whose declarations are followed.
type surfacePackage struct {
	namespace
	files     []*file
	methods   []*declaration
	constants *types.Info
	repeated  map[string][]*declaration // by name; nil until others is called
}

// others returns the other declarations of a type. Files for several systems can declare a type several times.
func (p *surfacePackage) others(d *declaration) []*declaration {
	if p.repeated == nil {
		p.repeated = map[string][]*declaration{}
		for _, f := range p.files {
			for _, d := range declarations(f) {
				if d.spec != nil {
					p.repeated[d.name] = append(p.repeated[d.name], d)
				}
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(p.repeated[d.name]), func(other *declaration) bool { return other.pos == d.pos })
}

// surface reads the points, and follows the types from there.
func (r *surfaceReader) surface() *Surface {
	s := &Surface{Package: r.Package, Interface: r.Interface.Name.Name, Doc: r.PointsDoc,
		Pos: r.position(r.Interface.Name.Pos()), Wire: r.Wire, Types: r.types, Ignores: r.ignores(r.Ignores)}
	spec := scopeOf{in: r.own, file: r.file}
	s.Env = r.written(spec, r.Env.Expr)
	for _, p := range r.Parents {
		s.Parents = append(s.Parents, SurfaceParent{r.relative(p.Import.Path), r.position(p.Pos)})
	}
	exits := map[string]bool{}
	for _, p := range r.Points {
		point := &SurfacePoint{
			Name: p.Name, Doc: p.Doc, Deprecated: Deprecation(p.Doc) != "", Pos: r.position(p.Pos),
			Payload: r.written(spec, p.Payload.Expr), Kind: p.Kind, Replace: p.Replace, Edit: r.written(spec, p.Edit.Expr),
			EditField: p.EditField, Collect: r.written(spec, p.Collect.Expr), Around: r.written(spec, p.Around.Expr),
			Reverse: p.Reverse, Policy: p.Policy, Local: p.Local, Ignores: r.ignores(p.Ignores),
		}
		var law []string
		for _, result := range p.Results {
			law = append(law, r.text(result))
		}
		point.Law = strings.Join(law, ", ")
		for _, exit := range p.Exits {
			exits[exit.Name] = true
			point.Exits = append(point.Exits, exit.Name)
			r.declareType(r.own, exit.Name)
		}
		s.Points = append(s.Points, point)
	}
	for name, d := range r.own.scope {
		if d.kind == token.TYPE && ast.IsExported(name) && d.spec != r.Interface && !r.groups[name] {
			r.declareType(r.own, name)
		}
	}
	for name, t := range r.types {
		t.Exit = exits[name]
	}
	s.Consts = r.readConstants()
	s.Unread = slices.Sorted(maps.Keys(r.unread))
	s.Packages = map[string]string{}
	for importPath, p := range r.packages {
		if p != nil {
			s.Packages[importPath] = p.files[0].tree.Name.Name
		}
	}
	return s
}

// position returns a position without its offset, which the text before it changes.
func (r *surfaceReader) position(pos token.Pos) token.Position {
	p := r.Fset.PositionFor(pos, false)
	p.Offset = 0
	return p
}

func (r *surfaceReader) ignores(list []Ignore) []SurfaceIgnore {
	var all []SurfaceIgnore
	for _, i := range list {
		all = append(all, SurfaceIgnore{i.Rule, r.position(i.Pos)})
	}
	return all
}

// A scopeOf is the place where a type is written: its package, its file, and the type parameters there.
type scopeOf struct {
	in         *surfacePackage
	file       *file
	parameters map[string]string
	arguments  map[string]typeArgument // of the generic type that it is in
}

// A typeArgument is a type argument, with the place where it is written, and the declarations around it.
type typeArgument struct {
	at   scopeOf
	typ  ast.Expr
	open map[*declaration]bool
}

// written reads a type expression, and follows the types that it names. A nil expression is the zero Written.
func (r *surfaceReader) written(at scopeOf, expr ast.Expr) Written {
	w := r.spelled(at, expr)
	if !w.Given() {
		return w
	}
	names := map[string]bool{}
	r.follow(at, expr, func(name string) {
		if !names[name] {
			names[name] = true
			w.Types = append(w.Types, name)
		}
	})
	return w
}

// spelled reads a type expression without the types that it names. A nil expression is the zero Written.
func (r *surfaceReader) spelled(at scopeOf, expr ast.Expr) Written {
	if expr == nil {
		return Written{}
	}
	w := Written{Text: at.file.shortLine(expr), Pos: r.position(expr.Pos())}
	for _, expand := range []bool{false, true} {
		writer := typeWriter{in: &at.in.namespace, file: at.file, parameters: at.parameters,
			open: map[*declaration]bool{}, expands: func(*declaration) bool { return expand }, length: at.in.length}
		writer.write(expr)
		if expand {
			w.Meaning = writer.String()
		} else {
			w.Name = writer.String()
		}
	}
	return w
}

// follow declares the types of the module that an expression names, and calls visit for each.
func (r *surfaceReader) follow(at scopeOf, expr ast.Node, visit func(name string)) {
	typeNames(expr, func(id *ast.Ident) {
		if at.parameters[id.Name] == "" {
			if name := r.declareType(at.in, id.Name); name != "" {
				visit(name)
			} else if types.Universe.Lookup(id.Name) == nil {
				r.unread[at.in.prefix+id.Name] = true
			}
		}
	})
	qualified(expr, func(x *ast.Ident, sel *ast.SelectorExpr) {
		importPath := at.in.path(at.file, x.Name)
		if in := r.packageOf(importPath); in != nil {
			if name := r.declareType(in, sel.Sel.Name); name != "" {
				visit(name)
			}
		} else if strings.HasPrefix(importPath, ".") {
			r.unread[importPath+"."+sel.Sel.Name] = true
		}
	})
}

// packageOf returns the package of the module with an import path as in canonical types, or nil if it is unknown.
func (r *surfaceReader) packageOf(importPath string) *surfacePackage {
	if importPath != "." && !strings.HasPrefix(importPath, "./") || r.files == nil {
		return nil
	}
	if p, met := r.packages[importPath]; met {
		return p
	}
	r.packages[importPath] = nil
	var sources []source
	for _, f := range r.files(path.Join(r.module, importPath)) {
		if name := fileName(f.Path); isSource(name) {
			sources = append(sources, source{name, f.Path, f.Text, int64(len(f.Text))})
		}
	}
	p := &surfacePackage{namespace: namespace{prefix: importPath + ".", scope: map[string]*declaration{}}}
	p.path = r.importPaths(nil, nil)
	for _, f := range parseAll(r.Fset, sources) {
		if ignored(f.tree) {
			continue
		}
		r.reportSyntax(f)
		p.files = append(p.files, f)
		for _, d := range declarations(f) {
			switch {
			case d.owner != "":
				p.methods = append(p.methods, d)
			case p.scope[d.name] == nil:
				p.scope[d.name] = d
			}
		}
	}
	if len(p.scope) > 0 {
		p.constants = evaluate(r.Fset, p.files)
		r.packages[importPath] = p
	}
	return r.packages[importPath]
}

// importPaths returns a function that finds the import path for a qualifier of a file. Packages of the module get a
// path relative to it, which begins with a dot. known are the qualifiers of one file that are certain.
func (r *surfaceReader) importPaths(of *file, known map[string]*importLine) func(*file, string) string {
	candidates := map[*file]map[string][]*importLine{}
	return func(f *file, qualifier string) string {
		if candidates[f] == nil {
			candidates[f] = importsByName(importLines(f.tree))
		}
		found := ""
		if lines := candidates[f][qualifier]; len(lines) > 0 {
			found = lines[0].path
		}
		if line := known[qualifier]; f == of && line != nil {
			found = line.path
		}
		return r.relative(found)
	}
}

// relative returns an import path of the module relative to it, with a dot at the beginning, and others as they are.
func (r *surfaceReader) relative(importPath string) string {
	if down, ok := strings.CutPrefix(importPath+"/", r.module+"/"); ok && r.module != "" {
		return strings.TrimSuffix("./"+down, "/")
	}
	return importPath
}

// declareType adds a type and the types that it mentions to the surface, and returns its name. It returns "" if the
// package declares no such type.
func (r *surfaceReader) declareType(in *surfacePackage, name string) string {
	d := in.scope[name]
	if d == nil || d.spec == nil {
		return ""
	}
	full := in.prefix + name
	if r.types[full] != nil {
		return full
	}
	t := r.declare(in, full, d)
	t.Exported = ast.IsExported(name)
	for _, other := range in.others(d) {
		variant := full + " (" + other.file.name + ")"
		r.declare(in, variant, other)
		t.Types = append(t.Types, variant)
	}
	return full
}

// declare adds a type to the surface under a name.
func (r *surfaceReader) declare(in *surfacePackage, full string, d *declaration) *SurfaceType {
	t := &SurfaceType{Name: full, Doc: d.doc.Text(), Deprecated: Deprecation(d.doc.Text()) != "", Pos: r.position(d.pos),
		Alias: d.spec.Assign.IsValid()}
	r.types[full] = t
	at := scopeOf{in: in, file: d.file, parameters: map[string]string{}}
	list := flatten(d.spec.TypeParams)
	for i, p := range list {
		if p.name != nil {
			at.parameters[p.name.Name] = "$" + strconv.Itoa(i)
		}
	}
	for _, p := range list {
		t.Params += r.mention(t, at, p.typ).Name + ";"
	}
	switch body := ast.Unparen(d.spec.Type).(type) {
	case *ast.StructType:
		t.Struct = true
		t.Fields = r.fields(t, at, body)
	case *ast.InterfaceType:
		t.Interface = true
		r.readMethods(t, at, body)
	default:
		t.Underlying = r.mention(t, at, body)
	}
	for _, here := range []bool{true, false} { // a file for one system has the methods of its type
		for _, m := range in.methods {
			if m.owner == d.name && (m.file == d.file) == here {
				r.addMethod(t, at, m)
			}
		}
	}
	slices.SortFunc(t.Methods, func(a, b SurfaceMethod) int { return cmp.Compare(a.Name, b.Name) })
	t.Incomparable = r.incomparable(at, d.spec.Type, map[*declaration]bool{d: true})
	return t
}

// mention reads a type expression in the declaration of t.
func (r *surfaceReader) mention(t *SurfaceType, at scopeOf, expr ast.Expr) Written {
	w := r.written(at, expr)
	for _, name := range w.Types {
		if !slices.Contains(t.Types, name) {
			t.Types = append(t.Types, name)
		}
	}
	return w
}

// fields reads the fields of a struct.
func (r *surfaceReader) fields(t *SurfaceType, at scopeOf, body *ast.StructType) []SurfaceField {
	var all []SurfaceField
	for _, f := range body.Fields.List {
		field := SurfaceField{Type: r.spelled(at, f.Type), Doc: firstOf(f.Doc, f.Comment).Text()}
		// Hooks cannot reach the type of a hidden field.
		if slices.ContainsFunc(f.Names, (*ast.Ident).IsExported) || len(f.Names) == 0 {
			field.Type = r.mention(t, at, f.Type)
		}
		field.Deprecated = Deprecation(field.Doc) != ""
		if f.Tag != nil {
			field.Tag = f.Tag.Value
			if tag, err := strconv.Unquote(f.Tag.Value); err == nil {
				field.Tag = tag
			}
		}
		for _, name := range f.Names {
			field.Name, field.Pos, field.Exported = name.Name, r.position(name.Pos()), name.IsExported()
			all = append(all, field)
		}
		if len(f.Names) == 0 {
			field.Name, field.Pos, field.Embedded = embeddedName(f.Type), r.position(f.Type.Pos()), true
			field.Exported = ast.IsExported(field.Name)
			all = append(all, field)
		}
	}
	return all
}

// readMethods reads the methods and the embedded elements of an interface.
func (r *surfaceReader) readMethods(t *SurfaceType, at scopeOf, body *ast.InterfaceType) {
	for _, f := range body.Methods.List {
		if len(f.Names) == 0 {
			t.Embeds = append(t.Embeds, r.mention(t, at, f.Type))
			continue
		}
		for _, name := range f.Names {
			doc := firstOf(f.Doc, f.Comment).Text()
			t.Methods = append(t.Methods, SurfaceMethod{Name: name.Name, Pos: r.position(name.Pos()),
				Signature: r.mention(t, at, f.Type), Exported: name.IsExported(), Doc: doc, Deprecated: Deprecation(doc) != ""})
		}
	}
}

// addMethod adds a declared method to its type.
func (r *surfaceReader) addMethod(t *SurfaceType, at scopeOf, m *declaration) {
	same := func(other SurfaceMethod) bool { return other.Name == m.name }
	if !ast.IsExported(m.name) || slices.ContainsFunc(t.Methods, same) {
		return
	}
	method := SurfaceMethod{Name: m.name, Pos: r.position(m.pos), Exported: true}
	for _, decl := range m.file.tree.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok || f.Name.Pos() != m.pos {
			continue
		}
		method.Doc = f.Doc.Text()
		method.Deprecated = Deprecation(method.Doc) != ""
		receiver := ast.Unparen(f.Recv.List[0].Type)
		if star, pointer := receiver.(*ast.StarExpr); pointer {
			method.Pointer, receiver = true, star.X
		}
		of := scopeOf{in: at.in, file: m.file, parameters: map[string]string{}}
		_, parameters := instance(receiver)
		for i, p := range parameters {
			if name, ok := p.(*ast.Ident); ok {
				of.parameters[name.Name] = "$" + strconv.Itoa(i)
			}
		}
		method.Signature = r.mention(t, of, f.Type)
	}
	t.Methods = append(t.Methods, method)
}

package gen

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/gen/model"
)

// A File is a Go file that was read already, for example from an old commit.
type File struct {
	Path string // for positions
	Text []byte
}

// Files reads the Go files of a directory that can contain a spec or its types: no tests, and nothing that hookgen
// generated.
func Files(dir string) ([]File, Diagnostics) {
	sources, failures := load(dir)
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
	r, found := outlineOf(dir, sourcesOf(files))
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

// sourcesOf returns the files that hookgen did not generate.
func sourcesOf(files []File) []source {
	var sources []source
	for _, f := range files {
		if !Generated(f.Text) {
			sources = append(sources, source{fileName(f.Path), f.Path, f.Text, int64(len(f.Text))})
		}
	}
	return sources
}

// fileName returns the name of a file without its directory. The file can be in a revision of git, as in v1:spec.go.
func fileName(file string) string { return file[strings.LastIndexAny(file, "/\\:")+1:] }

// Surface returns the surface of a spec. module is the path of its module, or "" if it is in none; files returns the
// files of another package, or nil if they are unknown or of no interest. Types of such a package are names only. A
// file that does not parse is a diagnostic, because it may hide types.
func (s *Spec) Surface(module string, files func(importPath string) []File) (*Surface, Diagnostics) {
	r := &surfaceReader{specInfo: s.info, module: module, files: files, packages: map[string]*surfacePackage{},
		types: map[string]*SurfaceType{}, unread: map[string]bool{}}
	r.own = &surfacePackage{namespace: namespace{scope: s.info.scope, path: r.importPaths()}, methods: s.info.methods}
	r.own.files = slices.Concat([]*file{s.info.file}, s.info.others)
	r.own.constants = evaluate(r.Fset, r.own.files)
	for _, f := range s.info.broken {
		r.found = append(r.found, f.syntaxErrors()...)
	}
	surface := r.surface()
	if len(r.found) > 0 {
		return nil, r.found.sorted()
	}
	return surface, nil
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
}

// surface reads the points, and follows the types from there.
func (r *surfaceReader) surface() *Surface {
	s := &Surface{Package: r.Package, Interface: r.Interface.Name.Name,
		Pos: r.position(r.Interface.Name.Pos()), Wire: r.Wire, Types: r.types, Ignores: r.ignores(r.Ignores)}
	spec := scopeOf{in: r.own, file: r.file}
	s.Env = r.written(spec, r.Env.Expr)
	for _, p := range r.Parents {
		parent := SurfaceParent{Path: r.relative(p.Import.Path), Pos: r.position(p.Pos)}
		parent.Env, parent.Read = r.envOf(parent.Path, map[string]bool{})
		s.Parents = append(s.Parents, parent)
	}
	exits := map[string]bool{}
	for _, p := range r.Points {
		point := &SurfacePoint{
			SurfaceDecl: r.decl(p.Name, p.Doc, p.Pos),
			Payload:     r.written(spec, p.Payload.Expr), Local: p.Local, Ignores: r.ignores(p.Ignores),
			Law: model.LawWith(p.Law, func(t Type) Written { return r.written(spec, t.Expr) }),
		}
		for _, exit := range p.Exits {
			exits[exit] = true
			r.declareType(r.own, exit)
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

func (r *surfaceReader) decl(name, doc string, pos token.Pos) SurfaceDecl {
	return SurfaceDecl{name, model.Deprecation(doc) != "", r.position(pos)}
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

// packageOf returns the package with an import path as in canonical types, or nil if it is unknown.
func (r *surfaceReader) packageOf(importPath string) *surfacePackage {
	if r.files == nil {
		return nil
	}
	full := importPath
	if importPath == "." || strings.HasPrefix(importPath, "./") {
		full = path.Join(r.module, importPath)
	}
	if p, met := r.packages[importPath]; met {
		return p
	}
	r.packages[importPath] = nil
	var sources []source
	for _, f := range r.files(full) {
		if name := fileName(f.Path); isSource(name) {
			sources = append(sources, source{name, f.Path, f.Text, int64(len(f.Text))})
		}
	}
	p := &surfacePackage{namespace: namespace{prefix: importPath + ".", path: r.importPaths()}}
	for _, f := range parseAll(r.Fset, sources) {
		if everyBuild(f) {
			r.found = append(r.found, f.syntaxErrors()...)
			p.files = append(p.files, f)
		}
	}
	if p.scope, p.methods = scopeOfFiles(p.files); len(p.scope) > 0 {
		p.constants = evaluate(r.Fset, p.files)
		r.packages[importPath] = p
	}
	return r.packages[importPath]
}

// importPaths returns a function that finds the import path for a qualifier of a file. Packages of the module get a
// path relative to it, which begins with a dot.
func (r *surfaceReader) importPaths() func(*file, string) string {
	imports := fileImports{}
	return func(f *file, qualifier string) string {
		if lines := imports.of(f, qualifier); len(lines) > 0 {
			return r.relative(lines[0].path)
		}
		return r.relative("")
	}
}

// relative returns an import path of the module relative to it, with a dot at the beginning, and others as they are.
func (r *surfaceReader) relative(importPath string) string {
	if down, ok := strings.CutPrefix(importPath+"/", r.module+"/"); ok && r.module != "" {
		return strings.TrimSuffix("./"+down, "/")
	}
	return importPath
}

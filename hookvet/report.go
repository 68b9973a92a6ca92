package hookvet

import (
	_ "embed"
	"fmt"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// page is the documentation of the checks. Each has a heading of its name there.
const page = "https://github.com/hookgen/hookgen/blob/main/docs/hooks/hookvet.md#"

//go:embed doc.go
var docFile string

// A check is what differs from one analyzer to the next. The package comment has a section on each.
type check struct {
	name string
	// inTests says that findings in test files are reported. Tests may make some mistakes on purpose, for example
	// fire a point and drop the result.
	inTests bool
	facts   []analysis.Fact
	run     func(*reporter)
}

// analyzer returns the analyzer of a check.
func (k check) analyzer() *analysis.Analyzer {
	return &analysis.Analyzer{
		Name:      k.name,
		Doc:       docOf(k.name),
		URL:       page + k.name,
		Requires:  []*analysis.Analyzer{codeAnalyzer},
		FactTypes: k.facts,
		Run: func(pass *analysis.Pass) (any, error) {
			r := &reporter{code: pass.ResultOf[codeAnalyzer].(*code), pass: pass, check: k}
			r.checking.Lock() // because the checks share what code remembers
			defer r.checking.Unlock()
			k.run(r)
			return nil, nil
		},
	}
}

// docOf returns the documentation of a check: the text of the package comment below the heading "Analyzer NAME", after
// the name itself. It begins with one line, then has a blank line and the rule.
func docOf(name string) string {
	comment, _, _ := strings.Cut(docFile, "\npackage ")
	_, section, found := strings.Cut(comment, "// # Analyzer "+name+"\n//\n// "+name+": ")
	if !found {
		panic("doc.go has no section on the check " + name)
	}
	section, _, _ = strings.Cut(section, "\n// # ")
	return strings.TrimSpace(strings.NewReplacer("\n// ", "\n", "\n//", "\n").Replace(section))
}

// A reporter is the code of a package with the means to report findings of a check.
type reporter struct {
	*code
	pass  *analysis.Pass
	check check
}

// report reports a finding, unless a comment suppresses it.
func (r *reporter) report(at analysis.Range, format string, args ...any) {
	if !r.check.inTests && r.isTest(at.Pos()) {
		return
	}
	where := r.pass.Fset.PositionFor(at.Pos(), false)
	if slices.ContainsFunc(r.suppressed, func(s suppression) bool { return s.covers(r.check.name, where) }) {
		return
	}
	r.pass.Report(analysis.Diagnostic{
		Pos: at.Pos(), End: at.End(), Category: r.check.name, Message: fmt.Sprintf(format, args...),
	})
}

// qualified returns a name of a package, with the name of the package if that is another one.
func (r *reporter) qualified(pkg *types.Package, name string) string {
	if in := r.packageName(pkg); in != "" {
		return in + "." + name
	}
	return name
}

// typeName returns a type with the names of other packages.
func (r *reporter) typeName(t types.Type) string { return types.TypeString(t, r.packageName) }

func (r *reporter) packageName(pkg *types.Package) string {
	if pkg == r.pass.Pkg {
		return ""
	}
	return pkg.Name()
}

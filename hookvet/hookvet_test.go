package hookvet

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"
	"golang.org/x/tools/txtar"

	"github.com/hookgen/hookgen/internal/usermodule"
)

// TestChecks runs each check on the archive of its name in testdata. A comment // want in a file has the message.
func TestChecks(t *testing.T) {
	all := Analyzers()
	if testing.Short() {
		all = all[:1]
	}
	m := newModule(t)
	for _, a := range all {
		t.Run(a.Name, func(t *testing.T) {
			m.write(t, a.Name, filepath.Join("testdata", a.Name+".txtar"))
			analysistest.Run(t, m.Dir, a, "./"+a.Name+"/...")
		})
	}
}

// A module is a user's module with the specs of testdata/specs.txtar, and what hookgen makes of them.
type module struct{ *usermodule.Module }

func newModule(t testing.TB) module {
	t.Helper()
	m := module{usermodule.New(t)}
	m.Init("user")
	m.write(t, ".", "testdata/specs.txtar")
	hookgen := usermodule.BuildHookgen(t)
	m.Run(hookgen, "mail")
	m.Run(hookgen, "-o", "newshooks", "news")
	m.Run(hookgen, "shop")
	m.Run(hookgen, "web")
	return m
}

// write writes the files of an archive into a directory. Packages of the archive are imported as user/NAME.
func (m module) write(t testing.TB, dir, archive string) {
	t.Helper()
	a, err := txtar.ParseFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range a.Files {
		text := string(f.Data)
		for _, other := range a.Files {
			pkg := `"user/` + filepath.Dir(other.Name) + `"`
			text = strings.ReplaceAll(text, pkg, `"user/`+filepath.ToSlash(filepath.Join(dir, filepath.Dir(other.Name)))+`"`)
		}
		m.Write(filepath.Join(dir, f.Name), text)
	}
}

func TestAnalyzersAreValid(t *testing.T) {
	if err := analysis.Validate(Analyzers()); err != nil {
		t.Error(err)
	}
	var names []string
	for _, a := range Analyzers() {
		names = append(names, a.Name)
		if first, rest, _ := strings.Cut(a.Doc, "\n"); !strings.HasPrefix(first, "find ") || !strings.HasPrefix(rest, "\n") {
			t.Errorf("%s: the documentation does not begin with one line that says what the check finds", a.Name)
		}
	}
	slices.Sort(names)
	if len(slices.Compact(names)) != len(Analyzers()) {
		t.Errorf("names are not unique: %q", names)
	}
}

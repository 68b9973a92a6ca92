package remote_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/hookgen/hookgen/gen"
	"github.com/hookgen/hookgen/internal/usermodule"
)

var (
	count = flag.Int("specs", 12, "how many specs are drawn")
	seed  = flag.Int("specseed", 1, "the seed of the first spec; the next spec has the next number")
	fires = flag.Int("fires", 30, "how many fires are drawn for each point")
)

// Hooks in another process have the effect of the same hooks in this one, for every spec that hookgen accepts. The
// generated code of all drawn specs is built into one test binary, which runs [remote.System.Check] for each.
func TestDrawnSpecs(t *testing.T) {
	if testing.Short() {
		t.Skip("builds packages")
	}
	module := usermodule.New(t)
	module.Init("user")
	var imports, systems strings.Builder
	for i := range *count {
		pkg := fmt.Sprint("p", i)
		spec := rapid.Custom(func(t *rapid.T) *specText { return drawSpec(t, pkg) }).Example(*seed + i)
		module.Write(pkg+"/spec.go", spec.body.String())
		path := pkg
		to := gen.Output{Package: pkg, Source: "user/" + pkg}
		if i%2 == 1 {
			path = pkg + "/out"
			to = gen.Output{Package: "out", Source: "user/" + pkg, SpecPath: "user/" + pkg}
		}
		generate(t, filepath.Join(module.Dir, pkg), to, filepath.Join(module.Dir, path))
		fmt.Fprintf(&imports, "\t%s %q\n", pkg, "user/"+path)
		fmt.Fprintf(&systems, "\tt.Run(%q, func(t *testing.T) { remote.Of(%s.Serve, %s.Remote).Check(t, %#v...) })\n",
			pkg, pkg, pkg, spec.without)
	}
	module.Write("drawn_test.go", fmt.Sprintf("package user\n\nimport (\n\t\"testing\"\n\n%s\n"+
		"\t\"github.com/hookgen/hookgen/tests/remote\"\n)\n\nfunc TestDrawn(t *testing.T) {\n%s}\n", &imports, &systems))
	out, err := module.Try("go", "test", "-vet=off", "-rapid.nofailfile", fmt.Sprint("-rapid.checks=", *fires), ".")
	if err == nil {
		return
	}
	t.Errorf("%v\n%s", err, out)
	for i := range *count {
		if pkg := fmt.Sprint("p", i); strings.Contains(out, "FAIL: TestDrawn/"+pkg+" ") {
			t.Logf("%s is the spec with -specs 1 -specseed %d:\n%s", pkg, *seed+i, module.Read(pkg+"/spec.go"))
		}
	}
}

// generate writes the generated files for the spec in a directory.
func generate(t *testing.T, dir string, to gen.Output, into string) {
	t.Helper()
	s, found := gen.Read(dir)
	if len(found) == 0 {
		found = gen.CheckOutput(s, to)
	}
	if len(found) > 0 {
		t.Fatal(found)
	}
	if err := os.MkdirAll(into, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, emit := range map[string]func(*gen.Spec, gen.Output) ([]byte, error){
		gen.FileName:     gen.Emit,
		gen.WireFileName: gen.EmitWire,
	} {
		text, err := emit(s, to)
		if err == nil {
			err = os.WriteFile(filepath.Join(into, name), text, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

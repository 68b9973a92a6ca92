package gen_test

import (
	"flag"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hookgen/hookgen/gen"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "write what was got where a golden text differs")

// complete is a diagnostic that helps: a place, the problem, the remedy and the rule. Only a directory has no line.
var complete = regexp.MustCompile(`^(\.|[\w.]+:\d+:\d+): .+(: |; did you mean ).+ \([a-z-]+\)\n$`)

// Each archive contains wrong specs. For each directory, the file want lists the expected diagnostics.
func TestWrongSpecs(t *testing.T) {
	archives, err := filepath.Glob("testdata/wrong/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatal("no archives", err)
	}
	count := 0
	for _, name := range archives {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		changed := false
		for _, c := range cases(t, archive) {
			count++
			c.samePackage = filepath.Base(name) == "same_package.txtar"
			t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar")+"/"+c.name, func(t *testing.T) {
				got := c.read(t)
				for line := range strings.Lines(got) {
					if !complete.MatchString(line) {
						t.Errorf("without a place, a remedy or a rule: %s", line)
					}
				}
				if diff := cmp.Diff(string(c.want.Data), got); diff != "" {
					if *update {
						c.want.Data, changed = []byte(got), true
						return
					}
					t.Errorf("want -, got +:\n%s", diff)
				}
			})
		}
		if changed {
			if err := os.WriteFile(name, txtar.Format(archive), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if count < 110 {
		t.Errorf("%d wrong specs, want at least 110", count)
	}
}

// A wrongSpec is one directory of an archive.
type wrongSpec struct {
	name        string
	files       []txtar.File
	want        *txtar.File
	samePackage bool // the output goes into the spec's package
}

// cases splits an archive into its directories.
func cases(t *testing.T, archive *txtar.Archive) []*wrongSpec {
	t.Helper()
	byName := map[string]*wrongSpec{}
	var all []*wrongSpec
	for i := range archive.Files {
		f := &archive.Files[i]
		name, base := path.Split(f.Name)
		c := byName[name]
		if c == nil {
			c = &wrongSpec{name: strings.TrimSuffix(name, "/")}
			byName[name] = c
			all = append(all, c)
		}
		if base == "want" {
			c.want = f
			continue
		}
		c.files = append(c.files, txtar.File{Name: base, Data: f.Data})
	}
	for _, c := range all {
		if c.want == nil {
			t.Fatalf("%s has no want", c.name)
		}
	}
	return all
}

// read writes the case into a directory, and returns its diagnostics without the directory name.
func (c *wrongSpec) read(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range c.files {
		if err := os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	spec, found := gen.Read(dir)
	if len(found) == 0 {
		to := gen.Output{Package: "out", SpecPath: "example.com/spec"}
		if c.samePackage {
			to = gen.Output{Package: spec.Package}
		}
		found = gen.CheckOutput(spec, to)
		if len(found) == 0 {
			t.Fatal("nothing is wrong with it")
		}
	} else if spec != nil {
		t.Error("a spec and findings")
	}
	text := found.Error() + "\n"
	return strings.ReplaceAll(strings.ReplaceAll(text, dir+string(filepath.Separator), ""), dir, ".")
}

// Every rule of the reader has a wrong spec that breaks it.
func TestEveryRuleHasAWrongSpec(t *testing.T) {
	archives, _ := filepath.Glob("testdata/wrong/*.txtar")
	var shown []string
	for _, name := range archives {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cases(t, archive) {
			for line := range strings.Lines(string(c.want.Data)) {
				if i := strings.LastIndex(line, " ("); i >= 0 {
					shown = append(shown, strings.TrimRight(line[i+2:], ")\n"))
				}
			}
		}
	}
	for _, rule := range gen.Rules() {
		if rule.ID == "size" || rule.ID == "import-count" {
			continue // too large to be kept: other tests make one
		}
		if !slices.Contains(shown, rule.ID) {
			t.Errorf("no wrong spec for (%s): %s", rule.ID, rule.Says)
		}
	}
}

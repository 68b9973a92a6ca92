package spec_test

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hookgen/hookgen/gen"
)

var update = flag.Bool("update", false, "write the list of rules and the generated example anew")

// TestManualListsEveryRule compares the end of the manual with the rules that hookgen checks.
func TestManualListsEveryRule(t *testing.T) {
	const begin, end = "// These are the rules:\n//\n", "package spec\n"
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(text), begin)
	if !ok || !strings.HasSuffix(rest, end) {
		t.Fatalf("doc.go has no list of rules between %q and %q", begin, end)
	}
	var list strings.Builder
	for _, r := range gen.Rules() {
		list.WriteString("//   - " + r.ID + ": " + r.Says + "\n")
	}
	if diff := cmp.Diff(strings.TrimSuffix(rest, end), list.String()); diff != "" {
		if *update {
			if err := os.WriteFile("doc.go", []byte(head+begin+list.String()+end), 0o644); err != nil {
				t.Fatal(err)
			}
			return
		}
		t.Errorf("the manual -, the rules + (go test ./spec -update):\n%s", diff)
	}
}

// TestExampleIsFresh generates the example of the manual again, into its own package and into another one.
func TestExampleIsFresh(t *testing.T) {
	const dir, output = "testdata/mail", "testdata/mail/" + gen.FileName
	s, found := gen.Read(dir)
	if len(found) > 0 {
		t.Fatal(found)
	}
	const importPath = "github.com/hookgen/hookgen/spec/testdata/mail"
	same := gen.Output{Package: s.Package, Source: importPath}
	other := gen.Output{Package: "letters", SpecPath: importPath, Source: importPath}
	for _, to := range []gen.Output{same, other} {
		if found := gen.CheckOutput(s, to); len(found) > 0 {
			t.Error(found)
		}
	}
	text, err := gen.Emit(s, same)
	if err != nil {
		t.Fatal(err)
	}
	old, err := os.ReadFile(output)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(old, text) {
		if *update {
			if err := os.WriteFile(output, text, 0o644); err != nil {
				t.Fatal(err)
			}
			return
		}
		t.Errorf("%s is stale: go run ./cmd/hookgen spec/%s", output, dir)
	}
}

package spec_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hookgen/hookgen/gen"
)

var update = flag.Bool("update", false, "write the list of rules anew")

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

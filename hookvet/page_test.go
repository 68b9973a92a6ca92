package hookvet_test

import (
	"os"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/hookvet"
)

// TestPageExplainsEachCheck: docs/hookvet.md has the documentation of every check under a heading of its name.
func TestPageExplainsEachCheck(t *testing.T) {
	page, err := os.ReadFile("../docs/hookvet.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range hookvet.Analyzers() {
		t.Run(a.Name, func(t *testing.T) {
			_, section, found := strings.Cut(string(page), "\n## "+a.Name+"\n")
			if !found {
				t.Fatal("the page has no heading for it")
			}
			section, _, _ = strings.Cut(section, "\n## ")
			words := strings.Join(strings.Fields(section), " ")
			for paragraph := range strings.SplitSeq(a.Doc, "\n\n") {
				want := strings.Join(strings.Fields(strings.TrimPrefix(paragraph, a.Name+": ")), " ")
				if !strings.Contains(strings.ReplaceAll(words, "`", ""), want) {
					t.Errorf("the page lacks %q", want)
				}
			}
		})
	}
}

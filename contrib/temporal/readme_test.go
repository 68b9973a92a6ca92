package temporal

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/hooktest/readmetest"
)

func TestReadmeHasTheProgram(t *testing.T) { readmetest.CheckProgram(t) }

// TestReadmeNamesTheLinkedModules compares the modules in README.md with those that a program links.
func TestReadmeNamesTheLinkedModules(t *testing.T) {
	linked := readmetest.Foreign(t, ".")
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(readme)
	if want := fmt.Sprintf("links %d modules", len(linked)); !strings.Contains(text, want) {
		t.Errorf("README.md does not say that a program %s", want)
	}
	for _, m := range linked {
		if !strings.Contains(text, "`"+m+"`") {
			t.Errorf("README.md does not name %s", m)
		}
	}
}

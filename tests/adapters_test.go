package tests

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/internal/usermodule"
)

// TestAdaptersHaveAtMostAHundredLines keeps the adapters examples of how little an adapter needs. Imports, comments and
// blank lines do not count.
func TestAdaptersHaveAtMostAHundredLines(t *testing.T) {
	for _, name := range []string{"eino", "langchaingo"} {
		t.Run(name, func(t *testing.T) {
			files, err := filepath.Glob(filepath.Join(usermodule.Root(t), "contrib", name, "*.go"))
			if err != nil {
				t.Fatal(err)
			}
			lines := 0
			for _, file := range files {
				if strings.HasSuffix(file, "_test.go") {
					continue
				}
				source, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				_, code, _ := strings.Cut(string(source), "\n)\n") // after the imports
				for line := range strings.Lines(code) {
					if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
						lines++
					}
				}
			}
			if lines == 0 || lines > 100 {
				t.Errorf("it has %d lines", lines)
			}
		})
	}
}

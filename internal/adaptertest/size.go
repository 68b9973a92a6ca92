package adaptertest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// CheckSize checks that the package has at most a hundred lines, because it is an example of how little an adapter
// needs. Imports, comments and blank lines do not count.
func CheckSize(t *testing.T) {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for _, name := range files {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "_test.go") {
			continue
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
}

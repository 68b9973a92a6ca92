package tests

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/internal/usermodule"
)

var errorRow = regexp.MustCompile("(?m)^\\| `([^`]+)` \\|")

// TestPageOfErrorsHasRealMessages looks for each message of docs/hooks/errors.md in the messages that the tests of the
// tools expect, in the source of the runtime, and in the output of the go command.
func TestPageOfErrorsHasRealMessages(t *testing.T) {
	root := usermodule.Root(t)
	text, err := os.ReadFile(filepath.Join(root, "docs", "hooks", "errors.md"))
	if err != nil {
		t.Fatal(err)
	}
	sections := strings.Split(string(text), "\n## ")[1:]
	sources := map[string][]string{
		"The compiler": {"tests/compile/testdata", "tests/mistakes/testdata", "cmd/hookgen/testdata"},
		"Registration": {"hookkit/hookimpl"},
		"hookgen":      {"gen/testdata/wrong", "cmd/hookgen/testdata"},
	}
	for _, section := range sections {
		title, rows, _ := strings.Cut(section, "\n")
		said := outputOfGo(t)
		if title != "The go command" {
			said = nil
			for _, dir := range sources[title] {
				said = append(said, textsIn(t, filepath.Join(root, filepath.FromSlash(dir)))...)
			}
		}
		found := errorRow.FindAllStringSubmatch(rows, -1)
		if len(found) < 5 {
			t.Errorf("%s has %d messages", title, len(found))
		}
		for _, row := range found {
			var parts []string
			for part := range strings.SplitSeq(row[1], "…") {
				parts = append(parts, regexp.QuoteMeta(strings.TrimSpace(part)))
			}
			message := regexp.MustCompile(strings.Join(parts, `.*`))
			if !containsMatch(said, message) {
				t.Errorf("%s: nothing prints %q", title, row[1])
			}
		}
	}
}

func containsMatch(texts []string, message *regexp.Regexp) bool {
	for _, text := range texts {
		if message.MatchString(text) {
			return true
		}
	}
	return false
}

// textsIn returns the texts of the files in a directory. Format verbs, quotation marks and line breaks of Go source are
// removed, and backslashes of expressions.
func textsIn(t *testing.T, dir string) []string {
	t.Helper()
	source := regexp.MustCompile("%[svqd]|\" \\+\\s*\"|\\\\")
	var texts []string
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		texts = append(texts, source.ReplaceAllString(string(text), ""))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

// outputOfGo returns the messages of the go command in modules that are not set up.
func outputOfGo(t *testing.T) []string {
	t.Helper()
	m := usermodule.New(t, "GOPROXY=off", "GOFLAGS=")
	m.Write("go.mod", "module example.com/tour\n\ngo 1.26.0\n")
	m.Write("main.go", "package main\n\nimport _ \""+usermodule.Path+"/hookkit\"\n\nfunc main() {}\n")
	var said []string
	try := func(command ...string) {
		out, err := m.Try(command...)
		if err == nil {
			t.Errorf("%v succeeds", command)
		}
		said = append(said, out)
	}
	try("go", "tool", "hookgen")
	try("go", "build", ".")
	m.Write("go.mod", "module example.com/tour\n\ngo 1.26.0\n\nrequire "+usermodule.Path+" v0.1.0\n")
	try("go", "build", ".")
	try("go", "build", "-mod=vendor", ".")
	empty := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/list") {
			http.NotFound(w, r) // a module has a list of versions, which is empty, and nothing else
		}
	}))
	t.Cleanup(empty.Close)
	m = usermodule.New(t, "GOPROXY="+empty.URL, "GOFLAGS=")
	m.Write("go.mod", "module example.com/tour\n\ngo 1.26.0\n")
	try("go", "get", "-tool", usermodule.Path+"/cmd/hookgen@latest")
	return said
}

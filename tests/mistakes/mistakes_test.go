// Package mistakes_test has a program for each mistake of the authors of hooks and loops that once passed the compiler,
// go vet and the program's own tests. The tools that find it now are run on it, and the table of docs/hooks/mistakes.md
// is made of their output.
package mistakes_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hookgen/hookgen/internal/usermodule"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "write what the tools say into the archives and into docs/hooks/mistakes.md")

// A mistake is an archive in testdata: the comment names it, the file tools has the tools that find it, one in a line,
// and a file "want TOOL" what each says. The other files are a package.
type mistake struct {
	file    string
	archive *txtar.Archive
}

func (m mistake) name() string  { return strings.TrimSuffix(filepath.Base(m.file), ".txtar") }
func (m mistake) title() string { return strings.TrimSpace(string(m.archive.Comment)) }

func (m mistake) tools() []string { return strings.Split(strings.TrimSpace(m.get("tools")), "\n") }

// get returns a file of the archive, or "".
func (m mistake) get(name string) string {
	for _, f := range m.archive.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}

// set changes a file of the archive.
func (m mistake) set(t *testing.T, name, text string) {
	t.Helper()
	for i, f := range m.archive.Files {
		if f.Name == name {
			m.archive.Files = append(m.archive.Files[:i], m.archive.Files[i+1:]...)
			break
		}
	}
	m.archive.Files = append(m.archive.Files, txtar.File{Name: name, Data: []byte(text)})
	if err := os.WriteFile(m.file, txtar.Format(m.archive), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestMistakesAreFound: without the tools of its archive, a mistake compiles and go vet is silent.
func TestMistakesAreFound(t *testing.T) {
	module := usermodule.New(t)
	module.Init("user")
	hookgen, hookvet := usermodule.BuildHookgen(t), usermodule.Build(t, "hookvet")
	all := readMistakes(t)
	if testing.Short() {
		all = all[:3]
	}
	for _, m := range append(all, readArchive(t, "testdata/specs.txtar")) {
		for _, f := range m.archive.Files {
			if strings.HasSuffix(f.Name, ".go") {
				module.Write(m.dir()+f.Name, string(f.Data))
				if filepath.Base(f.Name) == "spec.go" {
					module.Run(hookgen, filepath.Dir(m.dir()+f.Name))
				}
			}
		}
	}
	var compiles []string
	for _, m := range all {
		if m.tools()[0] != "compiler" {
			compiles = append(compiles, "./"+m.name()+"/...")
		}
	}
	module.Run(append([]string{"go", "vet"}, compiles...)...)
	found := vetted(t, module.Run(append([]string{hookvet, "-json"}, compiles...)...))
	for _, m := range all {
		t.Run(m.name(), func(t *testing.T) {
			in := "./" + m.name() + "/..."
			for _, tool := range m.tools() {
				t.Run(tool, func(t *testing.T) {
					var out string
					var err error
					command, check, _ := strings.Cut(tool, " ")
					switch command {
					case "compiler":
						out, err = module.Try("go", "build", in)
					case "registration":
						out, err = module.Try("go", "run", "./"+m.name())
					case "hookvet":
						out = found["user/"+m.name()][check]
					case "hooktest":
						out, err = module.Try("go", "test", in)
					case "hookgen":
						out, err = module.Try(hookgen, check, in)
					default:
						t.Fatalf("there is no tool %q", tool)
					}
					got := says(out, module.Dir)
					if err == nil && command != "hookvet" || got == "" {
						t.Fatalf("the tool found nothing: %v\n%s", err, out)
					}
					if diff := cmp.Diff(m.get("want "+tool), got); diff != "" {
						if *update {
							m.set(t, "want "+tool, got)
							return
						}
						t.Errorf("the tool says something else (-want +got):\n%s", diff)
					}
				})
			}
		})
	}
}

// vetted reads the JSON of hookvet, and returns the findings by package and check, as hookvet prints them without
// -json.
func vetted(t *testing.T, text string) map[string]map[string]string {
	t.Helper()
	var found map[string]map[string][]struct{ Posn, Message string }
	if err := json.Unmarshal([]byte(text), &found); err != nil {
		t.Fatal(err)
	}
	lines := map[string]map[string]string{}
	for pkg, checks := range found {
		lines[pkg] = map[string]string{}
		for check, all := range checks {
			for _, f := range all {
				lines[pkg][check] += f.Posn + ": " + f.Message + "\n"
			}
		}
	}
	return lines
}

// dir returns the directory of the package, with a slash; "" for the specs.
func (m mistake) dir() string {
	if m.name() == "specs" {
		return ""
	}
	return m.name() + "/"
}

var (
	// finding matches a panic, a finding with its position, and a line of the log of a test.
	finding  = regexp.MustCompile(`(?m)^(?:panic: .*|\S+\.go:\d+:\d+: .*(?:\n\t(?:have|want) .*)*|\s+\w+\.go:\d+: .*)$`)
	position = regexp.MustCompile(`^\S+\.go:\d+:\d+: `)
	logged   = regexp.MustCompile(`^\s+\w+\.go:\d+: `)
)

// says returns the findings in the output of a tool.
func says(out, dir string) string {
	out = strings.ReplaceAll(strings.ReplaceAll(out, "\r\n", "\n"), dir+string(filepath.Separator), "")
	var b strings.Builder
	for _, text := range finding.FindAllString(out, -1) {
		fmt.Fprintln(&b, strings.TrimSpace(logged.ReplaceAllString(text, "")))
	}
	return b.String()
}

func readMistakes(t *testing.T) []mistake {
	t.Helper()
	files, err := filepath.Glob("testdata/[0-9]*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no archives", err)
	}
	var all []mistake
	for _, file := range files {
		all = append(all, readArchive(t, file))
	}
	return all
}

func readArchive(t *testing.T, file string) mistake {
	t.Helper()
	a, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return mistake{file, a}
}

const (
	tableBegin = "<!-- made by tests/mistakes -->\n\n"
	tableEnd   = "\n<!-- end -->"
)

// TestPageHasTheTable: run it with -update after a change of an archive.
func TestPageHasTheTable(t *testing.T) {
	file := filepath.Join(usermodule.Root(t), "docs", "hooks", "mistakes.md")
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(page), tableBegin)
	got, after, ok := strings.Cut(rest, tableEnd)
	if !ok {
		t.Fatal("the page has no place for the table")
	}
	want := table(readMistakes(t))
	if diff := cmp.Diff(want, got); diff != "" {
		if *update {
			if err := os.WriteFile(file, []byte(before+tableBegin+want+tableEnd+after), 0o644); err != nil {
				t.Fatal(err)
			}
			return
		}
		t.Errorf("the table is stale, run the test with -update (-want +got):\n%s", diff)
	}
}

// table returns the table of docs/hooks/mistakes.md.
func table(all []mistake) string {
	var b strings.Builder
	b.WriteString("| mistake | found by | message |\n|---|---|---|\n")
	for _, m := range all {
		var found []string
		for _, tool := range m.tools() {
			found = append(found, link(tool))
		}
		message, _, _ := strings.Cut(m.get("want "+m.tools()[0]), "\n")
		message = strings.TrimPrefix(position.ReplaceAllString(message, ""), "panic: ")
		fmt.Fprintf(&b, "| %s | %s | %s |\n", m.title(), strings.Join(found, ", "), strings.ReplaceAll(message, "|", `\|`))
	}
	return b.String()
}

// link returns the name of a tool with a link to its page.
func link(tool string) string {
	switch tool, check, _ := strings.Cut(tool, " "); tool {
	case "hookvet":
		return "[hookvet](hookvet.md#" + check + ")"
	case "hooktest":
		return "[a test](testing-hooks.md)"
	case "hookgen":
		return "[`hookgen " + check + " ./...`](ci.md)"
	default:
		return tool
	}
}

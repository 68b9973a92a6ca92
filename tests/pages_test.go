package tests

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/internal/usermodule"
)

// TestPages runs the code of the pages for users. Each page has a module of its own, example.com/tour.
// Its blocks are used there one after the other, as a reader would who types everything:
//
//	go       A block that begins with a comment such as "// mail/spec.go" is that file. A block below a comment such as
//	         <!-- file examples/agent/clerk/main.go --> is a part of that file, which its own tests run. Any other
//	         block is a part of the package that a comment names, <!-- package mail -->, and needs no imports.
//	diff     Lines of files to replace.
//	sh       Commands, one in a line. They succeed, except for those with the comment "# exits with 1". The commands
//	         below <!-- in a clone --> are run by .ci/run instead. Those below <!-- before the first release --> are
//	         run in a module of their own next to a clone.
//	text     The output of the block before: of its last command; after a diff, of go build; after go, of go run.
//	yaml     The commands after "- run:" and "entry:" succeed in a shell.
//	bash     The executable file that its second line names, as in "# hooks/guard.sh".
//	python   The file that its first line names, as in "# hooks/guard.py".
//	json     One JSON value.
//	jsonl    The file that a comment above it names, <!-- file run.jsonl -->, with a JSON value in each line.
//	mermaid  A diagram, which nothing checks here.
//
// The module has hookgen as a tool, unless the page begins with go mod init.
//
// A diff remains until the text says "Undo the change". If the text says "Undo each change", each diff is undone when
// the next block of go or diff begins. After a block of go or diff that has a spec, hookgen runs, unless a block of sh
// follows. At the end of the page go vet, go test and hookvet must succeed.
func TestPages(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	hookgen, hookvet := usermodule.BuildHookgen(t), usermodule.Build(t, "hookvet")
	// A page installs hookgen as a reader does. With -trimpath the build cache knows the packages of the last test.
	env := append(usermodule.Publish(t, pageVersion), "GOFLAGS=-mod=mod -modcacherw -trimpath",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	for _, name := range pageNames(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			blocks := readBlocks(t, name)
			p := &page{name: name, env: env, hookgen: hookgen}
			if slices.ContainsFunc(blocks, func(b block) bool { return strings.Contains(b.text, "go mod init") }) {
				// The page says everything that a reader has to do, and so also when to run go mod tidy.
				p.env = append(slices.Clone(env), "GOFLAGS=-modcacherw -trimpath")
			}
			p.module = usermodule.New(t, p.env...)
			if len(p.env) == len(env) {
				p.run(t, "go", "mod", "init", "example.com/tour")
				p.run(t, "go", "get", "-tool", usermodule.Path+"/cmd/hookgen@"+pageVersion)
			}
			for i, b := range blocks {
				next := ""
				if i+1 < len(blocks) {
					next = blocks[i+1].language
				}
				t.Run(fmt.Sprintf("line %d %s", b.line, b.language), func(t *testing.T) { p.use(t, b, next) })
			}
			if p.each {
				p.undo(t)
			}
			if len(p.packages) > 0 {
				t.Run("vet", func(t *testing.T) { p.run(t, "go", "vet", "./...") })
				t.Run("test", func(t *testing.T) { p.run(t, "go", "test", "./...") })
				t.Run("hookvet", func(t *testing.T) { p.run(t, hookvet, "-unfired=false", "./...") })
			}
		})
	}
}

// The heading of README.md says how short the agent is, without the package clause, imports and blank lines.
func TestAgentOfReadmeHasSixteenLines(t *testing.T) {
	for _, b := range readBlocks(t, "README.md") {
		if _, code, found := strings.Cut(b.text, "loop/looptest\"\n)\n"); found {
			if lines := len(regexp.MustCompile(`(?m)^.*\S`).FindAllString(code, -1)); lines != 16 {
				t.Errorf("the agent has %d lines", lines)
			}
			return
		}
	}
	t.Error("README.md has no agent")
}

const pageVersion = "v0.1.0"

// importPaths are the packages that a part of a package may use without an import, by name. The packages of the page
// are added to them.
var importPaths = map[string]string{
	"builtin":    usermodule.Path + "/builtin",
	"agent":      usermodule.Path + "/generated/agent",
	"hookkit":    usermodule.Path + "/hookkit",
	"hooklog":    usermodule.Path + "/hookkit/hooklog",
	"hooktest":   usermodule.Path + "/hooktest",
	"loop":       usermodule.Path + "/loop",
	"looptest":   usermodule.Path + "/loop/looptest",
	"spec":       usermodule.Path + "/spec",
	"wire":       usermodule.Path + "/hookkit/wire",
	"wireexec":   usermodule.Path + "/hookkit/wire/wireexec",
	"record":     usermodule.Path + "/builtin/record",
	"redact":     usermodule.Path + "/builtin/redact",
	"claudecode": usermodule.Path + "/builtin/declared/claudecode",
	"wirehttp":   usermodule.Path + "/hookkit/wire/wirehttp",
	"context":    "context", "errors": "errors", "exec": "os/exec", "fmt": "fmt", "http": "net/http", "io": "io",
	"json": "encoding/json", "os": "os", "slog": "log/slog", "strings": "strings", "sync": "sync", "testing": "testing",
	"time": "time",
}

// A block is a piece of a page between fences.
type block struct {
	line     int    // of the first line of text
	language string // after the opening fence
	pkg      string // named by the comment above the block, or ""
	file     string // the same
	before   string // the text between the block above and this one
	text     string
}

// A page is the state of a page while its blocks are used.
type page struct {
	name     string
	module   *usermodule.Module
	env      []string          // of commands
	hookgen  string            // the command
	packages []string          // the directories with Go files
	last     string            // the language of the last block
	output   string            // of the last command
	lacks    string            // a program that a script of the page needs, and that is not installed
	original map[string]string // the files that the last diff has changed, as they were
	each     bool              // undo each diff
}

// use runs, builds or checks a block, depending on its language.
func (p *page) use(t *testing.T, b block, next string) {
	p.each = p.each || undoEach.MatchString(b.before)
	change := b.language == "go" || b.language == "diff"
	if undo.MatchString(b.before) || p.each && change {
		p.undo(t)
	}
	switch b.language {
	case "go":
		if b.file != "" {
			text, err := os.ReadFile(filepath.Join(usermodule.Root(t), filepath.FromSlash(b.file)))
			if err != nil || !strings.Contains(string(text), b.text) {
				t.Errorf("it is not a part of %s (%v)", b.file, err)
			}
			break
		}
		dir := p.write(t, b)
		if regexp.MustCompile(`(?m)^//hookgen:points$`).MatchString(b.text) && next != "sh" {
			p.run(t, p.hookgen, dir)
		}
	case "diff":
		p.apply(t, b.text)
		if next != "sh" {
			p.generateChanged(t)
		}
	case "sh":
		module := p.module
		switch {
		case strings.Contains(b.before, "<!-- in a clone -->"):
			return
		case strings.Contains(b.before, "<!-- before the first release -->"):
			p.module = cloned(t, p.env)
			defer func() { p.module = module }()
		}
		for command := range strings.Lines(b.text) {
			command, fails := strings.CutSuffix(strings.TrimSpace(command), "# exits with 1")
			p.try(t, fails, strings.Fields(command)...)
		}
		if p.module != module {
			p.run(t, "go", "tool", "hookgen", "init", "letters")
			p.run(t, "go", "test", "./...")
		}
	case "yaml":
		for _, command := range regexp.MustCompile(`(?:- run|entry): (.*)`).FindAllStringSubmatch(b.text, -1) {
			p.run(t, "sh", "-c", command[1])
		}
	case "text":
		if p.lacks != "" {
			t.Skipf("%s is not installed", p.lacks)
		}
		switch p.last {
		case "diff":
			p.try(t, true, "go", "build", "./...")
		case "go":
			p.run(t, "go", "run", ".")
		case "sh":
		default:
			t.Fatal("the text is no output: there is no go, diff or sh above it")
		}
		if got, want := stable(p.output), stable(b.text); got != want {
			t.Errorf("got:\n%s\nthe page says:\n%s", got, want)
		}
	case "bash", "python":
		first := regexp.MustCompile(`(?m)^# (\S*\.\S+)$`).FindStringSubmatch(b.text)
		if first == nil {
			t.Fatal("no comment names the file of the block")
		}
		p.module.Write(first[1], b.text)
		if err := os.Chmod(filepath.Join(p.module.Dir, filepath.FromSlash(first[1])), 0o755); err != nil {
			t.Fatal(err)
		}
		if _, err := exec.LookPath("jq"); err != nil && strings.Contains(b.text, "jq ") {
			p.lacks = "jq"
		}
	case "json":
		if !json.Valid([]byte(b.text)) {
			t.Error("the block is not JSON")
		}
	case "jsonl":
		if b.file == "" {
			t.Fatal("no comment above the block names its file")
		}
		for line := range strings.Lines(b.text) {
			if !json.Valid([]byte(line)) {
				t.Errorf("the line is not JSON: %s", line)
			}
		}
		p.module.Write(b.file, b.text)
	case "mermaid":
	case "console": // a test of examples/agent prints it
	default:
		t.Errorf("the test ignores a block of %q", b.language)
	}
	p.last = b.language
}

// In prose, lines may break between words.
var undo, undoEach = regexp.MustCompile(`\bUndo\s+the\s+change\b`), regexp.MustCompile(`\bUndo\s+each\s+change\b`)

// cloned returns an empty directory next to a clone of this repository.
func cloned(t *testing.T, env []string) *usermodule.Module {
	t.Helper()
	outer := usermodule.New(t, env...)
	if err := os.Symlink(usermodule.Root(t), filepath.Join(outer.Dir, "hookgen")); err != nil {
		t.Skip(err) // Windows may forbid it
	}
	outer.Write("tour/README.md", "A module of a user.\n")
	return outer.In("tour")
}

// unstable are the parts of an output that differ from run to run: downloads, the times of go test, the names of
// packages above findings, and temporary directories. go vet may repeat the output of an earlier run, with its
// directory.
var unstable = regexp.MustCompile(
	`(?m)^go: downloading .*\n|^# .*\n|\t(\d+\.\d+s|\(cached\))$|\S*[/\\]TestPages[^/\\]*[/\\]\d+[/\\]`)

// stable returns an output without these parts.
func stable(output string) string { return unstable.ReplaceAllString(output, "") }

// try runs a command in the module and keeps its output.
func (p *page) try(t *testing.T, fails bool, command ...string) {
	t.Helper()
	out, err := p.module.Try(command...)
	if (err != nil) != fails {
		t.Errorf("%s: %v\n%s", strings.Join(command, " "), err, out)
	}
	p.output = out
}

func (p *page) run(t *testing.T, command ...string) {
	t.Helper()
	p.try(t, false, command...)
}

// write writes a block of Go into its file and returns the directory.
func (p *page) write(t *testing.T, b block) string {
	if clean, err := format.Source([]byte(b.text)); err != nil || string(clean) != b.text {
		t.Errorf("the block is not as gofmt has it: %v", err)
	}
	var file string
	if first, text, _ := strings.Cut(b.text, "\n\n"); strings.HasPrefix(first, "// ") && strings.HasSuffix(first, ".go") {
		file = strings.TrimPrefix(first, "// ")
		p.module.Write(file, text)
	} else {
		if b.pkg == "" {
			t.Fatal("the block names no file, and no comment above it names a package")
		}
		file = fmt.Sprintf("%s/line%d.go", b.pkg, b.line)
		if strings.Contains(b.text, "*testing.T") {
			file = fmt.Sprintf("%s/line%d_test.go", b.pkg, b.line)
		}
		p.module.Write(file, p.complete(t, b))
	}
	dir := path.Dir(file)
	if !slices.Contains(p.packages, dir) {
		p.packages = append(p.packages, dir)
	}
	return dir
}

// complete returns the file that a part of a package becomes: it has a package clause, the imports, and positions of
// the page.
func (p *page) complete(t *testing.T, b block) string {
	file, err := parser.ParseFile(token.NewFileSet(), "", "package "+b.pkg+"\n"+b.text, 0)
	if err != nil {
		t.Fatal(err)
	}
	paths := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && slices.Contains(file.Unresolved, x) {
				if path := p.importPath(t, x.Name); path != "" {
					paths[path] = true
				}
			}
		}
		return true
	})
	var whole bytes.Buffer
	fmt.Fprintf(&whole, "package %s\n\n", b.pkg)
	for path := range paths {
		fmt.Fprintf(&whole, "import %q\n", path)
	}
	name := filepath.Join(usermodule.Root(t), filepath.FromSlash(p.name))
	fmt.Fprintf(&whole, "\n//line %s:%d\n%s", name, b.line, b.text)
	return whole.String()
}

// importPath returns the path of the package with the name, or "" if a variable of the package has that name.
func (p *page) importPath(t *testing.T, name string) string {
	if slices.Contains(p.packages, name) {
		return "example.com/tour/" + name
	}
	if path, ok := importPaths[name]; ok {
		return path
	}
	if info, err := os.Stat(filepath.Join(usermodule.Root(t), "builtin", name)); err == nil && info.IsDir() {
		return usermodule.Path + "/builtin/" + name
	}
	return ""
}

// apply replaces lines of files. A line "--- NAME" begins each replacement.
func (p *page) apply(t *testing.T, text string) {
	p.original = map[string]string{}
	for _, change := range strings.Split("\n"+text, "\n--- ")[1:] {
		name, lines, _ := strings.Cut(change, "\n")
		var old, replacement string
		for line := range strings.Lines(strings.TrimSuffix(lines, "\n") + "\n") {
			switch {
			case strings.HasPrefix(line, "-"):
				old += line[1:]
			case strings.HasPrefix(line, "+"):
				replacement += line[1:]
			default:
				t.Errorf("a line of a change is neither removed nor added: %q", line)
			}
		}
		text := p.module.Read(name)
		if strings.Count(text, old) != 1 {
			t.Fatalf("%s does not have exactly one %q", name, old)
		}
		if _, changed := p.original[name]; !changed {
			p.original[name] = text
		}
		p.module.Write(name, strings.Replace(text, old, replacement, 1))
	}
}

// undo restores the files that the last diff has changed. If each diff is undone, hookgen runs on the changed specs
// too.
func (p *page) undo(t *testing.T) {
	for name, text := range p.original {
		p.module.Write(name, text)
	}
	if p.each {
		p.generateChanged(t)
	}
	p.original = nil
}

// generateChanged runs hookgen on the specs that a diff has changed.
func (p *page) generateChanged(t *testing.T) {
	for name := range p.original {
		if path.Base(name) == "spec.go" {
			p.run(t, p.hookgen, path.Dir(name))
		}
	}
}

// pageNames returns the pages for users, relative to the root.
func pageNames(t *testing.T) []string {
	t.Helper()
	root := usermodule.Root(t)
	names := []string{"README.md", "builtin/README.md", "loop/README.md", "loop/fleet/README.md"}
	for _, folder := range []string{"hooks", "agents", "evidence"} {
		found, err := filepath.Glob(filepath.Join(root, "docs", folder, "*.md"))
		if err != nil || len(found) == 0 {
			t.Fatalf("no pages in docs/%s (%v)", folder, err)
		}
		for _, name := range found {
			names = append(names, "docs/"+folder+"/"+filepath.Base(name))
		}
	}
	return names
}

// readBlocks returns the blocks of a page.
func readBlocks(t *testing.T, name string) []block {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(usermodule.Root(t), filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	var (
		blocks    []block
		inside    bool
		pkg, file string
		before    strings.Builder
		number    int
	)
	for line := range strings.Lines(string(text)) {
		number++
		language, fence := strings.CutPrefix(line, "```")
		switch {
		case fence && !inside:
			blocks = append(blocks, block{
				line: number + 1, language: strings.TrimSpace(language), pkg: pkg, file: file, before: before.String(),
			})
			inside, pkg, file = true, "", ""
			before.Reset()
		case fence:
			inside = false
		case inside:
			blocks[len(blocks)-1].text += line
		case strings.HasPrefix(line, "<!-- package "):
			pkg = strings.Fields(line)[2]
		case strings.HasPrefix(line, "<!-- file "):
			file = strings.Fields(line)[2]
		}
		if !inside && !fence {
			before.WriteString(line)
		}
	}
	if inside {
		t.Fatalf("the last block of %s has no end", name)
	}
	return blocks
}

// TestGoCodeIsInFences looks for Go code in indented blocks, which TestPages does not compile.
func TestGoCodeIsInFences(t *testing.T) {
	code := regexp.MustCompile(`^(    |\t).*(:=|func .*\{|err = |\bpackage \w+$)`)
	for _, name := range pageNames(t) {
		text, err := os.ReadFile(filepath.Join(usermodule.Root(t), filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		inside, number := false, 0
		for line := range strings.Lines(string(text)) {
			number++
			if strings.HasPrefix(line, "```") {
				inside = !inside
			} else if !inside && code.MatchString(line) {
				t.Errorf("%s:%d: Go outside of a fence: begin the block with three backquotes and go", name, number)
			}
		}
	}
}

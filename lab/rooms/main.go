// Command rooms measures the cost of importing a package of builtin: the libraries and the large standard packages that
// it links, and the size that one of its hooks adds to a program. It replaces the table in
// docs/agents/built-in-hooks.md, between the comments "rooms" and "end of rooms". It fails if a hook adds more than 0.5
// MB and needs does not say why. Run it from the root of the repository:
//
//	go run ./lab/rooms
package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/lab/figures"
)

const (
	module = "github.com/hookgen/hookgen"
	page   = "docs/agents/built-in-hooks.md"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "rooms:", err)
		os.Exit(1)
	}
}

func run() error {
	table, err := measure()
	if err != nil {
		return err
	}
	return figures.ReplacePart(page, "rooms", table)
}

// measure returns the table.
func measure() (string, error) {
	docs, err := filepath.Glob("builtin/*/doc.go")
	if err != nil {
		return "", err
	}
	if len(docs) == 0 {
		return "", errors.New("builtin has no rooms: run this from the root of the repository")
	}
	alone, err := linkedSize("", "")
	if err != nil {
		return "", err
	}
	var table, over strings.Builder
	fmt.Fprintf(&table, "\nMade by `go run ./lab/rooms` on %s/%s with %s. A program with `generated/agent` alone has "+
		"%.1f MB.\n\n",
		runtime.GOOS, runtime.GOARCH, runtime.Version(), megabytes(alone))
	table.WriteString("| room | hook | libraries | large standard packages | it adds |\n|---|---|---|---|---:|\n")
	for _, doc := range docs {
		room := filepath.Base(filepath.Dir(doc))
		libraries, err := librariesOf(room)
		if err != nil {
			return "", err
		}
		hook, err := hookOf(room)
		if err != nil {
			return "", err
		}
		added := ""
		if hook != "" {
			size, err := sizeWith(room, hook)
			if err != nil {
				return "", err
			}
			if err := checkSize(room, size-alone); err != nil {
				return "", err
			}
			added = fmt.Sprintf("%.2f MB", megabytes(size-alone))
		}
		if reason, ok := needs[room]; ok {
			fmt.Fprintf(&over, "- `builtin/%s` needs %s.\n", room, reason)
		}
		standard, err := standardOf(room)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&table, "| `builtin/%s` | %s | %s | %s | %s |\n", room, hook, strings.Join(libraries, ", "),
			strings.Join(standard, ", "), added)
	}
	fmt.Fprintf(&table, "\nA hook adds at most %.1f MB, except in the rooms that need something large:\n\n%s",
		megabytes(maxAdded), over.String())
	table.WriteString("\nThe large standard packages are those that `generated/agent` alone does not link:\n\n")
	for _, p := range large {
		size, err := linkedSize(p.path, p.call)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&table, "- `%s` adds %.1f MB; %s\n", p.path, megabytes(size-alone), p.use)
	}
	size, err := linkedSize("encoding/json", "fmt.Println(json.Unmarshal(nil, nil))")
	if err != nil {
		return "", err
	}
	fmt.Fprintf(&table, "\nHooks that read JSON, such as the arguments of a call, link its decoder: %.1f MB.",
		megabytes(size-alone))
	table.WriteString("\n\n")
	return table.String(), nil
}

// maxAdded is the size in bytes that one hook of a room may add to a program.
const maxAdded = 500_000

// needs has the rooms whose hook adds more, and the reason. Without it the hook would not work, or not be safe.
var needs = map[string]string{
	"claudecode": "`os/exec` and `regexp`: its settings hold commands, and patterns for names of tools",
	"done":       "jsonschema-go, for AnswerSchema",
	"memory":     "`crypto/sha256`: users whose names are too long for a file never share one",
	"permission": "doublestar and expr: its rules have patterns of paths, and expressions",
	"record":     "`regexp` and `crypto/sha256`: redactors take patterns, and a hash chains the audit log",
	"screen":     "jsonschema-go, for Schema",
	"shell":      "mvdan.cc/sh: a Guard reads commands as a shell does",
	"window":     "`crypto/sha256`: a tool cannot make a result with the recall key of another",
}

// checkSize returns an error if a hook of the room adds more than maxAdded bytes, and needs has no reason.
func checkSize(room string, added int64) error {
	if _, ok := needs[room]; added > maxAdded && !ok {
		return fmt.Errorf("builtin/%s: one hook adds %.2f MB to a program, want at most %.2f; find the package that costs "+
			"so much, or say in needs why the room needs it", room, megabytes(added), megabytes(maxAdded))
	}
	return nil
}

func megabytes(bytes int64) float64 { return float64(bytes) / 1e6 }

// librariesOf returns the modules that the room links, without this one.
func librariesOf(room string) ([]string, error) {
	out, err := command("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", "./builtin/"+room)
	if err != nil {
		return nil, err
	}
	libraries := strings.Fields(out)
	slices.Sort(libraries)
	return slices.DeleteFunc(slices.Compact(libraries), func(path string) bool { return path == module }), nil
}

// large are the standard packages that add 0.1 MB or more to a program, with a call that links them, and the reason why
// a room does.
var large = []struct{ path, call, use string }{
	{"crypto/sha256", "fmt.Println(sha256.Sum256(nil))", "it makes keys and file names that nobody can forge."},
	{"net/url", `fmt.Println(url.PathEscape(""))`, "it escapes the keys of stores, and splits addresses."},
	{"regexp", `fmt.Println(regexp.Compile(""))`, "it runs the program's own patterns, for example those of a redactor."},
	{"os/exec", `fmt.Println(exec.Command("").Run())`, "it starts commands."},
	{"net/http", `fmt.Println(http.Get(""))`, "it calls endpoints."},
}

// standardOf returns the large standard packages that the room links.
func standardOf(room string) (paths []string, err error) {
	linked := func(dir string) ([]string, error) {
		out, err := command("go", "list", "-deps", dir)
		return strings.Fields(out), err
	}
	alone, err := linked("./generated/agent")
	if err != nil {
		return nil, err
	}
	with, err := linked("./builtin/" + room)
	if err != nil {
		return nil, err
	}
	for _, p := range large {
		if slices.Contains(with, p.path) && !slices.Contains(alone, p.path) {
			paths = append(paths, p.path)
		}
	}
	return paths, nil
}

// hookOf returns the hook of the room that its package comment recommends first, or "" if it has none.
func hookOf(room string) (string, error) {
	dir := filepath.Join("builtin", room)
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return "", err
	}
	var hooks []string
	var recommended string
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return "", err
		}
		if _, start, ok := strings.Cut(file.Doc.Text(), "Start with "); ok {
			recommended = start
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv != nil && f.Name.Name == "Bind" {
				receiver := f.Recv.List[0].Type
				if pointer, ok := receiver.(*ast.StarExpr); ok {
					receiver = pointer.X
				}
				if id, ok := receiver.(*ast.Ident); ok && id.IsExported() {
					hooks = append(hooks, id.Name)
				}
			}
		}
	}
	for _, name := range regexp.MustCompile(`\[(\w+)\]`).FindAllStringSubmatch(recommended, -1) {
		if slices.Contains(hooks, name[1]) {
			return name[1], nil
		}
	}
	if len(hooks) == 0 {
		return "", nil
	}
	return slices.Min(hooks), nil
}

// sizeWith returns the size of a program with a hook of the room.
func sizeWith(room, hook string) (int64, error) {
	return linkedSize(module+"/builtin/"+room, fmt.Sprintf("hooks.Use(&%s.%s{})", room, hook))
}

// linkedSize returns the size of a program that fires every point, with a hook of its own. If path is not "", the
// program also imports that package and runs the statement.
func linkedSize(path, statement string) (int64, error) {
	dir, err := os.MkdirTemp("", "rooms-*")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	imported := ""
	if path != "" {
		imported = fmt.Sprintf("import %q\n", path)
	}
	text := `package main

import "context"
import "fmt"
import "` + module + `/generated/agent"
` + imported + `
type own struct{}

func (own) Bind(h *agent.Hooks) { h.OnRunEnd.Add(own{}) }

func (own) OnRunEnd(context.Context, *agent.Run, agent.AgentResult) error { return nil }

func main() {
	hooks := new(agent.Hooks)
	hooks.Use(own{})
	` + statement + `
	run := agent.NewRun(&agent.Env{})
	for _, p := range hooks.Points() {
		fmt.Println(p.Fire(context.Background(), run, p.New()))
	}
}
`
	source, program := filepath.Join(dir, "main.go"), filepath.Join(dir, "program")
	if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
		return 0, err
	}
	if _, err := command("go", "build", "-o", program, source); err != nil {
		return 0, err
	}
	info, err := os.Stat(program)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// command runs a command and returns its output.
func command(argv ...string) (string, error) {
	out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", strings.Join(argv, " "), err, out)
	}
	return string(out), nil
}

package main

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// rooms returns the table of the packages of builtin: the libraries and the large standard packages that each links,
// and the size that one of its hooks adds to a program. It returns an error if a hook adds more than maxAdded and needs
// has no reason.
func rooms(m meter) (string, error) {
	docs, err := filepath.Glob("builtin/*/doc.go")
	if err != nil {
		return "", err
	}
	formats, err := filepath.Glob("builtin/declared/*/doc.go")
	if err != nil {
		return "", err
	}
	docs = append(docs, formats...)
	if len(docs) == 0 {
		return "", errors.New("builtin has no rooms: run this from the root of the repository")
	}
	alone, err := m.firing("", "")
	if err != nil {
		return "", err
	}
	_, plain, err := linked("./generated/agent")
	if err != nil {
		return "", err
	}
	var table, over strings.Builder
	fmt.Fprintf(&table, "%s. A program with `generated/agent` alone has %s.\n\n", m.made("rooms"),
		m.figure("%.1f MB", megabytes(alone)))
	table.WriteString("| room | hook | libraries | large standard packages | it adds |\n|---|---|---|---|---:|\n")
	for _, doc := range docs {
		room := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(doc)), "builtin/")
		libraries, standard, err := linked("./builtin/" + room)
		if err != nil {
			return "", err
		}
		hook, err := hookOf(room)
		if err != nil {
			return "", err
		}
		added := ""
		if hook != "" {
			size, err := m.sizeWith(room, hook)
			if err != nil {
				return "", err
			}
			if err := checkSize(room, size-alone); err != nil {
				return "", err
			}
			added = m.figure("%.2f MB", megabytes(size-alone))
		}
		if reason, ok := needs[room]; ok {
			fmt.Fprintf(&over, "- `builtin/%s` needs %s.\n", room, reason)
		}
		standard = slices.DeleteFunc(standard, func(path string) bool { return slices.Contains(plain, path) })
		fmt.Fprintf(&table, "| `builtin/%s` | %s | %s | %s | %s |\n", room, hook, strings.Join(libraries, ", "),
			strings.Join(standard, ", "), added)
	}
	fmt.Fprintf(&table, "\nA hook adds at most %.1f MB, except in the rooms that need something large:\n\n%s",
		megabytes(maxAdded), over.String())
	table.WriteString("\nThe large standard packages are those that `generated/agent` alone does not link:\n\n")
	for _, p := range large {
		size, err := m.firing(p.path, p.call)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&table, "- `%s` adds %s; %s\n", p.path, m.figure("%.1f MB", megabytes(size-alone)), p.use)
	}
	size, err := m.firing("encoding/json", "fmt.Println(json.Unmarshal(nil, nil))")
	if err != nil {
		return "", err
	}
	fmt.Fprintf(&table, "\nHooks that read JSON, such as the arguments of a call, link its decoder: %s.\n\n",
		m.figure("%.1f MB", megabytes(size-alone)))
	return table.String(), nil
}

// maxAdded is the size in bytes that one hook of a room may add to a program.
const maxAdded = 500_000

// needs has the rooms whose hook adds more, and the reason. Without it the hook would not work, or not be safe.
var needs = map[string]string{
	"declared/claudecode": "`os/exec` and `regexp`: settings hold commands, and patterns of tools",
	"answer":              "jsonschema-go, for AnswerSchema",
	"memory":              "`crypto/sha256`: users whose names are too long for a file never share one",
	"observe":             "`regexp` and `crypto/sha256`: what its hooks print is redacted",
	"permission":          "doublestar and expr: its rules have patterns of paths, and expressions",
	"record":              "`regexp` and `crypto/sha256`: redactors take patterns, and a hash chains the audit log",
	"guardrail":           "jsonschema-go, for Schema",
	"shell":               "mvdan.cc/sh: a Guard reads commands as a shell does",
	"window":              "`crypto/sha256`: a tool cannot make a result with the recall key of another",
}

// checkSize returns an error if a hook of the room adds more than maxAdded bytes, and needs has no reason.
func checkSize(room string, added int64) error {
	if _, ok := needs[room]; added > maxAdded && !ok {
		return fmt.Errorf("builtin/%s: one hook adds %.2f MB to a program, want at most %.2f; find the package that costs "+
			"so much, or say in needs why the room needs it", room, megabytes(added), megabytes(maxAdded))
	}
	return nil
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

// linked returns the modules of others and the large standard packages that a package links.
func linked(dir string) (libraries, standard []string, err error) {
	out, err := goIn(".", "list", "-deps", "-f", "{{if .Module}}{{.Module.Path}}{{else}}{{.ImportPath}}{{end}}", dir)
	if err != nil {
		return nil, nil, err
	}
	all := strings.Fields(out)
	for _, p := range large {
		if slices.Contains(all, p.path) {
			standard = append(standard, p.path)
		}
	}
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(path string) bool {
		first, _, _ := strings.Cut(path, "/")
		return path == module || !strings.Contains(first, ".")
	}), standard, nil
}

// hookOf returns the hook of the room that its package comment recommends first, or "" if it has none.
func hookOf(room string) (string, error) {
	hooks, comment, err := hooksOf("builtin/" + room)
	if err != nil || len(hooks) == 0 {
		return "", err
	}
	_, recommended, _ := strings.Cut(comment, "Start with ")
	for _, name := range regexp.MustCompile(`\[(\w+)\]`).FindAllStringSubmatch(recommended, -1) {
		if slices.Contains(hooks, name[1]) {
			return name[1], nil
		}
	}
	return slices.Min(hooks), nil
}

// sizeWith returns the size of a program with a hook of the room, or 0 if nothing is measured.
func (m meter) sizeWith(room, hook string) (int64, error) {
	return m.firing(module+"/builtin/"+room, fmt.Sprintf("hooks.Use(&%s.%s{})", path.Base(room), hook))
}

// firing returns the size of a program that fires every point, with a hook of its own, or 0 if nothing is measured. If
// path is not "", the program also imports that package and runs the statement.
func (m meter) firing(path, statement string) (int64, error) {
	if !m {
		return 0, nil
	}
	p := program{dir: ".", imports: []string{module + "/generated/agent"}, text: `
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
`}
	if path != "" {
		p.imports = append(p.imports, path)
	}
	size, _, err := p.build()
	return size, err
}

// Command contrib measures the cost of each module in contrib that agents import: the modules that it links and the
// size that it adds to a program. It replaces the table in docs/agents/contrib.md, between the comments "costs" and
// "end of costs". Run it from the root of the repository:
//
//	go run ./lab/contrib
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/lab/figures"
)

const (
	module = "github.com/hookgen/hookgen"
	page   = "docs/agents/contrib.md"
)

// A use is a statement of a program that uses a module for the agent a.
type use struct{ name, imports, statement string }

// server is the part of the module nats that runs a server.
const server = "contrib/nats/embedded"

var uses = []use{
	{"eino", "loop/adapt", "fmt.Println(eino.Model(&adapt.Host{}, nil), eino.Tools(&adapt.Host{}))"},
	{"langchaingo", "loop/adapt", "fmt.Println(langchaingo.Model(&adapt.Host{}, nil), langchaingo.Tools(&adapt.Host{}))"},
	{"mcp", "", `server, err := mcp.Connect(ctx, "files", mcp.Command{}, mcp.Options{})
	fmt.Println(err)
	a.Tools = server.Tools()`},
	{"nats", "builtin/state", `conn, err := nats.Connect("nats://localhost")
	fmt.Println(err)
	bucket, err := conn.Bucket(ctx, "agents", nats.Limits{})
	fmt.Println(err)
	a.Hooks.Use(&state.Persist{Store: nats.Sessions{Bucket: bucket}})`},
	{"nats", server, `s, err := embedded.Start("data")
	fmt.Println(err)
	conn, err := nats.Connect(s.URL())
	fmt.Println(conn, err)`},
	{"otel", "", "a.Hooks.Use(&otel.Telemetry{})"},
	{"sqlite", "builtin/state", `db, err := sqlite.Open("agent.db", sqlite.Options{})
	fmt.Println(err)
	a.Hooks.Use(&state.Persist{Store: sqlite.Sessions{DB: db}})`},
	{"tiktoken", "", `counter, err := tiktoken.ForModel("gpt-5-mini")
	fmt.Println(err)
	a.Tokens = counter`},
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "contrib:", err)
		os.Exit(1)
	}
}

func run() error {
	table, err := measure()
	if err != nil {
		return err
	}
	return figures.ReplacePart(page, "costs", table)
}

// measure returns the table.
func measure() (string, error) {
	alone, err := build(use{})
	if err != nil {
		return "", err
	}
	var table strings.Builder
	fmt.Fprintf(&table, "\nMade by `go run ./lab/contrib` on %s/%s with %s. A program with package `loop` alone has "+
		"%.1f MB and links %s.\n\n",
		runtime.GOOS, runtime.GOARCH, runtime.Version(), alone.megabytes, strings.Join(alone.modules, ", "))
	table.WriteString("| module | it adds | modules | their names |\n|---|---:|---:|---|\n")
	for _, u := range uses {
		p, err := build(u)
		if err != nil {
			return "", err
		}
		added := slices.DeleteFunc(p.modules, func(path string) bool { return slices.Contains(alone.modules, path) })
		with := ""
		if u.imports == server {
			with = " with a server"
		}
		fmt.Fprintf(&table, "| [%s](../../contrib/%s/README.md)%s | %.1f MB | %d | %s |\n",
			u.name, u.name, with, p.megabytes-alone.megabytes, len(added), strings.Join(added, ", "))
	}
	table.WriteString("\n")
	return table.String(), nil
}

// A program is a program with its size and the modules of others that it links.
type program struct {
	megabytes float64
	modules   []string
}

// build builds an agent that uses a module of contrib, or none if the name is "".
func build(u use) (program, error) {
	dir, err := os.MkdirTemp("", "contrib-*")
	if err != nil {
		return program{}, err
	}
	defer os.RemoveAll(dir)
	imports := ""
	if u.name != "" {
		imports = fmt.Sprintf("import %q\n", module+"/contrib/"+u.name)
	}
	if u.imports != "" {
		imports += fmt.Sprintf("import %q\n", module+"/"+u.imports)
	}
	text := `package main

import "context"
import "fmt"
import "` + module + `/generated/agent"
import "` + module + `/loop"
` + imports + `
type model struct{}

func (model) Generate(context.Context, agent.LLMRequest) (agent.LLMResponse, error) {
	return agent.LLMResponse{}, nil
}

func main() {
	ctx := context.Background()
	a := &loop.Agent{Model: model{}, Hooks: new(agent.Hooks)}
	` + u.statement + `
	fmt.Println(a.Run(ctx, "task"))
}
`
	if err := writeModule(dir, u.name, text); err != nil {
		return program{}, err
	}
	binary := filepath.Join(dir, "program")
	if _, err := goIn(dir, "build", "-o", binary, "."); err != nil {
		return program{}, err
	}
	info, err := os.Stat(binary)
	if err != nil {
		return program{}, err
	}
	out, err := goIn(dir, "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", ".")
	if err != nil {
		return program{}, err
	}
	modules := strings.Fields(out)
	slices.Sort(modules)
	modules = slices.DeleteFunc(slices.Compact(modules), func(path string) bool {
		return path == "cost" || path == module || strings.HasPrefix(path, module+"/")
	})
	return program{float64(info.Size()) / 1e6, modules}, nil
}

// writeModule makes a module in dir that requires this one and a module of contrib, in the versions of those.
func writeModule(dir, name, program string) error {
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	mod := "module cost\n\ngo 1.26.0\n"
	var sums []byte
	for _, part := range []string{"", "contrib/" + name} {
		if part == "contrib/" {
			continue
		}
		path, folder := module, filepath.Join(root, filepath.FromSlash(part))
		if part != "" {
			path += "/" + part
		}
		mod += fmt.Sprintf("\nrequire %s v0.0.0\n\nreplace %[1]s => %q\n", path, folder)
		more, err := os.ReadFile(filepath.Join(folder, "go.sum"))
		if err != nil {
			return err
		}
		sums = append(sums, more...)
	}
	for file, text := range map[string]string{"go.mod": mod, "go.sum": string(sums), "main.go": program} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// goIn runs a go command in a directory.
func goIn(dir string, args ...string) (string, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
	var messages strings.Builder
	cmd.Stderr = &messages
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, messages.String())
	}
	return string(out), nil
}

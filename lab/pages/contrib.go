package main

import (
	"fmt"
	"slices"
	"strings"
)

// contrib returns the table of the modules in contrib that agents import: the modules that each links, and the size
// that it adds to a program.
func contrib(m meter) (string, error) {
	alone, known, err := m.agent(use{})
	if err != nil {
		return "", err
	}
	var table strings.Builder
	fmt.Fprintf(&table, "%s. A program with package `loop` alone has %s and links %s.\n\n", m.made("contrib"),
		m.figure("%.1f MB", megabytes(alone)), m.figure("%s", strings.Join(known, ", ")))
	table.WriteString("| module | it adds | modules | their names |\n|---|---:|---:|---|\n")
	for _, u := range uses {
		size, modules, err := m.agent(u)
		if err != nil {
			return "", err
		}
		added := slices.DeleteFunc(modules, func(path string) bool { return slices.Contains(known, path) })
		with := ""
		if u.imports == server {
			with = " with a server"
		}
		fmt.Fprintf(&table, "| [%s](../../contrib/%s/README.md)%s | %s | %s | %s |\n", u.name, u.name, with,
			m.figure("%.1f MB", megabytes(size-alone)), m.figure("%d", len(added)),
			m.figure("%s", strings.Join(added, ", ")))
	}
	table.WriteString("\n")
	return table.String(), nil
}

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
	{"nats", "builtin/session", `conn, err := nats.Connect("nats://localhost")
	fmt.Println(err)
	bucket, err := conn.Bucket(ctx, "agents", nats.Limits{})
	fmt.Println(err)
	a.Hooks.Use(&session.Persist{Store: session.Sessions{Store: nats.Store{Bucket: bucket}}})`},
	{"nats", server, `s, err := embedded.Start("data")
	fmt.Println(err)
	conn, err := nats.Connect(s.URL())
	fmt.Println(conn, err)`},
	{"otel", "", "a.Hooks.Use(&otel.Telemetry{})"},
	{"sqlite", "builtin/session", `db, err := sqlite.Open("agent.db", sqlite.Options{})
	fmt.Println(err)
	a.Hooks.Use(&session.Persist{Store: sqlite.Sessions{DB: db}})`},
	{"temporal", "loop/fleet", `fmt.Println((&temporal.Worker{Fleet: &fleet.Worker{}}).Run(ctx))`},
	{"tiktoken", "", `counter, err := tiktoken.ForModel("gpt-5-mini")
	fmt.Println(err)
	a.Tokens = counter`},
	{"wasm", "", `caller, err := wasm.New(nil)
	fmt.Println(err)
	remote, err := agent.Remote(ctx, caller)
	fmt.Println(err)
	a.Hooks.Use(remote)`},
}

// agent returns the size of an agent that uses a module of contrib, or none if the name is "", and the modules of
// others that it links. It returns nothing if nothing is measured.
func (m meter) agent(u use) (size int64, modules []string, err error) {
	if !m {
		return 0, nil, nil
	}
	p := program{dir: "contrib/" + u.name, imports: []string{module + "/generated/agent", module + "/loop"}, text: `
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
`}
	if u.name == "" {
		p.dir = "."
	} else {
		p.imports = append(p.imports, module+"/contrib/"+u.name)
	}
	if u.imports != "" {
		p.imports = append(p.imports, module+"/"+u.imports)
	}
	return p.build()
}

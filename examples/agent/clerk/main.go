// Command clerk pays bills with real parts: a model on a server, the tools of an MCP server, and a store in a file. A
// person approves each payment, perhaps tomorrow and in another process:
//
//	clerk -url http://localhost:11434/v1 -model qwen3 "Pay the rent of 1200 euros."
//	clerk -url http://localhost:11434/v1 -model qwen3 -approve ID
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hookgen/hookgen/builtin/permission"
	"github.com/hookgen/hookgen/builtin/retry"
	"github.com/hookgen/hookgen/builtin/session"
	"github.com/hookgen/hookgen/contrib/mcp"
	"github.com/hookgen/hookgen/contrib/otel"
	"github.com/hookgen/hookgen/contrib/sqlite"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/openai"
)

// A receipt is the answer of the agent. The model gets the JSON Schema of the type.
type receipt struct {
	Number string `json:"number" jsonschema:"as the bank wrote it"`
	Euros  int    `json:"euros"`
}

func main() {
	url := flag.String("url", openai.DefaultURL, "the `ADDRESS` of the model's server, up to the version")
	model := flag.String("model", "gpt-5-mini", "the `NAME` of the model")
	file := flag.String("store", "clerk.db", "the `FILE` of conversations and suspended runs")
	approve := flag.String("approve", "", "continue the suspended run `ID`, and approve its calls")
	flag.Parse()
	if err := run(context.Background(), *url, *model, *file, *approve, flag.Arg(0)); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, url, model, file, approve, task string) (err error) {
	db, err := sqlite.Open(file, sqlite.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()

	bank, err := mcp.Connect(ctx, "bank", mcp.InProcess{Server: newBank()}, mcp.Options{})
	if err != nil {
		return err
	}
	defer bank.Close()

	hooks := new(agent.Hooks)
	hooks.Use(&retry.Model{}) // waits if the server is overloaded
	hooks.Use(&permission.Confirm{Tools: []string{"bank__pay"}})
	hooks.Use(&session.Persist{Store: sqlite.Sessions{DB: db}}) // the next task continues the conversation
	hooks.Use(&otel.Telemetry{Provider: "openai"})              // to the exporters of your program, if it has any
	clerk := &loop.Agent{
		Name:         "clerk",
		Instructions: "You pay bills.",
		Model: &openai.Model{
			URL: url, Name: model, Key: func() string { return os.Getenv("OPENAI_API_KEY") },
		},
		Tools:    bank.Tools(),
		Hooks:    hooks,
		Approver: permission.Later{},
		Runs:     session.Runs{Store: sqlite.Store{DB: db}},
	}
	req := loop.Request{Task: task, Conversation: "bills", Events: show}
	if approve != "" {
		if req, err = approved(ctx, clerk.Runs, approve); err != nil {
			return err
		}
	}
	return work(ctx, clerk, req)
}

// work runs a request. It prints the receipt, or the questions of a run that waits for a person.
func work(ctx context.Context, clerk *loop.Agent, req loop.Request) error {
	got, result, err := loop.RunAs[receipt](ctx, clerk, req)
	if errors.Is(err, loop.ErrSuspended) {
		for _, q := range result.Suspended.Questions {
			fmt.Printf("may it call %s %s? -approve %s\n", q.Call.Name, q.Call.Args, result.Suspended.Run)
		}
		return nil
	}
	if err == nil {
		fmt.Printf("receipt %s, %d euros\n", got.Number, got.Euros)
	}
	return err
}

// approved returns the request that continues a stored run with the approval of all its calls.
func approved(ctx context.Context, runs agent.RunStore, run string) (loop.Request, error) {
	req := loop.Request{ID: run, Events: show}
	stored, err := runs.List(ctx)
	for _, s := range stored {
		for _, q := range s.Questions {
			if s.Run == run {
				req.Answers = append(req.Answers, loop.AnswerTo(q, agent.Approval{Allow: true, By: os.Getenv("USER")}))
			}
		}
	}
	if err == nil && len(req.Answers) == 0 {
		err = fmt.Errorf("the run %q does not wait", run)
	}
	return req, err
}

// show prints the events of a run as they happen. Those of the kind chunk have the pieces of replies.
func show(e loop.Event) {
	if e.Kind == loop.EventCalling {
		fmt.Printf("calling %s %s\n", e.Call.Name, e.Call.Args)
	}
}

// newBank returns an MCP server in this program. For a server of somebody else use mcp.Command or mcp.HTTP.
func newBank() *sdk.Server {
	type bill struct {
		Euros int `json:"euros"`
	}
	server := sdk.NewServer(&sdk.Implementation{Name: "bank", Version: "v1"}, nil)
	sdk.AddTool(server, &sdk.Tool{Name: "pay", Description: "Pays a bill and returns a receipt."}, func(
		_ context.Context, _ *sdk.CallToolRequest, b bill,
	) (*sdk.CallToolResult, receipt, error) {
		return nil, receipt{Number: "A1", Euros: b.Euros}, nil
	})
	return server
}

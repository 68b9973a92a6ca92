// Quickstart runs an agent and adds two fire points of its own to those of the agent. It is a separate module, as your
// program would be.
//
// Run it with
//
//	go run .
//
// and with -explain to see every point and every hook, in order.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/hookgen/hookgen/builtin/repair"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"

	"example.com/quickstart/newsroom"
)

func main() {
	explain := flag.Bool("explain", false, "print every point and its hooks instead")
	flag.Parse()
	if err := run(os.Stdout, *explain); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run lets an agent write three articles.
func run(out io.Writer, explain bool) error {
	hooks := newHooks(out)
	if explain {
		return hooks.Explain(out)
	}
	for _, task := range []string{"Tides", "Rumours", "Weather"} {
		writer := &loop.Agent{
			Name:  "writer",
			Model: scripts[task](),
			Tools: []agent.Tool{archive()},
			Hooks: &hooks.Agent, // the agent fires its own points; the desk fires those of the newsroom
		}
		result, err := writer.Run(context.Background(), task)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "[%s: %s after %d tool calls, %q]\n\n", task, result.Stop.Cause, len(result.Calls), result.Reply)
	}
	return nil
}

// newHooks registers the hooks.
func newHooks(out io.Writer) *newsroom.Hooks {
	hooks := new(newsroom.Hooks)

	// A hook that was written for the agent's points works here unchanged.
	hooks.Agent.Use(&repair.LoopDetector{})

	// Our own hooks use our points, the agent's, or both.
	hooks.Use(&newsroom.Desk{Hooks: hooks, Out: out})
	hooks.Use(&newsroom.Sources{Tool: "archive", Min: 2})
	hooks.Use(newsroom.Byline{Name: "the writer"})
	return hooks
}

// query holds the arguments of the tool.
type query struct {
	Text string `json:"text"`
}

// archive returns the tool with which the agent reads sources.
func archive() agent.Tool {
	return loop.Tool("archive", "Looks something up in the archive.", func(ctx context.Context, q query) (string, error) {
		return "everything in the archive about " + q.Text, nil
	})
}

// scripts play the model, so that the program runs offline. Replace them with your model.
var scripts = map[string]func() agent.Model{
	// Two sources, then the article: it is published.
	"Tides": func() agent.Model {
		return looptest.NewScript(
			looptest.Calls(looptest.Call("archive", query{"moon"}), looptest.Call("archive", query{"sun"})),
			looptest.Reply("The moon pulls harder than the sun."))
	},
	// No source: Sources withholds it.
	"Rumours": func() agent.Model {
		return looptest.NewScript(looptest.Reply("Somebody said that somebody said so."))
	},
	// The same question for ever: LoopDetector ends the turn.
	"Weather": func() agent.Model {
		return looptest.NewScript(
			looptest.Call("archive", query{"rain"}), looptest.Call("archive", query{"rain"}),
			looptest.Call("archive", query{"rain"}),
			looptest.Reply("Rain, I think."))
	},
}

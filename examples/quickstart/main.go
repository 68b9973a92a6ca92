// Quickstart is a program with fire points of its own beside those of the agent that it runs. It is a module of
// its own, as yours would be.
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

	"github.com/hookgen/hookgen/builtin"
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
			Hooks: &hooks.Agent, // an agent fires its points; the newsroom's are none of its business
		}
		result, err := writer.Run(context.Background(), task)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "[%s: %s after %d tool calls, %q]\n\n", task, result.Stop.Cause, len(result.Calls), result.Reply)
	}
	return nil
}

// newHooks puts the hooks together.
func newHooks(out io.Writer) *newsroom.Hooks {
	hooks := new(newsroom.Hooks)

	// A hook that was written for the agent's points serves here unchanged.
	hooks.Agent.Use(&builtin.LoopDetector{})

	// Our own stand at our points, at the agent's, or at both.
	hooks.Use(&newsroom.Desk{Hooks: hooks, Out: out})
	hooks.Use(&newsroom.Sources{Tool: "archive", Min: 2})
	hooks.Use(newsroom.Byline{Name: "the writer"})
	return hooks
}

// query is what the tool takes.
type query struct {
	Text string `json:"text"`
}

// archive is the tool that the agent reads sources with.
func archive() agent.Tool {
	return loop.Tool("archive", "Looks something up in the archive.", func(ctx context.Context, q query) (string, error) {
		return "what the archive has on " + q.Text, nil
	})
}

// scripts play the model, so that this runs without one: put yours in their place.
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
			looptest.Call("archive", query{"rain"}), looptest.Call("archive", query{"rain"}), looptest.Call("archive", query{"rain"}),
			looptest.Reply("Rain, I think."))
	},
}

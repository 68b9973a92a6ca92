package newsroom

import (
	"context"
	"fmt"
	"io"

	"github.com/hookgen/hookgen/generated/agent"
)

// A Desk publishes the result of a run as an article. To the agent it is a hook; to the hooks of BeforePublish and
// OnPublished it is the program that fires them.
type Desk struct {
	Hooks *Hooks    // the program's own; not those that Bind receives
	Out   io.Writer // receives the published articles
}

// Bind adds the desk to the agent's point that fires when the result of a run is complete.
func (d *Desk) Bind(h *Hooks) { h.Agent.BeforeRunEnd.Add(d) }

// BeforeRunEnd publishes the reply of a run, or replaces it with a notice if a hook withholds the article.
func (d *Desk) BeforeRunEnd(
	ctx context.Context, run *Run, result agent.AgentResult,
) (agent.BeforeRunEndOutcome, error) {
	if result.Forced() {
		return nil, nil // a limit or a failure ended the run, so that there is no article
	}
	article := Article{Title: result.Task, Text: result.Reply}
	exit, by, err := d.Hooks.BeforePublish.FireBy(ctx, run, &article)
	if err != nil {
		return nil, err // a hook failed, so nothing is published
	}
	withheld := MatchBeforePublish(exit,
		func() string { return "" },
		func(w Withhold) string { return fmt.Sprintf("%s (%s)", w.Reason, by.Hook) },
	)
	if withheld != "" {
		result.Reply = "Not published: " + withheld + "."
		return agent.ReplaceBeforeRunEnd(result, withheld), nil
	}
	if _, err := fmt.Fprintf(d.Out, "%s\n%s\n", article.Title, article.Text); err != nil {
		return nil, fmt.Errorf("cannot publish %q: %w", article.Title, err)
	}
	d.Hooks.OnPublished.Fire(ctx, run, article)
	result.Reply = article.Text
	return agent.ReplaceBeforeRunEnd(result, "published"), nil
}

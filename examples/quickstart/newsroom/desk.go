package newsroom

import (
	"context"
	"fmt"
	"io"

	"github.com/hookgen/hookgen/generated/agent"
)

// A Desk makes an article of what a run comes to, and publishes it. To the agent it is a hook; to the hooks of
// BeforePublish and OnPublished it is the program that fires them.
type Desk struct {
	Hooks *Hooks    // that it fires
	Out   io.Writer // that it publishes on
}

// Bind adds the desk to the agent's point where the result of a run is complete.
func (d *Desk) Bind(h *Hooks) { h.Agent.BeforeRunEnd.Add(d) }

// BeforeRunEnd publishes the reply of a run. The result of one that was withheld says so instead.
func (d *Desk) BeforeRunEnd(ctx context.Context, run *Run, result agent.AgentResult) (agent.BeforeRunEndOutcome, error) {
	if result.Forced() {
		return nil, nil // the agent was stopped: there is no article
	}
	article := Article{Title: result.Task, Text: result.Reply}
	exit, err := d.Hooks.BeforePublish.Fire(ctx, run, &article)
	if err != nil {
		return nil, err // a hook failed, so nothing is published
	}
	switch exit := exit.(type) {
	case Withhold:
		result.Reply = "Not published: " + exit.Reason + "."
		return agent.ReplaceBeforeRunEnd(result, exit.Reason), nil
	}
	if _, err := fmt.Fprintf(d.Out, "%s\n%s\n", article.Title, article.Text); err != nil {
		return nil, fmt.Errorf("cannot publish %q: %w", article.Title, err)
	}
	d.Hooks.OnPublished.Fire(ctx, run, article)
	result.Reply = article.Text
	return agent.ReplaceBeforeRunEnd(result, "published"), nil
}

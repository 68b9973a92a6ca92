// Package newsroom lets an agent write articles, and decides which of them are published.
//
// Its fire points are those of an agent's run and two of its own: see [Points]. [Desk] fires its own points; [Sources]
// and [Byline] are hooks.
package newsroom

import (
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/spec"
)

//go:generate go tool hookgen

// Points are the fire points of an agent's run, taken over as they are, and those that a newsroom needs beside them.
//
//hookgen:points
type Points interface {
	agent.Points

	// BeforePublish fires when a run has come to an article, before anybody can read it. Hooks may edit the
	// article or withhold it. A failing hook withholds it too.
	BeforePublish(Article) (spec.Replace, Withhold, spec.FailClosed)

	// OnPublished fires after an article was published.
	OnPublished(Article)
}

// An Article is what an agent wrote.
type Article struct {
	Title string
	Text  string
}

// Withhold keeps an article from being published.
type Withhold struct {
	Reason string
}

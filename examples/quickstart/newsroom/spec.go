// Package newsroom lets an agent write articles and decides which of them are published.
//
// Its fire points are those of an agent's run and two of its own, declared in [Points]. [Desk] fires the two;
// [Sources] and [Byline] are hooks.
package newsroom

import (
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/spec"
)

//go:generate go tool hookgen

// Points are the fire points of an agent's run, and two more for a newsroom.
//
//hookgen:points
type Points interface {
	agent.Points

	// BeforePublish fires after a run has produced an article, before anybody can read it. Hooks may edit the
	// article or withhold it. A failing hook withholds it too.
	BeforePublish(Article) (spec.Replace, Withhold, spec.FailClosed)

	// OnPublished fires after an article was published.
	OnPublished(Article)
}

// An Article is the text of one finished run.
type Article struct {
	Title string
	Text  string
}

// Withhold keeps an article from being published.
type Withhold struct {
	Reason string
}

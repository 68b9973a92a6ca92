package newsroom

import (
	"context"
	"fmt"

	"github.com/hookgen/hookgen/hookkit"
)

// Byline ends each article with a name.
type Byline struct {
	Name string
}

// Bind adds the hook to its point.
func (b Byline) Bind(h *Hooks) { h.BeforePublish.Add(b, hookkit.Priority(hookkit.Mutation)) }

// BeforePublish adds the name at the end of the article.
func (b Byline) BeforePublish(ctx context.Context, run *Run, article Article) (BeforePublishOutcome, error) {
	article.Text = fmt.Sprintf("%s\n-- %s", article.Text, b.Name)
	return ReplaceBeforePublish(article, "signed"), nil
}

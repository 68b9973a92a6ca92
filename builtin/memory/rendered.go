package memory

import (
	"strings"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// rendered is a text for the prompts of a run that is made once, for the first of them, so that a run has the
// same text from its beginning to its end.
type rendered struct {
	texts hookkit.PerRun[*string]
}

// under returns the run's text under a header, nothing if the text is blank. A text that could not be made is
// tried again for the next prompt.
func (r *rendered) under(run *agent.Run, header string, text func() (string, error)) ([]string, error) {
	var known *string
	r.texts.Do(run, func(t **string) { known = *t })
	if known == nil {
		made, err := text()
		if err != nil {
			return nil, err
		}
		if strings.TrimSpace(made) != "" {
			made = header + "\n" + made
		} else {
			made = ""
		}
		known = &made
		r.texts.Do(run, func(t **string) { *t = known })
	}
	if *known == "" {
		return nil, nil
	}
	return []string{*known}, nil
}

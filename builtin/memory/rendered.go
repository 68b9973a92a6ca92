package memory

import (
	"strings"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// rendered is a text that is made for the first prompt of a run and then reused, so that prompts keep a common prefix.
type rendered struct {
	texts hookkit.PerRun[*string]
}

// under returns the run's text below a header, or nothing if the text is blank. If text fails, the next prompt tries
// again.
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

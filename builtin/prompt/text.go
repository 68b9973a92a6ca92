package prompt

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/textfile"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// Static adds the same text to every prompt, for example the conventions of a project. The text follows the agent's
// instructions in the system message, which providers cache.
//
// The text is either Text or the content of the file at Path, which Bind reads once. A blank text adds nothing. Static
// rewrites the Instructions at OnRunStart, has no state and is safe for concurrent use. Bind panics unless exactly one
// of Text and Path is set, and on a file that is unreadable or larger than 1 MiB.
type Static struct {
	Text string
	Path string
}

// maxStaticFile bounds the size of the file in bytes.
const maxStaticFile = 1 << 20

// Bind adds the hook to OnRunStart.
func (b *Static) Bind(h *agent.Hooks) {
	text, err := b.read()
	kit.MustConfig("prompt.Static", err)
	text = strings.Trim(strings.ToValidUTF8(text, "\ufffd"), "\r\n")
	h.OnRunStart.Add(staticText(text), hookkit.Named("prompt.Static"))
}

func (b *Static) read() (string, error) {
	switch {
	case b.Text != "" && b.Path != "":
		return "", errors.New("Text and Path are both set; set one of them")
	case b.Path == "" && b.Text == "":
		return "", errors.New("neither Text nor Path is set; set one of them")
	case b.Path == "":
		return b.Text, nil
	}
	data, err := textfile.Read(b.Path, maxStaticFile)
	if err != nil {
		return "", fmt.Errorf("Path cannot be read: %w", err)
	}
	return string(data), nil
}

type staticText string

// OnRunStart adds the text to the instructions.
func (text staticText) OnRunStart(
	_ context.Context, _ *agent.Run, start agent.RunStart,
) (agent.OnRunStartOutcome, error) {
	if strings.TrimSpace(string(text)) == "" {
		return nil, nil
	}
	start.Instructions = strings.TrimPrefix(start.Instructions+"\n\n"+string(text), "\n\n")
	return agent.ReplaceOnRunStart(start, "static text"), nil
}

// Staged adds a text to the prompts of particular steps.
//
// For example, map[int]string{1: "Make a plan first."} adds a text to the first prompt only. A step without a text, or
// with a blank one, adds nothing. Staged contributes to Briefing, has no state and is safe for concurrent use. Bind
// panics on a step number less than 1.
type Staged struct {
	Stages map[int]string // texts by step number, from 1; do not change it while the hook is in use
}

// Bind adds the hook to Briefing.
func (b *Staged) Bind(h *agent.Hooks) {
	for n := range b.Stages {
		if n < 1 {
			kit.MustConfig("prompt.Staged", fmt.Errorf("Stages has a text for step %d; steps are counted from 1", n))
		}
	}
	h.Briefing.Add(b)
}

// Briefing contributes the text of the step.
func (b *Staged) Briefing(_ context.Context, _ *agent.Run, step agent.Step) ([]string, error) {
	if text := b.Stages[step.Number]; strings.TrimSpace(text) != "" {
		return []string{text}, nil
	}
	return nil, nil
}

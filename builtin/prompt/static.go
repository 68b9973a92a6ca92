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

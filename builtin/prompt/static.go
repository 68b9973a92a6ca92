package prompt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// Static puts a text into every prompt.
//
// It contributes to Briefing, in the tier Observability, and has no state. The text is given as Text, or as the
// path of a File, which Bind reads once: exactly one of the two. A text that is blank adds nothing. Both, neither,
// and a file that cannot be read or is larger than 1 MiB panic in Bind.
type Static struct {
	Text string
	File string
}

// maxBriefingFile bounds the file of a Static, in bytes.
const maxBriefingFile = 1 << 20

// Bind adds the hook.
func (b *Static) Bind(h *agent.Hooks) {
	text, err := b.read()
	kit.MustConfig("prompt.Static", err)
	text = strings.Trim(strings.ToValidUTF8(text, "\ufffd"), "\r\n")
	h.Briefing.Add(staticBriefing{text}, hookkit.Named("prompt.Static"))
}

func (b *Static) read() (string, error) {
	switch {
	case b.Text != "" && b.File != "":
		return "", errors.New("Text and File are both set; set one of them")
	case b.File == "" && b.Text == "":
		return "", errors.New("neither Text nor File is set; set one of them")
	case b.File == "":
		return b.Text, nil
	}
	f, err := os.Open(b.File)
	if err != nil {
		return "", fmt.Errorf("File cannot be read: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxBriefingFile+1))
	if err != nil {
		return "", fmt.Errorf("File cannot be read: %w", err)
	}
	if len(data) > maxBriefingFile {
		return "", fmt.Errorf("File %s is larger than %d bytes; name a shorter text", b.File, maxBriefingFile)
	}
	return string(data), nil
}

type staticBriefing struct{ text string }

func (b staticBriefing) Briefing(context.Context, *agent.Run, agent.Step) ([]string, error) {
	if strings.TrimSpace(b.text) == "" {
		return nil, nil
	}
	return []string{b.text}, nil
}

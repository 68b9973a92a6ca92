package record

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/ownerpath"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/redact"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/internal/atomicfile"
	"github.com/hookgen/hookgen/internal/filename"
)

// Summary writes a Markdown page about each conversation, for people: its last messages and its final reply.
//
// For example, the conversation "ticket-7" has the page ticket-7.md in Dir, which each run replaces. If the run has a
// user or a tenant, the page is in a directory of that user, such as acme/ann/ticket-7.md; a missing name is "-".
//
// A page names the run, the user and the tenant. It has at most 2000 characters: the last 12 messages with 180
// characters each, and the reply with 600. If the page is too long, the oldest messages are dropped. Secrets and
// personal data are removed from messages and replies.
//
// A conversation without a name gets a warning in the log instead of a page. Sub-runs are ignored. A failure to write
// is reported as a failure of the hook and does not affect the run.
//
// Summary uses OnRunEnd and does nothing unless Enabled. It has no state and is safe for concurrent use. Bind panics if
// it is Enabled and Dir is empty.
type Summary struct {
	Dir     string
	Enabled bool
	Redact  redact.Redactor
}

const (
	pageMessages = 12
	pageMessage  = 180
	pageReply    = 600
	pageAll      = 2000
)

// Bind adds the hook to OnRunEnd.
func (s *Summary) Bind(h *agent.Hooks) {
	if s.Enabled && s.Dir == "" {
		kit.MustConfig("record.Summary", errors.New("Dir is empty; name the directory to write to"))
	}
	h.OnRunEnd.Add(s, hookkit.Priority(hookkit.Observability))
}

// OnRunEnd writes the page if the hook is enabled.
func (s *Summary) OnRunEnd(ctx context.Context, run *agent.Run, result agent.AgentResult) error {
	if !s.Enabled || run.Parent() != "" {
		return nil
	}
	id := kit.ConversationID(run)
	if id == "" {
		slog.WarnContext(ctx, "record.Summary: the conversation has no name, so there is no summary of it",
			"run", run.ID())
		return nil
	}
	path := filename.Of(id)
	if owner := kit.Owner(run); owner.Tenant != "" || owner.User != "" {
		path = ownerpath.Of(owner)
	}
	if err := atomicfile.Write(filepath.Join(s.Dir, path+".md"), []byte(s.page(run, id, result))); err != nil {
		return fmt.Errorf("the summary of the conversation is not written: %w", err)
	}
	return nil
}

func (s *Summary) page(run *agent.Run, id string, result agent.AgentResult) string {
	title := fmt.Sprintf("# %s, %s\n", s.line(id, 80), kit.Env(run).Now().UTC().Format("2006-01-02 15:04 MST"))
	title += "\n" + shorten.Line(ownerText(run), 400) + "\n"
	reply := ""
	if result.Reply != "" {
		reply = "\n## Final reply\n\n" + s.Redact.CutText(result.Reply, pageReply) + "\n"
	}
	messages := kit.Messages(run)
	if messages == nil {
		messages = result.Messages
	}
	room := pageAll - utf8.RuneCountInString(title+reply) - len("\n## Last messages\n\n")
	var lines []string
	for i := len(messages) - 1; i >= 0 && len(lines) < pageMessages; i-- {
		m := messages[i]
		text := m.Content
		for _, c := range m.ToolCalls {
			text += fmt.Sprintf(" %s(%s)", c.Name, shorten.Runes(string(c.Args), pageMessage))
		}
		if strings.TrimSpace(text) == "" {
			continue
		}
		line := "- " + string(m.Role) + ": " + s.line(text, pageMessage) + "\n"
		if room -= utf8.RuneCountInString(line); room < 0 {
			break
		}
		lines = append([]string{line}, lines...)
	}
	if len(lines) > 0 {
		title += "\n## Last messages\n\n" + strings.Join(lines, "")
	}
	return title + reply
}

// ownerText describes the run of a page and its owner. The title has the conversation.
func ownerText(run *agent.Run) string {
	text, owner := "Run "+run.ID(), kit.Owner(run)
	if owner.User != "" {
		text += " of the user " + owner.User
	}
	if owner.Tenant != "" {
		text += " of the tenant " + owner.Tenant
	}
	return text
}

// line redacts a text and renders it on one line.
func (s *Summary) line(text string, maxRunes int) string {
	return shorten.Line(s.Redact.CutText(text, maxRunes), maxRunes)
}

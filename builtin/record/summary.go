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
	"github.com/hookgen/hookgen/internal/atomicfile"
	"github.com/hookgen/hookgen/internal/filename"
)

// Summary is a [View] that writes a Markdown page about each conversation, for people: its last messages and its final
// reply.
//
// For example, the conversation "ticket-7" has the page ticket-7.md in Dir, which each run replaces. If the run has a
// user or a tenant, the page is in a directory of that user, such as acme/ann/ticket-7.md; a missing name is "-".
//
// A page names the run, the user and the tenant. It has at most 2000 characters: the last 12 messages with 180
// characters each, and the reply with 600. If the page is too long, the oldest messages are dropped. Secrets and
// personal data are removed from messages and replies.
//
// A conversation without a name gets a warning in the log instead of a page. Sub-runs are ignored.
//
// Summary reads OnRunEnd. Bind panics if Dir is empty.
type Summary struct {
	Dir     string
	Redact  redact.Redactor
	OnError func(error) // receives failures to write, concurrently; nil: they are logged

	watch
	failed kit.Reporter
}

const (
	pageMessages = 12
	pageMessage  = 180
	pageReply    = 600
	pageAll      = 2000
)

// Bind adds the view to OnRunEnd.
func (s *Summary) Bind(h *agent.Hooks) {
	if s.Dir == "" {
		kit.MustConfig("record.Summary", errors.New("Dir is empty; name the directory to write to"))
	}
	s.bind(h, "record.Summary", s)
}

func (s *Summary) points() []string { return []string{"OnRunEnd"} }

func (s *Summary) see(ctx context.Context, e event) {
	result, ok := e.payload.(agent.AgentResult)
	if !ok || e.parent != "" {
		return
	}
	if !e.Named() {
		slog.WarnContext(ctx, "record.Summary: the conversation has no name, so there is no summary of it", "run", e.run)
		return
	}
	path := filename.Of(e.Conversation)
	if e.Tenant != "" || e.User != "" {
		path = ownerpath.Of(e.Identity)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := atomicfile.Write(filepath.Join(s.Dir, path+".md"), []byte(s.page(e, result))); err != nil {
		s.failed.Report("record.Summary", s.OnError, fmt.Errorf("the summary of the conversation is not written: %w", err))
	}
}

func (s *Summary) page(e event, result agent.AgentResult) string {
	title := fmt.Sprintf("# %s, %s\n", s.line(e.Conversation, 80), e.at.UTC().Format("2006-01-02 15:04 MST"))
	title += "\n" + shorten.Line(ownerText(e), 400) + "\n"
	reply := ""
	if result.Reply != "" {
		reply = "\n## Final reply\n\n" + s.Redact.CutText(result.Reply, pageReply) + "\n"
	}
	room := pageAll - utf8.RuneCountInString(title+reply) - len("\n## Last messages\n\n")
	var lines []string
	for i := len(result.Messages) - 1; i >= 0 && len(lines) < pageMessages; i-- {
		m := result.Messages[i]
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
func ownerText(e event) string {
	text := "Run " + e.run
	if e.User != "" {
		text += " of the user " + e.User
	}
	if e.Tenant != "" {
		text += " of the tenant " + e.Tenant
	}
	return text
}

// line redacts a text and renders it on one line.
func (s *Summary) line(text string, maxRunes int) string {
	return shorten.Line(s.Redact.CutText(text, maxRunes), maxRunes)
}

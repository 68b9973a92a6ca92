package memory

import (
	"context"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// Notes are free text that agents and people append to. [NotesFile] keeps them in files and [NotesText] in memory.
// Implementations are safe for concurrent use.
//
// Each owner has notes of its own, and there are common notes that everybody may read. A method acts for the run whose
// context it gets, by agentspec.IdentityOf: it appends to the notes of that run's owner, and reads them after the
// common ones. Outside a run it acts on the common notes; there, use agentspec.WithIdentity to act for an owner. The
// notes of a run without a named conversation may be dropped at any time.
type Notes interface {
	// Append adds a text at the end. If the heading is not blank, it precedes the text as "## heading (2006-01-02 15:04)".
	// A blank text without a heading adds nothing. If the notes exceed their bound, the oldest lines are dropped and the
	// line "(earlier notes truncated)" replaces them.
	Append(ctx context.Context, text, heading string) error
	// Tail returns the last lines of the notes, of at most chars characters in total. If the last line alone is longer,
	// Tail returns the end of that line. A negative number returns all notes. Without notes, Tail returns "".
	Tail(ctx context.Context, chars int) (string, error)
}

const (
	notesBound     = 64 << 10 // characters; the default bound
	notesTruncated = "(earlier notes truncated)\n"
	maxHeading     = 200
)

// NotesText holds [Notes] in memory; they are lost when the program ends. The zero value is empty and ready to use. A
// NotesText is safe for concurrent use and must not be copied. Of conversations without a name, it keeps the notes of
// the last 64.
type NotesText struct {
	MaxChars limit.Bound[int] // of the notes of each owner; default 65,536; set it before the first use
	Clock    agent.Clock      // for the times in headings; nil: the system's clock
	Share    share.Scope      // the runs that have notes in common; set it before the first use

	mu      sync.Mutex
	texts   map[agent.Identity]string
	unnamed []agent.Identity // owners in texts without a named conversation, oldest first
}

// Append implements [Notes].
func (n *NotesText) Append(ctx context.Context, text, heading string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return n.appendTo(n.Share.Of(agentspec.IdentityOf(ctx)), text, heading)
}

// Tail implements [Notes].
func (n *NotesText) Tail(ctx context.Context, chars int) (string, error) {
	return tailFor(ctx, n.Share, chars, n.tail)
}

func (n *NotesText) appendTo(owner agent.Identity, text, heading string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.MaxChars.Check("NotesText.MaxChars"); err != nil {
		return err
	}
	old, known := n.texts[owner]
	if n.texts == nil {
		n.texts = make(map[agent.Identity]string)
	}
	n.texts[owner] = boundNotes(old+noteOf(text, heading, n.Clock, old), n.MaxChars.Or(notesBound))
	if known || !isUnnamed(owner) {
		return nil
	}
	if n.unnamed = append(n.unnamed, owner); len(n.unnamed) > maxUnnamed {
		delete(n.texts, n.unnamed[0])
		n.unnamed = n.unnamed[1:]
	}
	return nil
}

func (n *NotesText) tail(owner agent.Identity, chars int) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return strings.TrimSuffix(tailOf(n.texts[owner], chars), "\n"), nil
}

// tailFor returns the last lines of the common notes and of those of the owner for whom ctx acts. Tail returns the last
// lines of the notes of one owner.
func tailFor(
	ctx context.Context, scope share.Scope, chars int, tail func(owner agent.Identity, chars int) (string, error),
) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	owner := scope.Of(agentspec.IdentityOf(ctx))
	own, err := tail(owner, chars)
	if err != nil || owner == (agent.Identity{}) {
		return own, err
	}
	common, err := tail(agent.Identity{}, chars)
	if err != nil || common == "" {
		return own, err
	}
	if own == "" {
		return common, nil
	}
	return strings.TrimSuffix(tailOf(common+"\n"+own+"\n", chars), "\n"), nil
}

// noteOf returns the text to append to notes that end in before.
func noteOf(text, heading string, clock agent.Clock, before string) string {
	text = strings.ToValidUTF8(strings.ReplaceAll(text, "\r\n", "\n"), "\ufffd")
	heading = shorten.Line(heading, maxHeading)
	if strings.TrimSpace(text) == "" {
		text = ""
	} else {
		text = strings.TrimRight(text, "\n") + "\n"
	}
	if heading != "" {
		text = "## " + heading + nowBy(clock).Format(" (2006-01-02 15:04)\n") + text
	}
	switch {
	case text == "" || before == "":
	case !strings.HasSuffix(before, "\n"):
		text = "\n" + text
	case heading != "":
		text = "\n" + text // a blank line before a heading
	}
	return text
}

// boundNotes returns the notes, or their newest part if they exceed the bound.
func boundNotes(notes string, bound int) string {
	if len(notes) <= bound || utf8.RuneCountInString(notes) <= bound {
		return notes
	}
	room := bound - len(notesTruncated)
	if room < 1 {
		return tailOf(notes, bound)
	}
	return notesTruncated + strings.TrimLeft(tailOf(notes, room), "\n")
}

// tailOf returns the end of a text of at most n characters, beginning with a full line if possible. If n is negative,
// it returns the whole text.
func tailOf(text string, n int) string {
	if n < 0 {
		return text
	}
	from := len(text)
	for ; from > 0 && n > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(text[:from])
		from -= size
	}
	if from > 0 && from < len(text) && text[from-1] != '\n' {
		if at := strings.IndexByte(text[from:], '\n'); at >= 0 && from+at+1 < len(text) {
			from += at + 1
		}
	}
	return strings.ToValidUTF8(text[from:], "\ufffd")
}

func nowBy(c agent.Clock) time.Time {
	if c == nil {
		c = agent.SystemClock{}
	}
	return c.Now()
}

package memory

import (
	"context"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/generated/agent"
)

// Notes are free text that agents and people append to. [NotesFile] keeps them in a file and [NotesText] in memory.
// Implementations are safe for concurrent use.
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
// NotesText is safe for concurrent use and must not be copied.
type NotesText struct {
	MaxChars limit.Bound[int] // default 65,536; set it before the first use
	Clock    agent.Clock      // for the times in headings; nil: the system's clock

	mu   sync.Mutex
	text string
}

// Append implements [Notes].
func (n *NotesText) Append(ctx context.Context, text, heading string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.MaxChars.Check("NotesText.MaxChars"); err != nil {
		return err
	}
	n.text = boundNotes(n.text+noteOf(text, heading, n.Clock, n.text), n.MaxChars.Or(notesBound))
	return nil
}

// Tail implements [Notes].
func (n *NotesText) Tail(ctx context.Context, chars int) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return strings.TrimSuffix(tailOf(n.text, chars), "\n"), nil
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

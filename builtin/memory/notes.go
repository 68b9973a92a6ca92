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

// Notes are text that agents and people add to: [NotesFile] keeps them in a file, [NotesText] in memory. Notes are
// safe for concurrent use.
type Notes interface {
	// Append adds a text at the end, under a line "## heading (2006-01-02 15:04)" if the heading is not blank.
	// A blank text without a heading adds nothing. When the notes grow over their bound the newest part stays,
	// from a line border on, under the line "(earlier notes truncated)".
	Append(ctx context.Context, text, heading string) error
	// Tail returns the end of the notes, of at most so many characters, from a line border on; of a last line
	// that is longer, its end. Less than 0 returns all of them. It is empty where there are no notes.
	Tail(ctx context.Context, chars int) (string, error)
}

const (
	notesBound     = 64 << 10 // characters, where nothing else is said
	notesTruncated = "(earlier notes truncated)\n"
	maxHeading     = 200
)

// NotesText are [Notes] that are gone when the program ends. The zero value is empty and ready to use; it must not
// be copied.
type NotesText struct {
	MaxChars limit.Bound[int] // default 65,536
	Clock    agent.Clock      // of the headings; nil: the system's

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

// noteOf is what is added to the notes, which end in before, for a text under a heading.
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

// boundNotes returns the notes, or their newest part if they are over the bound.
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

// tailOf returns the end of a text of at most n characters, from a line border on if there is one; all of it if n
// is less than 0.
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

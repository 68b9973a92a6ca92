package memory

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/hookgen/hookgen/builtin/internal/ownerpath"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/internal/textfile"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/internal/atomicfile"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// Notes are free text that agents and people append to, in plain text files that people may edit. The zero value keeps
// notes in this process until it ends.
//
// Each owner has notes of its own, and there are common notes that everybody may read. A method acts for the run whose
// context it gets, by agentspec.IdentityOf: it appends to the notes of that run's owner, and reads them after the
// common ones. Outside a run it acts on the common notes; there, use agentspec.WithIdentity to act for an owner.
//
// The common notes are in the file itself. Each owner has a file of its own in a directory next to it. For example, the
// notes of the conversation "c" of the user "ann" of the tenant "acme" are in notes.md.d/acme/ann/c.md; a missing name
// is "-". The notes of conversations without a name are only in memory, those of the last 64. The first Append creates
// a file and its directory.
//
// Each Append replaces a file atomically, so that a program that is killed meanwhile leaves whole notes.
//
// Notes are safe for concurrent use, also by several programs that share a file, and must not be copied. For that they
// keep an empty lock file next to each file. A person who edits a file while a program appends to it can lose a note.
type Notes struct {
	Path     string           // of the file; "": in this process
	MaxChars limit.Bound[int] // of the notes of each owner; default 65,536; set it before the first use
	Clock    agent.Clock      // for the times in headings; nil: the system's clock
	Share    share.Scope      // the runs that have notes in common; set it before the first use

	mu    sync.Mutex
	texts inProcess[string]
}

const (
	notesBound     = 64 << 10 // characters; the default bound
	notesTruncated = "(earlier notes truncated)\n"
	maxNotes       = 1 << 30 // bytes of a file
	maxHeading     = 200
)

// Append adds a text at the end. If the heading is not blank, it precedes the text as "## heading (2006-01-02 15:04)".
// A blank text without a heading adds nothing. If the notes exceed their bound, the oldest lines are dropped and the
// line "(earlier notes truncated)" replaces them.
func (n *Notes) Append(ctx context.Context, text, heading string) error {
	if err := errors.Join(ctx.Err(), n.MaxChars.Check("Notes.MaxChars")); err != nil {
		return err
	}
	owner := n.Share.Of(agentspec.IdentityOf(ctx))
	unlock, err := n.lock(owner)
	if err == nil {
		defer unlock()
		err = n.add(owner, text, heading)
	}
	if err != nil {
		return fmt.Errorf("the note could not be written: %w", err)
	}
	return nil
}

// Tail returns the last lines of the notes, of at most chars characters in total. If the last line alone is longer,
// Tail returns the end of that line. A negative number returns all notes. Without notes, Tail returns "".
func (n *Notes) Tail(ctx context.Context, chars int) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	owner := n.Share.Of(agentspec.IdentityOf(ctx))
	own, err := n.tail(owner, chars)
	if err != nil || owner == (agent.Identity{}) {
		return own, err
	}
	common, err := n.tail(agent.Identity{}, chars)
	switch {
	case err != nil || common == "":
		return own, err
	case own == "":
		return common, nil
	}
	return strings.TrimSuffix(tailOf(common+"\n"+own+"\n", chars), "\n"), nil
}

// pathOf returns the path of the notes of an owner, or "" if they are only in memory.
func (n *Notes) pathOf(owner agent.Identity) string {
	if n.Path == "" || isUnnamed(owner) {
		return ""
	}
	if owner == (agent.Identity{}) {
		return n.Path
	}
	return filepath.Join(n.Path+".d", ownerpath.Of(owner)+".md")
}

// lock locks the notes of an owner against other writers.
func (n *Notes) lock(owner agent.Identity) (unlock func(), err error) {
	path := n.pathOf(owner)
	if path == "" {
		n.mu.Lock()
		return n.mu.Unlock, nil
	}
	return atomicfile.LockShared(path)
}

// add adds a note. The caller holds the lock.
func (n *Notes) add(owner agent.Identity, text, heading string) error {
	old, err := n.read(owner)
	note := noteOf(text, heading, n.Clock, old)
	if err != nil || note == "" {
		return err
	}
	whole := boundNotes(old+note, n.MaxChars.Or(notesBound))
	path := n.pathOf(owner)
	if path == "" {
		*n.texts.of(owner) = whole
		return nil
	}
	if to, err := filepath.EvalSymlinks(path); err == nil {
		path = to // keep a symbolic link
	}
	return atomicfile.Write(path, []byte(whole))
}

// read returns all notes of an owner. The caller holds the lock if they are only in memory.
func (n *Notes) read(owner agent.Identity) (string, error) {
	path := n.pathOf(owner)
	if path == "" {
		if kept := n.texts.values[owner]; kept != nil {
			return *kept, nil
		}
		return "", nil
	}
	text, err := textfile.Read(path, maxNotes)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return string(text), err
}

func (n *Notes) tail(owner agent.Identity, chars int) (string, error) {
	if n.pathOf(owner) == "" {
		n.mu.Lock()
		defer n.mu.Unlock()
	}
	text, err := n.read(owner)
	if err != nil {
		return "", fmt.Errorf("the notes cannot be read: %w", err)
	}
	return strings.TrimSuffix(tailOf(text, chars), "\n"), nil
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

package memory

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/hookgen/hookgen/builtin/internal/ownerpath"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
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
// Each Append replaces a file atomically. If MaxChars is limit.None, Append writes only the new note instead. If the
// program is killed during that write, the file may end in an incomplete note; the next note begins on a new line.
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
	if n.here(owner) {
		n.mu.Lock()
		defer n.mu.Unlock()
		old := n.texts.of(owner)
		*old = boundNotes(*old+noteOf(text, heading, n.Clock, *old), n.MaxChars.Or(notesBound))
		return nil
	}
	path := n.pathOf(owner)
	unlock, err := atomicfile.LockShared(path)
	if err == nil {
		err = n.write(path, text, heading)
		unlock()
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

// here reports whether the notes of an owner are only in memory.
func (n *Notes) here(owner agent.Identity) bool { return n.Path == "" || isUnnamed(owner) }

// pathOf returns the path of the notes of an owner.
func (n *Notes) pathOf(owner agent.Identity) string {
	if owner == (agent.Identity{}) {
		return n.Path
	}
	return filepath.Join(n.Path+".d", ownerpath.Of(owner)+".md")
}

func (n *Notes) write(path, text, heading string) error {
	read := n.MaxChars.Or(notesBound) // characters of the old notes
	if n.MaxChars == limit.None {
		read = 1 // to see whether the last line is complete
	}
	old, err := endOf(path, read)
	if err != nil {
		return err
	}
	note := noteOf(text, heading, n.Clock, old)
	if note == "" {
		return nil
	}
	if n.MaxChars != limit.None {
		if to, err := filepath.EvalSymlinks(path); err == nil {
			path = to // keep a symbolic link
		}
		return atomicfile.Write(path, []byte(boundNotes(old+note, n.MaxChars.Or(notesBound))))
	}
	f, _, err := atomicfile.OpenAppend(path)
	if err != nil {
		return err
	}
	_, err = f.WriteString(note)
	return errors.Join(err, f.Close())
}

func (n *Notes) tail(owner agent.Identity, chars int) (text string, err error) {
	if n.here(owner) {
		n.mu.Lock()
		if kept := n.texts.values[owner]; kept != nil {
			text = *kept
		}
		n.mu.Unlock()
	} else if text, err = endOf(n.pathOf(owner), chars); err != nil {
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

// endOf returns the end of a file with more than chars characters, or the whole file if chars is negative. It reads as
// little as possible.
func endOf(path string, chars int) (string, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", &fs.PathError{Op: "read", Path: path, Err: errors.New("not a regular file; name another one")}
	}
	from := int64(0)
	if chars >= 0 {
		from = max(0, info.Size()-4*int64(chars)-4) // a character has at most four bytes
	}
	data, err := io.ReadAll(io.NewSectionReader(f, from, info.Size()-from))
	return string(data), err
}

func nowBy(c agent.Clock) time.Time {
	if c == nil {
		c = agent.SystemClock{}
	}
	return c.Now()
}

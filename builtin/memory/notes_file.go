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

	"github.com/hookgen/hookgen/builtin/internal/ownerpath"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/internal/atomicfile"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// NotesFile holds [Notes] in plain text files, which people may edit. Open it with [OpenNotesFile].
//
// The common notes are in the file itself. Each owner has a file of its own in a directory next to it. For example, the
// notes of the conversation "c" of the user "ann" of the tenant "acme" are in notes.md.d/acme/ann/c.md; a missing name
// is "-". The notes of a conversation without a name are only in memory.
//
// Each Append replaces a file atomically. If MaxChars is limit.None, Append writes only the new note instead. If the
// program is killed during that write, the file may end in an incomplete note; the next note begins on a new line.
//
// A NotesFile is safe for concurrent use, also by several programs that share a file. For that it keeps an empty lock
// file next to each file. A person who edits a file while a program appends to it can lose a note.
type NotesFile struct {
	MaxChars limit.Bound[int] // of the notes of each owner; default 65,536; set it before the first use
	Clock    agent.Clock      // for the times in headings; nil: the system's clock
	Share    share.Scope      // the runs that have notes in common; set it before the first use

	path    string
	unnamed NotesText // of conversations without a name
}

// OpenNotesFile opens the notes in a file. If the file does not exist, the notes are empty, and the first Append
// creates the file and its directory.
func OpenNotesFile(path string) (*NotesFile, error) {
	if path == "" {
		return nil, errors.New("the path of the notes is empty; give one")
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("the notes %s are not a regular file; name another one", path)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the notes cannot be read: %w", err)
	}
	return &NotesFile{path: path}, nil
}

// Append implements [Notes].
func (n *NotesFile) Append(ctx context.Context, text, heading string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return n.appendTo(n.Share.Of(agentspec.IdentityOf(ctx)), text, heading)
}

// Tail implements [Notes].
func (n *NotesFile) Tail(ctx context.Context, chars int) (string, error) {
	return tailFor(ctx, n.Share, chars, n.tail)
}

// pathOf returns the path of the notes of an owner.
func (n *NotesFile) pathOf(owner agent.Identity) string {
	if owner == (agent.Identity{}) {
		return n.path
	}
	return filepath.Join(n.path+".d", ownerpath.Of(owner)+".md")
}

func (n *NotesFile) appendTo(owner agent.Identity, text, heading string) error {
	if isUnnamed(owner) {
		return n.unnamed.appendTo(owner, text, heading)
	}
	path := n.pathOf(owner)
	unlock, err := atomicfile.LockShared(path)
	if err == nil {
		err = n.add(path, text, heading)
		unlock()
	}
	if err != nil {
		return fmt.Errorf("the note could not be written: %w", err)
	}
	return nil
}

func (n *NotesFile) add(path, text, heading string) error {
	if err := n.MaxChars.Check("NotesFile.MaxChars"); err != nil {
		return err
	}
	old, err := endOf(path, n.keeps())
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

// keeps returns the number of characters of the old notes that Append reads.
func (n *NotesFile) keeps() int {
	if n.MaxChars == limit.None {
		return 1 // to see whether the last line is complete
	}
	return n.MaxChars.Or(notesBound)
}

func (n *NotesFile) tail(owner agent.Identity, chars int) (string, error) {
	if isUnnamed(owner) {
		return n.unnamed.tail(owner, chars)
	}
	text, err := endOf(n.pathOf(owner), chars)
	if err != nil {
		return "", fmt.Errorf("the notes cannot be read: %w", err)
	}
	return strings.TrimSuffix(tailOf(text, chars), "\n"), nil
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

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

	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/internal/atomicfile"
)

// NotesFile holds [Notes] in a plain text file, which people may edit. Open it with [OpenNotesFile].
//
// Each Append replaces the file atomically. If MaxChars is limit.None, Append writes only the new note instead. If the
// program is killed during that write, the file may end in an incomplete note; the next note begins on a new line.
//
// A NotesFile is safe for concurrent use, and several NotesFiles of one program may share a file.
type NotesFile struct {
	MaxChars limit.Bound[int] // default 65,536; set it before the first use
	Clock    agent.Clock      // for the times in headings; nil: the system's clock

	path string
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
	defer atomicfile.Lock(n.path)()
	if err := n.add(text, heading); err != nil {
		return fmt.Errorf("the note could not be written: %w", err)
	}
	return nil
}

func (n *NotesFile) add(text, heading string) error {
	if err := n.MaxChars.Check("NotesFile.MaxChars"); err != nil {
		return err
	}
	old, err := n.end(n.keeps())
	if err != nil {
		return err
	}
	note := noteOf(text, heading, n.Clock, old)
	if note == "" {
		return nil
	}
	if n.MaxChars != limit.None {
		path := n.path
		if to, err := filepath.EvalSymlinks(path); err == nil {
			path = to // keep a symbolic link
		}
		return atomicfile.Write(path, []byte(boundNotes(old+note, n.MaxChars.Or(notesBound))))
	}
	f, _, err := atomicfile.OpenAppend(n.path)
	if err != nil {
		return err
	}
	_, err = f.WriteString(note)
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

// keeps returns the number of characters of the old notes that Append reads.
func (n *NotesFile) keeps() int {
	if n.MaxChars == limit.None {
		return 1 // to see whether the last line is complete
	}
	return n.MaxChars.Or(notesBound)
}

// Tail implements [Notes].
func (n *NotesFile) Tail(ctx context.Context, chars int) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	text, err := n.end(chars)
	if err != nil {
		return "", fmt.Errorf("the notes cannot be read: %w", err)
	}
	return strings.TrimSuffix(tailOf(text, chars), "\n"), nil
}

// end returns the end of the file with more than chars characters, or the whole file if chars is negative. It reads as
// little as possible.
func (n *NotesFile) end(chars int) (string, error) {
	f, err := os.Open(n.path)
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
		return "", &fs.PathError{Op: "read", Path: n.path, Err: errors.New("not a regular file; name another one")}
	}
	from := int64(0)
	if chars >= 0 {
		from = max(0, info.Size()-4*int64(chars)-4) // a character has at most four bytes
	}
	data, err := io.ReadAll(io.NewSectionReader(f, from, info.Size()-from))
	return string(data), err
}

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
)

// A workspace is the directory of the tools. They open files through an os.Root, so that neither ".." nor a symbolic
// link leads out of it.
type workspace struct {
	dir  string // absolute, without symbolic links
	root *os.Root

	mu      sync.Mutex // held while a tool changes files, because a call that the loop has abandoned may still run
	changes []change
}

// A change is the content of a file before a tool changed it.
type change struct {
	path    string
	old     []byte
	existed bool
}

func openWorkspace(dir string) (*workspace, error) {
	dir, err := filepath.Abs(dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	return &workspace{dir: dir, root: root}, err
}

type readArgs struct {
	Path  string `json:"path"`
	First int    `json:"first,omitempty" jsonschema:"the first line to read; the default is 1"`
	Lines int    `json:"lines,omitempty" jsonschema:"how many lines to read; the default is 1000"`
}

type writeArgs struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

type editArgs struct {
	Path string `json:"path"`
	Old  string `json:"old" jsonschema:"a text that occurs once in the file, with its blanks and line breaks"`
	New  string `json:"new" jsonschema:"the text that replaces it"`
}

type listArgs struct {
	Path string `json:"path,omitempty" jsonschema:"the directory; the default is that of the workspace"`
}

type shellArgs struct {
	Command string `json:"command" jsonschema:"a command for sh"`
	Seconds int    `json:"seconds,omitempty" jsonschema:"the time limit; the default is 120"`
}

func (w *workspace) tools() []agent.Tool {
	return []agent.Tool{
		loop.ReadOnly(loop.Tool("read", "Reads a text file.", w.read)),
		loop.ReadOnly(loop.Tool("list", "Lists a directory, without hidden files.", w.list)),
		loop.ReadOnly(loop.Tool("search", "Searches files for a regular expression, without hidden files.", w.search)),
		loop.Tool("edit", "Replaces a text in a file.", w.edit),
		loop.Tool("write", "Writes a whole file, for example a new one.", w.write),
		loop.Tool("shell", "Runs a command in the workspace.", w.shell),
	}
}

// local returns a path relative to the workspace. The Root checks it.
func (w *workspace) local(path string) string {
	if path == "" {
		return "."
	}
	if relative, err := filepath.Rel(w.dir, path); err == nil && filepath.IsAbs(path) {
		return relative
	}
	return filepath.Clean(path)
}

const maxFile = 1 << 20

// text returns the content of a text file.
func (w *workspace) text(path string) (string, error) {
	path = w.local(path)
	info, err := w.root.Stat(path)
	switch {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular(): // reading a pipe would wait
		return "", fmt.Errorf("%s is not a file", path)
	case info.Size() > maxFile:
		return "", fmt.Errorf("%s has more than %d bytes; use search or shell", path, maxFile)
	}
	text, err := w.root.ReadFile(path)
	if err == nil && (!utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0) {
		return "", fmt.Errorf("%s is not a text file", path)
	}
	return string(text), err
}

func (w *workspace) read(_ context.Context, a readArgs) (string, error) {
	text, err := w.text(a.Path)
	if err != nil {
		return "", err
	}
	lines := slices.Collect(strings.Lines(text))
	first, count := max(a.First, 1)-1, a.Lines
	if count <= 0 {
		count = 1000
	}
	if first > len(lines) {
		return "", fmt.Errorf("the file has only %d lines", len(lines))
	}
	end := first + min(count, len(lines)-first)
	got := strings.Join(lines[first:end], "")
	if end < len(lines) {
		got += fmt.Sprintf("\n[the file has %d lines; continue with first: %d]", len(lines), end+1)
	}
	return got, nil
}

func (w *workspace) list(_ context.Context, a listArgs) (string, error) {
	entries, err := fs.ReadDir(w.root.FS(), filepath.ToSlash(w.local(a.Path)))
	var b strings.Builder
	for _, e := range entries {
		switch {
		case strings.HasPrefix(e.Name(), "."):
		case e.IsDir():
			fmt.Fprintf(&b, "%s/\n", e.Name())
		default:
			fmt.Fprintln(&b, e.Name())
		}
	}
	return b.String(), err
}

// edited returns the content of a file before and after an edit.
func (w *workspace) edited(a editArgs) (before, after string, err error) {
	if before, err = w.text(a.Path); err != nil {
		return "", "", err
	}
	switch n := strings.Count(before, a.Old); {
	case a.Old == "" || n == 0:
		return "", "", errors.New("the file does not contain the old text; read it again")
	case n > 1:
		return "", "", fmt.Errorf("the file contains the old text %d times; add lines around it", n)
	}
	return before, strings.Replace(before, a.Old, a.New, 1), nil
}

// The output of edit and write is the difference.
func (w *workspace) edit(_ context.Context, a editArgs) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before, after, err := w.edited(a)
	if err != nil {
		return "", err
	}
	path := w.local(a.Path)
	return diff(path, before, after), w.replace(change{path, []byte(before), true}, after)
}

func (w *workspace) write(_ context.Context, a writeArgs) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	path := w.local(a.Path)
	old := change{path: path}
	before, err := w.text(path)
	switch {
	case err == nil:
		old.old, old.existed = []byte(before), true
	case !errors.Is(err, fs.ErrNotExist):
		return "", err
	}
	if err := w.root.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	return diff(path, before, a.Content), w.replace(old, a.Content)
}

// replace writes a file and keeps its old content for undo. A file keeps its permissions.
func (w *workspace) replace(old change, content string) error {
	if err := w.root.WriteFile(old.path, []byte(content), 0o644); err != nil {
		return err
	}
	w.changes = append(w.changes, old)
	return nil
}

// undo restores the file of the last change.
func (w *workspace) undo() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.changes) == 0 {
		return "There is no change to take back."
	}
	last := w.changes[len(w.changes)-1]
	var err error
	if last.existed {
		err = w.root.WriteFile(last.path, last.old, 0o644)
	} else {
		err = w.root.Remove(last.path)
	}
	if err != nil {
		return clean(err.Error())
	}
	w.changes = w.changes[:len(w.changes)-1]
	return clean(last.path) + " is as it was before."
}

// forget drops the changes that undo could restore.
func (w *workspace) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.changes = nil
}

// shell runs a command. It can do everything that the user can: the rules and the user decide about it before. Keys of
// model providers are not in its environment.
func (w *workspace) shell(ctx context.Context, a shellArgs) (string, error) {
	limit := time.Duration(a.Seconds) * time.Second
	if a.Seconds <= 0 || a.Seconds > 280 {
		limit = 2 * time.Minute
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", a.Command)
	cmd.Dir = w.dir
	cmd.Env = slices.DeleteFunc(os.Environ(), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return strings.Contains(strings.ToUpper(name), "API_KEY")
	})
	ownGroup(cmd)
	cmd.Cancel = func() error { killGroup(cmd); return nil }
	cmd.WaitDelay = time.Second
	out := &head{most: maxFile}
	cmd.Stdout, cmd.Stderr = out, out
	err := cmd.Run()
	text := strings.ToValidUTF8(out.kept.String(), "\ufffd")
	switch exit := new(exec.ExitError); {
	case ctx.Err() != nil:
		return "", fmt.Errorf("the command was ended: %w; its output:\n%s", ctx.Err(), text)
	case errors.As(err, &exit): // for example a failed test: the model wants the output
		return fmt.Sprintf("%s\n[%s]", text, exit), nil
	case err != nil:
		return "", err
	}
	return text, nil
}

// head keeps the first bytes that are written to it. The buffer is not embedded, because its ReadFrom has no limit.
type head struct {
	kept bytes.Buffer
	most int
}

// Write drops the bytes after the limit.
func (h *head) Write(p []byte) (int, error) {
	h.kept.Write(p[:min(len(p), h.most-h.kept.Len())])
	return len(p), nil
}

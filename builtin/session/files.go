package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/realpath"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/internal/textfile"
	"github.com/hookgen/hookgen/builtin/internal/toolargs"
	"github.com/hookgen/hookgen/builtin/internal/toolname"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/internal/atomicfile"
)

// Files keeps the content of files before tools change them, so that a user can go back to the state before a run.
//
// For example, the third task of a conversation went wrong. The program shows the Marks, and Rewind puts the files back
// as they were before that task. It returns the conversation before the task, for the program to save:
//
//	files := &session.Files{Dir: ".", Tools: []string{"write", "edit"}}
//	hooks.Use(files)
//	...
//	mark, err := files.Rewind(identity, run)
//	err = errors.Join(err, sessions.Save(ctx, agent.Session{Identity: identity, Messages: mark.Messages}))
//
// Files reads the files that the arguments of a call name. It does not see changes by a shell command. It keeps only
// regular files below Dir, also by symbolic links; the Mark says what was not kept. The contents are kept in memory,
// and when they exceed MaxBytes, the oldest marks are dropped.
//
// Points: OnRunStart (observer), AroundTool. Tier: after other hooks, so that it sees the arguments of the tool. State:
// the last 100 marks, of all conversations. A Files is safe for concurrent use. Bind panics if Dir is not a directory,
// if Tools is empty, or if MaxBytes is negative.
type Files struct {
	Dir      string           // the directory of the tools, to which relative paths belong. Required
	Tools    []string         // names of the tools that change files; "*" matches any text in a name. Required
	Fields   string           // names of the arguments with paths, separated by commas; "": path
	MaxBytes limit.Bound[int] // bytes of all contents and their paths; default 64 MiB

	mu    sync.Mutex
	dir   string // absolute, without symbolic links
	marks []*fileMark
	bytes int
}

// A Mark is the beginning of a run, to which the files can go back.
type Mark struct {
	Run      string
	Task     string
	Time     time.Time
	Messages []agent.Message // the conversation before the task; do not change them
	Missed   []string        // at most 100 files that were not kept, with the reason
}

// A fileMark is a Mark with the files that its run has changed.
type fileMark struct {
	Mark
	owner agent.Identity
	kept  map[string]keptFile // by path below the directory
	bytes int
}

// A keptFile is a file before the first change of a run.
type keptFile struct {
	content []byte
	mode    fs.FileMode
	existed bool
}

const (
	maxMarks  = 100
	maxMissed = 100
)

// Bind adds the hook to its points.
func (f *Files) Bind(h *agent.Hooks) {
	err := errors.Join(f.MaxBytes.Check("MaxBytes"), toolname.Check("Tools", f.Tools))
	if len(f.Tools) == 0 {
		err = errors.New("Tools is empty, so nothing would be kept; name the tools that change files")
	}
	info, failed := os.Stat(f.Dir)
	if failed != nil || !info.IsDir() {
		err = errors.Join(err, fmt.Errorf("Dir is %q, which is not a directory", f.Dir))
	}
	dir, failed := filepath.Abs(f.Dir)
	if failed == nil {
		dir, failed = filepath.EvalSymlinks(dir)
	}
	err = errors.Join(err, failed)
	kit.MustConfig("session.Files", err)
	f.mu.Lock()
	f.dir = dir
	f.mu.Unlock()
	h.OnRunStart.ObserveFunc(func(_ context.Context, run *agent.Run, fired agent.OnRunStartFired[agent.RunStart]) {
		if run.Parent() == "" && fired.Payload.Resumed == "" {
			f.mu.Lock()
			defer f.mu.Unlock()
			m := f.mark(run)
			m.Task, m.Messages = fired.Final.Task, fired.Final.Messages
		}
	}, hookkit.Named("session.Files"))
	kit.WatchTools("session.Files", kit.ToolNames("Tools", f.Tools)...).
		AroundTool(h, f, hookkit.Priority(kit.LastPriority))
}

// mark returns the mark of the run that a user has started, which may be new. f.mu is held.
func (f *Files) mark(run *agent.Run) *fileMark {
	root := cmp.Or(run.Root(), run.ID())
	if i := slices.IndexFunc(f.marks, func(m *fileMark) bool { return m.Run == root }); i >= 0 {
		return f.marks[i]
	}
	m := &fileMark{
		Mark: Mark{Run: root, Time: kit.Env(run).Now()}, owner: kit.Owner(run), kept: make(map[string]keptFile),
	}
	f.marks = append(f.marks, m)
	if len(f.marks) > maxMarks {
		f.drop(0)
	}
	return m
}

// drop drops a mark.
func (f *Files) drop(i int) {
	f.bytes -= f.marks[i].bytes
	f.marks = slices.Delete(f.marks, i, i+1)
}

// AroundTool keeps the files that the arguments name.
func (f *Files) AroundTool(
	ctx context.Context, run *agent.Run, call agent.ToolCallRequest, next agent.AroundToolNext,
) (hookkit.Answer[agent.ToolCallResult], error) {
	if toolname.Match(f.Tools, call.Name) {
		f.keepAll(run, call)
	}
	return next.Call(ctx, call)
}

func (f *Files) keepAll(run *agent.Run, call agent.ToolCallRequest) {
	f.mu.Lock()
	defer f.mu.Unlock()
	m := f.mark(run)
	values, err := toolargs.Values(call, cmp.Or(f.Fields, "path"))
	if err != nil {
		m.miss(call.Name, err)
	}
	for _, v := range values {
		for _, path := range v.Texts {
			if err := f.keep(m, path); err != nil {
				m.miss(path, err)
			}
		}
	}
	for f.bytes > f.MaxBytes.Or(64<<20) && len(f.marks) > 1 && f.marks[0] != m {
		f.drop(0)
	}
}

func (m *Mark) miss(what string, err error) {
	if len(m.Missed) < maxMissed {
		m.Missed = append(m.Missed, shorten.To(fmt.Sprintf("%s: %v", shorten.Line(what, 200), err), 500))
	}
}

// keep keeps a file, unless the run has changed it before.
func (f *Files) keep(m *fileMark, path string) error {
	path, err := f.local(path)
	if err != nil {
		return err
	}
	if _, done := m.kept[path]; done {
		return nil
	}
	left := f.MaxBytes.Or(64<<20) - m.bytes - len(path)
	if left < 0 {
		return errors.New("MaxBytes leaves no room for it")
	}
	var kept keptFile
	whole := filepath.Join(f.dir, path)
	info, err := os.Lstat(whole)
	if !errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			kept.content, err = textfile.Read(whole, left)
		}
		if err != nil {
			return err
		}
		kept.mode, kept.existed = info.Mode().Perm(), true
	}
	m.kept[path] = kept
	m.bytes, f.bytes = m.bytes+kept.size(path), f.bytes+kept.size(path)
	return nil
}

func (k keptFile) size(path string) int { return len(path) + len(k.content) }

// local returns the path of a file below the directory, without symbolic links.
func (f *Files) local(path string) (string, error) {
	if !filepath.IsAbs(path) {
		path = f.dir + string(filepath.Separator) + path
	}
	path, err := realpath.Of(path)
	if err != nil {
		return "", err
	}
	relative, err := filepath.Rel(f.dir, path)
	if err != nil || !filepath.IsLocal(relative) || relative == "." {
		return "", errors.New("it is not below the directory")
	}
	return relative, nil
}

// Marks returns the marks of a conversation, the oldest first. A run that no tool has changed a file in has one too.
func (f *Files) Marks(id agent.Identity) (marks []Mark) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range f.marks {
		if m.owner == id {
			own := m.Mark
			own.Missed = slices.Clone(m.Missed)
			marks = append(marks, own)
		}
	}
	return marks
}

// Rewind puts the files back as they were before a run of the conversation and all its later runs, and removes those
// that did not exist. It returns the mark of the run. No run of the conversation may be active.
//
// A file is replaced whole. One that cannot be put back, because it is a directory now or its directory is a symbolic
// link, is reported in the error, and the others are put back. Then the marks stay, for another try; without errors,
// they are dropped.
func (f *Files) Rewind(id agent.Identity, run string) (Mark, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	first := slices.IndexFunc(f.marks, func(m *fileMark) bool { return m.owner == id && m.Run == run })
	if first < 0 {
		return Mark{}, fmt.Errorf("there is no mark of the run %s; it is too old, or was rewound",
			shorten.Line(run, shorten.KeyChars))
	}
	to := f.marks[first].Mark
	before := make(map[string]keptFile) // the first of these runs that changed a file knows how it was
	for _, m := range f.marks[first:] {
		for path, kept := range m.kept {
			if _, known := before[path]; m.owner == id && !known {
				before[path] = kept
			}
		}
	}
	var failed []error
	for _, path := range slices.Sorted(maps.Keys(before)) {
		if err := f.restore(path, before[path]); err != nil {
			failed = append(failed, fmt.Errorf("%s cannot be put back: %w", path, err))
		}
	}
	for i := len(f.marks) - 1; i >= first && len(failed) == 0; i-- {
		if f.marks[i].owner == id {
			f.drop(i)
		}
	}
	return to, errors.Join(failed...)
}

// restore puts a file back.
func (f *Files) restore(path string, kept keptFile) error {
	if now, err := f.local(path); err != nil || now != path {
		return cmp.Or(err, errors.New("its path contains a symbolic link now"))
	}
	whole := filepath.Join(f.dir, path)
	info, err := os.Lstat(whole)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case err == nil && info.IsDir():
		return errors.New("it is a directory now")
	case !kept.existed && err != nil:
		return nil
	case !kept.existed:
		return os.Remove(whole)
	}
	if err := os.MkdirAll(filepath.Dir(whole), 0o755); err != nil {
		return err
	}
	return atomicfile.Replace(whole, kept.content, kept.mode)
}

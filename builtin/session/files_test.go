package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/session"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// A run changes a file, and the user takes the run back.
func ExampleFiles() {
	dir, err := os.MkdirTemp("", "project")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	files := &session.Files{Dir: dir, Tools: []string{"write"}}
	a := loop.Agent{
		Model: looptest.NewScript(looptest.Call("write", `{"path":"a.txt","content":"x"}`), looptest.Reply("done")),
		Tools: []agent.Tool{writes(dir)}, Hooks: loop.Hooks(files),
	}
	if _, err := a.Do(context.Background(), loop.Request{Task: "Write a file.", Conversation: "c"}); err != nil {
		panic(err)
	}
	user := agent.Identity{Conversation: "c"}
	for _, mark := range files.Marks(user) {
		back, err := files.Rewind(user, mark.Run)
		fmt.Println("as before:", back.Task, err)
	}
	_, err = os.Stat(filepath.Join(dir, "a.txt"))
	fmt.Println("removed:", os.IsNotExist(err))
	// Output:
	// as before: Write a file. <nil>
	// removed: true
}

// writes is a tool that writes a file of the directory, or does something else to it.
func writes(dir string) agent.Tool {
	type args struct {
		Path, Content string
	}
	return &looptest.Tool{Name: "write", Func: func(_ context.Context, call agent.ToolCallRequest) (string, error) {
		var a args
		if err := json.Unmarshal(call.Args, &a); err != nil {
			return "", err
		}
		path := a.Path
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		return "written", errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(a.Content), 0o644))
	}}
}

// A filesRun runs tasks that write files in a directory.
type filesRun struct {
	t     *testing.T
	dir   string
	files *session.Files
	agent loop.Agent
}

var filesOwner = agent.Identity{Conversation: "c"}

func newFilesRun(t *testing.T) *filesRun {
	dir := t.TempDir()
	f := &filesRun{t: t, dir: dir, files: &session.Files{Dir: dir, Tools: []string{"write"}}}
	f.agent = loop.Agent{Tools: []agent.Tool{writes(dir)}, Hooks: loop.Hooks(f.files,
		&session.Persist{Store: session.Sessions{Store: new(session.Map)}})}
	return f
}

// do runs a task that writes contents to paths: path, content, path, content ...
func (f *filesRun) do(task string, pairs ...string) {
	f.t.Helper()
	var turns []looptest.Turn
	for i := 0; i < len(pairs); i += 2 {
		turns = append(turns, looptest.Call("write", map[string]string{"path": pairs[i], "content": pairs[i+1]}))
	}
	f.agent.Model = looptest.NewScript(append(turns, looptest.Reply("done"))...)
	if _, err := f.agent.Do(f.t.Context(), loop.Request{Task: task, Conversation: "c"}); err != nil {
		f.t.Fatal(err)
	}
}

func (f *filesRun) write(path, content string) {
	f.t.Helper()
	if err := os.WriteFile(filepath.Join(f.dir, path), []byte(content), 0o640); err != nil {
		f.t.Fatal(err)
	}
}

// content returns the content of a file, or the error.
func (f *filesRun) content(path string) string {
	text, err := os.ReadFile(filepath.Join(f.dir, path))
	if err != nil {
		return "none"
	}
	return string(text)
}

func (f *filesRun) marks() []session.Mark { return f.files.Marks(filesOwner) }

func TestRewindPutsFilesAndConversationBack(t *testing.T) {
	f := newFilesRun(t)
	f.write("a.txt", "first")
	f.do("one", "a.txt", "second", "sub/new.txt", "x")
	f.do("two", "a.txt", "third", filepath.Join(f.dir, "b.txt"), "y", "a.txt", "fourth")
	marks := f.marks()
	if len(marks) != 2 || marks[1].Task != "two" || len(marks[0].Messages) != 0 || len(marks[1].Messages) != 6 {
		t.Fatalf("the marks are %+v", marks)
	}
	back, err := f.files.Rewind(filesOwner, marks[1].Run)
	if err != nil || len(back.Messages) != 6 || f.content("a.txt") != "second" || f.content("b.txt") != "none" ||
		f.content("sub/new.txt") != "x" {
		t.Errorf("before two: %q, %q, %q, %v", f.content("a.txt"), f.content("b.txt"), f.content("sub/new.txt"), err)
	}
	if _, err := f.files.Rewind(filesOwner, marks[1].Run); err == nil {
		t.Error("a run was rewound twice")
	}
	if _, err := f.files.Rewind(agent.Identity{Conversation: "other"}, marks[0].Run); err == nil {
		t.Error("another conversation rewound the run")
	}
	f.do("three", "a.txt", "fifth")
	if _, err := f.files.Rewind(filesOwner, marks[0].Run); err != nil || f.content("a.txt") != "first" ||
		f.content("sub/new.txt") != "none" || len(f.marks()) != 0 {
		t.Errorf("before one: %q, %q, %v", f.content("a.txt"), f.content("sub/new.txt"), err)
	}
	if info, err := os.Stat(filepath.Join(f.dir, "a.txt")); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the mode is %v, %v", info.Mode(), err)
	}
}

// TestFilesKeepsOnlyFilesOfItsDirectory: a model names paths outside of the directory, and links that lead there.
// Rewind changes nothing outside.
func TestFilesKeepsOnlyFilesOfItsDirectory(t *testing.T) {
	f := newFilesRun(t)
	outside := t.TempDir()
	secret := filepath.Join(outside, "secret")
	if err := os.WriteFile(secret, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{
		"link": secret, "dir": outside, "nowhere": filepath.Join(outside, "none"), "inside": "real",
	} {
		if err := os.Symlink(to, filepath.Join(f.dir, link)); err != nil {
			t.Skip(err)
		}
	}
	f.write("real", "first")
	f.do("x", "link", "new", "dir/secret", "new", secret, "new", "../"+filepath.Base(outside)+"/other", "new", "nowhere",
		"new", "inside", "second")
	if missed := f.marks()[0].Missed; len(missed) != 5 {
		t.Errorf("not kept: %q", missed)
	}
	_, err := f.files.Rewind(filesOwner, f.marks()[0].Run)
	text, _ := os.ReadFile(secret)
	if err != nil || string(text) != "new" || f.content("real") != "first" || f.content("nowhere") != "new" {
		t.Errorf("%q, %q, %q, %v", text, f.content("real"), f.content("nowhere"), err)
	}
	if to, err := os.Readlink(filepath.Join(f.dir, "inside")); to != "real" {
		t.Errorf("the link leads to %q, %v", to, err)
	}
}

// TestRewindLeavesWhatItCannotPutBack: a file became a directory, and the directory of another one became a link to a
// place outside. The third file is put back, and the others later.
func TestRewindLeavesWhatItCannotPutBack(t *testing.T) {
	f := newFilesRun(t)
	outside := t.TempDir()
	f.write("a", "a")
	f.write("c", "c")
	f.do("x", "a", "new", "sub/b", "new", "c", "new")
	join := func(name string) string { return filepath.Join(f.dir, name) }
	if err := errors.Join(os.Remove(join("a")), os.MkdirAll(join("a/full"), 0o755), os.RemoveAll(join("sub")),
		os.WriteFile(filepath.Join(outside, "b"), []byte("theirs"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, join("sub")); err != nil {
		t.Skip(err)
	}
	run := f.marks()[0].Run
	_, err := f.files.Rewind(filesOwner, run)
	if err == nil || !strings.Contains(err.Error(), "a cannot be put back: it is a directory now") ||
		!strings.Contains(err.Error(), filepath.Join("sub", "b")+" cannot be put back") || f.content("c") != "c" ||
		f.content("sub/b") != "theirs" {
		t.Errorf("%q, %q, %v", f.content("c"), f.content("sub/b"), err)
	}
	if err := errors.Join(os.RemoveAll(join("a")), os.Remove(join("sub"))); err != nil {
		t.Fatal(err)
	}
	if _, err := f.files.Rewind(filesOwner, run); err != nil || f.content("a") != "a" {
		t.Errorf("the second time: %q, %v", f.content("a"), err)
	}
}

func TestFilesBoundsItsMemory(t *testing.T) {
	f := newFilesRun(t)
	f.files.MaxBytes = limit.AtMost(10)
	f.write("large", strings.Repeat("x", 11))
	f.write("a", "12345678")
	f.do("one", "a", "87654321", "large", "")
	f.do("two", "a", "x")
	marks := f.marks()
	if len(marks) != 1 || marks[0].Task != "two" {
		t.Fatalf("the marks are %+v", marks)
	}
	if _, err := f.files.Rewind(filesOwner, marks[0].Run); err != nil || f.content("a") != "87654321" {
		t.Errorf("%q, %v", f.content("a"), err)
	}
	for range 101 {
		f.do("x")
	}
	if n := len(f.marks()); n != 100 {
		t.Errorf("%d marks", n)
	}
}

func TestFilesRefusesInvalidFields(t *testing.T) {
	for want, f := range map[string]*session.Files{
		"Tools is empty": {Dir: "."}, "Dir is": {Dir: "none", Tools: []string{"x"}},
		"MaxBytes": {Dir: ".", Tools: []string{"x"}, MaxBytes: -1},
	} {
		if text := fixture.UsePanic(f); !strings.Contains(text, want) {
			t.Errorf("%s: panicked with %q", want, text)
		}
	}
}

// FuzzFilesStayInTheirDirectory names any path. Whatever it is, Rewind changes no file outside of the directory.
func FuzzFilesStayInTheirDirectory(f *testing.F) {
	for _, path := range []string{
		"a", "../a", "/etc/passwd", "a/../../b", "\x00", "", ".", "a//b/", strings.Repeat("x/", 3000),
	} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		parent := t.TempDir()
		dir := filepath.Join(parent, "dir")
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		files := &session.Files{Dir: dir, Tools: []string{"write"}}
		var hooks agent.Hooks
		hooks.Use(files)
		run := agent.NewRun(&agent.Env{})
		args, err := json.Marshal(map[string]string{"path": path})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := hooks.AroundTool.Fire(t.Context(), run, agent.ToolCallRequest{Name: "write", Args: args},
			func(context.Context, agent.ToolCallRequest) (agent.ToolCallResult, error) {
				return agent.ToolCallResult{Output: "x"}, nil
			}); err != nil {
			t.Fatal(err)
		}
		for _, m := range files.Marks(agent.Identity{Conversation: "run " + run.Root()}) {
			if _, err := files.Rewind(agent.Identity{Conversation: "run " + run.Root()}, m.Run); err != nil {
				t.Error(err)
			}
		}
		if left, err := os.ReadDir(parent); err != nil || len(left) != 1 {
			t.Errorf("%v, %v", left, err)
		}
	})
}

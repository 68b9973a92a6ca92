package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
)

const hookgenModule = "github.com/hookgen/hookgen"

// embedded are the files of the tour's module. Each name has the suffix .txt, so that the go command ignores them.
//
//go:embed files/*.txt
var embedded embed.FS

// A stage is the module of an imaginary user, and the tools that work on it.
type stage struct {
	ctx   context.Context
	out   io.Writer
	tools string            // the directory of hookgen and hooklog
	dir   string            // of the module
	files map[string]string // the files of the module as they were written first, by name
}

// newStage creates the module in a directory, and builds hookgen and hooklog from this repository.
func newStage(ctx context.Context, out io.Writer, dir string) (*stage, error) {
	s := &stage{ctx, out, dir, filepath.Join(dir, "tour"), map[string]string{}}
	list := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", hookgenModule)
	list.Env = append(os.Environ(), "GOFLAGS=")
	root, err := list.Output()
	if err != nil || len(root) == 0 {
		return nil, errors.New("this directory is not in a clone of hookgen: run the tour from the root of a clone")
	}
	s.say("The tour builds hookgen and hooklog, which takes longer the first time, and runs them in %s.", s.dir)
	build := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-o", dir+string(filepath.Separator),
		"./cmd/hookgen", "./cmd/hooklog")
	build.Dir, build.Env = strings.TrimSpace(string(root)), list.Env
	if text, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("hookgen does not build: %w\n%s", err, text)
	}
	for _, name := range []string{"mail/spec.go", "limit/limit.go", "main.go"} {
		text, err := embedded.ReadFile("files/" + path.Base(name) + ".txt")
		if err != nil {
			return nil, err
		}
		s.files[name] = strings.ReplaceAll(string(text), "\r\n", "\n")
		if err := s.write(name, s.files[name]); err != nil {
			return nil, err
		}
	}
	const mod = "module example.com/tour\n\ngo 1.26.0\n\nrequire %s v0.0.0\n\nreplace %[1]s => %q\n"
	return s, s.write("go.mod", fmt.Sprintf(mod, hookgenModule, build.Dir))
}

// write writes a file of the module.
func (s *stage) write(name, text string) error {
	file := filepath.Join(s.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(text), 0o644)
}

// say prints a line.
func (s *stage) say(format string, args ...any) { fmt.Fprintf(s.out, format+"\n", args...) }

// show prints the declaration that begins with a line of a file.
func (s *stage) show(name, begins string) error {
	_, rest, found := strings.Cut(s.files[name], "\n"+begins)
	body, _, closed := strings.Cut(rest, "\n}\n")
	if !found || !closed {
		return fmt.Errorf("%s has no %q", name, begins)
	}
	s.say("   %s", name)
	s.quote("     ", begins+body+"\n}")
	return nil
}

// edit replaces lines of a file, and prints both versions.
func (s *stage) edit(name, before, after string) error {
	if strings.Count(s.files[name], before) != 1 {
		return fmt.Errorf("%s does not have exactly one %q", name, before)
	}
	s.say("   %s", name)
	s.quote("   - ", strings.TrimSpace(before))
	s.quote("   + ", strings.TrimSpace(after))
	return s.write(name, strings.Replace(s.files[name], before, after, 1))
}

// quote prints the lines of a text, each after a prefix.
func (s *stage) quote(prefix, text string) {
	for line := range strings.Lines(strings.TrimRight(text, "\n")) {
		s.say("%s%s", prefix, strings.ReplaceAll(strings.TrimRight(line, "\r\n"), "\t", "    "))
	}
}

// succeeds runs a command, prints its output, and reports an error if the command fails.
func (s *stage) succeeds(command ...string) error {
	if err := s.execute(command); err != nil {
		return fmt.Errorf("%s: %w", strings.Join(command, " "), err)
	}
	return nil
}

// refused is like succeeds for a command that has to fail.
func (s *stage) refused(command ...string) error {
	err := s.execute(command)
	var exit *exec.ExitError
	if s.ctx.Err() == nil && errors.As(err, &exit) {
		return nil
	}
	return fmt.Errorf("%s should have failed: %w", strings.Join(command, " "), err)
}

// execute runs a command in the module, outside of any workspace, and prints it with its output.
func (s *stage) execute(command []string) error {
	s.say("   $ %s", strings.Join(command, " "))
	program := command[0]
	if program != "go" {
		program = filepath.Join(s.tools, program)
	}
	cmd := exec.CommandContext(s.ctx, program, command[1:]...)
	cmd.Dir, cmd.Env = s.dir, append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	out, err := cmd.CombinedOutput()
	s.quote("     ", string(out))
	return err
}

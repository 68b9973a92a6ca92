package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const hookgenModule = "github.com/hookgen/hookgen"

// files are the files of the visitor's module. Each name has the suffix .txt, so that the go command ignores them.
//
//go:embed files/*.txt
var files embed.FS

// A stage is the module of an imaginary user, and the tools that work on it.
type stage struct {
	*narrator
	ctx      context.Context
	dir      string            // of the module
	commands map[string]string // the programs of this repository, by name
}

// newStage creates the module in a directory, and builds hookgen and hooklog from this repository.
func newStage(ctx context.Context, n *narrator, dir string) (*stage, error) {
	s := &stage{n, ctx, filepath.Join(dir, "tour"), map[string]string{}}
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", hookgenModule).CombinedOutput()
	root := strings.TrimSpace(string(out))
	if err != nil || root == "" {
		return nil, fmt.Errorf("cannot find hookgen's source: run the tour from the root of its repository\n%s", out)
	}
	fmt.Fprint(n.out, "Building hookgen and hooklog, which takes a moment the first time ...")
	for _, name := range []string{"hookgen", "hooklog"} {
		program := filepath.Join(dir, name+".exe")
		s.commands[name] = program
		build := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-o", program, hookgenModule+"/cmd/"+name)
		if out, err := build.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%s does not build: %w\n%s", name, err, out)
		}
	}
	fmt.Fprintln(n.out)
	return s, s.write("go.mod", "module example.com/tour\n\ngo 1.26.0\n\n"+
		"require "+hookgenModule+" v0.0.0\n\nreplace "+hookgenModule+" => "+modulePath(root)+"\n")
}

// modulePath returns the directory in the syntax of a go.mod file.
func modulePath(dir string) string {
	if strings.ContainsAny(dir, " \"'`()[]{},") {
		return fmt.Sprintf("%q", dir)
	}
	return dir
}

// write writes a file of the module and shows nothing.
func (s *stage) write(name, text string) error {
	path := filepath.Join(s.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644)
}

// add writes an embedded file into the module and shows it.
func (s *stage) add(name string) error {
	text, err := files.ReadFile("files/" + filepath.Base(name) + ".txt")
	if err != nil {
		return err
	}
	fmt.Fprintln(s.out, s.paint(bold, name))
	s.quote(cyan, string(text))
	return s.write(name, string(text))
}

// edit replaces lines of a file of the module and shows the change.
func (s *stage) edit(name, before, after string) error {
	s.change(name, before, after)
	return s.replace(name, before, after)
}

// replace replaces lines of a file of the module and shows nothing.
func (s *stage) replace(name, before, after string) error {
	text, err := os.ReadFile(filepath.Join(s.dir, filepath.FromSlash(name)))
	if err != nil {
		return err
	}
	if strings.Count(string(text), before) != 1 {
		return fmt.Errorf("%s does not have exactly one %q", name, before)
	}
	return s.write(name, strings.Replace(string(text), before, after, 1))
}

// works runs a command that must succeed, and shows its output.
func (s *stage) works(command ...string) error {
	out, err := s.execute(command)
	s.quote("", out)
	if err != nil {
		return fmt.Errorf("%s: %w", strings.Join(command, " "), err)
	}
	return nil
}

// fails runs a command that must fail, and shows its output.
func (s *stage) fails(command ...string) error {
	out, err := s.execute(command)
	s.quote(red, out)
	var exit *exec.ExitError
	switch {
	case err == nil:
		return fmt.Errorf("%s should have failed, and did not", strings.Join(command, " "))
	case !errors.As(err, &exit) || s.ctx.Err() != nil:
		return err
	}
	return nil
}

// execute shows a command and runs it in the module, outside of any workspace.
func (s *stage) execute(command []string) (string, error) {
	fmt.Fprintln(s.out, s.paint(bold, "$ "+strings.Join(command, " ")))
	program := command[0]
	if own, ok := s.commands[program]; ok {
		program = own
	}
	cmd := exec.CommandContext(s.ctx, program, command[1:]...)
	cmd.Dir, cmd.Env = s.dir, append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

package main

import (
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const module = "github.com/hookgen/hookgen"

// A program is the source of a program that is built to measure its packages.
type program struct {
	dir     string   // of the module that has the versions of its libraries
	imports []string // besides context and fmt
	text    string   // follows the imports
}

// build builds the program. It returns the size in bytes and the modules of others that the program links.
func (p program) build() (size int64, modules []string, err error) {
	dir, err := os.MkdirTemp("", "pages-*")
	if err != nil {
		return 0, nil, err
	}
	defer os.RemoveAll(dir)
	source, binary := filepath.Join(dir, "main.go"), filepath.Join(dir, "program")
	text := "package main\n\nimport \"context\"\nimport \"fmt\"\n"
	for _, path := range p.imports {
		text += fmt.Sprintf("import %q\n", path)
	}
	if err := os.WriteFile(source, []byte(text+p.text), 0o600); err != nil {
		return 0, nil, err
	}
	// The program may import packages that the module does not, so its libraries go into copies of go.mod and go.sum.
	for _, name := range []string{"go.mod", "go.sum"} {
		data, err := os.ReadFile(filepath.Join(p.dir, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), data, 0o600)
		}
		if err != nil {
			return 0, nil, err
		}
	}
	copied := "-modfile=" + filepath.Join(dir, "go.mod")
	if _, err := goIn(p.dir, "build", "-mod=mod", copied, "-o", binary, source); err != nil {
		return 0, nil, err
	}
	file, err := os.Stat(binary)
	if err != nil {
		return 0, nil, err
	}
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return 0, nil, err
	}
	for _, dep := range info.Deps { // sorted
		if dep.Path != module && !strings.HasPrefix(dep.Path, module+"/") {
			modules = append(modules, dep.Path)
		}
	}
	return file.Size(), modules, nil
}

// goIn runs a go command in a folder, without the workspace, and returns its output.
func goIn(dir string, args ...string) (string, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off")
	var messages strings.Builder
	cmd.Stderr = &messages
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, messages.String())
	}
	return string(out), nil
}

func megabytes(bytes int64) float64 { return float64(bytes) / 1e6 }

package main

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/gen"
	"github.com/hookgen/hookgen/internal/atomicfile"
)

// first holds what init writes, with NAME for the name of the package.
//
//go:embed first/*.txt
var first embed.FS

const (
	modulePathOfHookgen = "github.com/hookgen/hookgen"
	toolPath            = modulePathOfHookgen + "/cmd/hookgen"
)

// initialize creates a first spec, a hook, its test and the generated code: either all files or none. If the process is
// killed, some complete files may exist, and the next init reports them.
func (i *invocation) initialize() error {
	absolute, err := filepath.Abs(i.dir)
	if err != nil {
		return err
	}
	if info, err := os.Stat(i.dir); err == nil && !info.IsDir() {
		return fmt.Errorf("%s is a file: give a directory", i.dir)
	}
	name := gen.PackageIn(i.dir)
	if name == "" {
		name = packageNamed(filepath.Base(absolute))
	}
	version := release()
	root, module, err := moduleAbove(absolute)
	newModule := errors.Is(err, errNoModule)
	if err != nil && !newModule {
		return err
	}
	specPath, err := importPath(i.dir)
	switch {
	case newModule:
		specPath = newModulePath(name)
	case err != nil:
		specPath = name
	}
	files, err := firstFiles(name, specPath)
	if err != nil {
		return err
	}
	if newModule {
		files["go.mod"] = goMod(name, version)
	}
	if err := i.writeNew(files); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		i.say("wrote %s", filepath.Join(i.dir, name))
	}
	isTool := func(words []string) bool { return words[0] == toolPath }
	switch {
	case !newModule && slices.ContainsFunc(directives(module, "tool"), isTool):
		i.say("next: go test ./...")
	case !newModule:
		i.say("next: in %s, go get -tool %s@%s, then go test ./...", root, toolPath, version)
	case i.dir == ".":
		i.say("next: go mod tidy && go test ./...")
	default:
		i.say("next: cd %s && go mod tidy && go test ./...", i.dir)
	}
	return nil
}

// firstFiles returns the texts of the files of a new spec by name, including the generated one. They are generated in a
// temporary directory, so that existing files do not affect the result.
func firstFiles(name, specPath string) (map[string][]byte, error) {
	dir, err := os.MkdirTemp("", "hookgen-init-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	entries, err := first.ReadDir("first")
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, entry := range entries {
		text, err := first.ReadFile("first/" + entry.Name())
		if err != nil {
			return nil, err
		}
		file := strings.TrimSuffix(entry.Name(), ".txt")
		files[file] = bytes.ReplaceAll(text, []byte("NAME"), []byte(name))
		if err := os.WriteFile(filepath.Join(dir, file), files[file], 0o644); err != nil {
			return nil, err
		}
	}
	spec, found := gen.Read(dir)
	if len(found) > 0 {
		return nil, found
	}
	files[gen.FileName], err = gen.Emit(spec, gen.Output{Package: name, Source: specPath})
	return files, err
}

// writeNew writes files that do not exist yet: all, or none if one of them does.
func (i *invocation) writeNew(files map[string][]byte) error {
	names := slices.Sorted(maps.Keys(files))
	code := map[string][]byte{}
	var taken gen.Diagnostics
	for _, name := range names {
		if filepath.Ext(name) == ".go" {
			code[name] = files[name]
		}
		if path := filepath.Join(i.dir, name); exists(path) {
			taken = append(taken, inTheWay(path, "init-exists",
				"exists, so init writes nothing: give a new directory, or remove it")...)
		}
	}
	if len(taken) == 0 {
		taken = gen.CheckAddition(i.dir, code)
	}
	if len(taken) > 0 {
		return taken
	}
	if err := os.MkdirAll(i.dir, 0o777); err != nil {
		return fmt.Errorf("%s cannot be made: %w: choose another directory", i.dir, plain(err))
	}
	var written []string
	for _, name := range names {
		path := filepath.Join(i.dir, name)
		if err := writeNew(path, files[name]); err != nil {
			for _, w := range written {
				err = errors.Join(err, os.Remove(w))
			}
			return fmt.Errorf("%s cannot be written: %w: make its directory writable, or choose another", path, plain(err))
		}
		written = append(written, path)
	}
	return nil
}

// writeNew writes a file that does not exist yet, whole or not at all.
func writeNew(path string, text []byte) error {
	temporary, err := atomicfile.Stage(path, text, 0o644)
	if err != nil {
		return err
	}
	defer os.Remove(temporary) // fails if it was renamed
	if err := os.Link(temporary, path); err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	if exists(path) { // a file system without links
		return fs.ErrExist
	}
	return os.Rename(temporary, path)
}

// packageNamed derives a package name from the name of a directory.
func packageNamed(dir string) string {
	name := strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(dir))
	switch {
	case name == "" || '0' <= name[0] && name[0] <= '9':
		return "mail" + name
	case !token.IsIdentifier(name) || name == "main":
		return name + "hooks"
	}
	return name
}

// newModulePath returns the path of the module that init creates outside of a module.
func newModulePath(name string) string { return "example.com/" + name }

// goMod returns the go.mod of a new module. If the version of hookgen is unknown, the file leaves it out, and go mod
// tidy finds the newest.
func goMod(name, version string) []byte {
	text := "module " + newModulePath(name) + "\n\ngo 1.26.0\n\ntool " + toolPath + "\n"
	if version != "latest" {
		text += "\nrequire " + modulePathOfHookgen + " " + version + "\n"
	}
	return []byte(text)
}

// release returns the version of this program if it is a published one, else "latest".
func release() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Path != modulePathOfHookgen || info.Main.Replace != nil || info.Main.Sum == "" {
		return "latest"
	}
	return info.Main.Version
}

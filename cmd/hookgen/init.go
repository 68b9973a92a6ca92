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

	"golang.org/x/mod/modfile"

	"github.com/hookgen/hookgen/gen"
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
	name, version := packageNamed(filepath.Base(absolute)), release()
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
	isTool := func(t *modfile.Tool) bool { return t.Path == toolPath }
	switch {
	case !newModule && slices.ContainsFunc(parseMod(module).Tool, isTool):
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

// firstFiles returns the texts of the files of a new spec by name, including the generated one.
func firstFiles(name, specPath string) (map[string][]byte, error) {
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
		files[strings.TrimSuffix(entry.Name(), ".txt")] = bytes.ReplaceAll(text, []byte("NAME"), []byte(name))
	}
	spec, found := gen.ReadFiles(".", []gen.File{{Path: "spec.go", Text: files["spec.go"]}})
	if len(found) > 0 {
		return nil, found
	}
	files[gen.FileName], err = gen.Emit(spec, gen.Output{Package: name, Source: specPath})
	return files, err
}

// writeNew writes files into a directory that has neither Go files nor files of these names: all, or none.
func (i *invocation) writeNew(files map[string][]byte) error {
	var taken gen.Diagnostics
	entries, err := os.ReadDir(i.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s cannot be read: %w", i.dir, plain(err))
	}
	for _, entry := range entries {
		if name := entry.Name(); filepath.Ext(name) == ".go" || files[name] != nil {
			taken = append(taken, inTheWay(filepath.Join(i.dir, name), "init-exists",
				"exists, so init writes nothing: give a new directory, or remove it")...)
		}
	}
	if len(taken) > 0 {
		return taken
	}
	var written []string
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(i.dir, name)
		if err := replace(path, files[name]); err != nil {
			for _, w := range written {
				err = errors.Join(err, os.Remove(w))
			}
			return err
		}
		written = append(written, path)
	}
	return nil
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

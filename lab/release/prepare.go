package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/sumdb/dirhash"

	"github.com/hookgen/hookgen/internal/moduleproxy"
)

// prepare raises the requirements of m on modules of the tree to the version. If m is released, it also tidies m, drops
// the replace directives, and adds the checksums of those modules, which the proxy has.
func (t *tree) prepare(ctx context.Context, m *goModule, version, proxy string) error {
	for _, used := range t.uses(m) {
		to, err := filepath.Rel(t.path(m.dir), t.path(t.modules[used].dir))
		if err != nil {
			return err
		}
		if err := m.file.AddRequire(used, version); err != nil {
			return err
		}
		// The go command cannot download the version yet. The modules of the last release have no such directive.
		if err := m.file.AddReplace(used, "", filepath.ToSlash(to), ""); err != nil {
			return err
		}
	}
	if err := t.write(m); err != nil || !m.released() {
		return err
	}
	if _, err := run(exec.CommandContext(ctx, "go", "mod", "tidy"), t.path(m.dir)); err != nil {
		return err
	}
	text, err := os.ReadFile(t.path(m.name()))
	if err != nil {
		return err
	}
	if m.file, err = modfile.Parse(m.name(), text, nil); err != nil {
		return err
	}
	for _, used := range t.uses(m) {
		if err := m.file.DropReplace(used, ""); err != nil {
			return err
		}
		if err := t.addSum(m, used, version, proxy); err != nil {
			return err
		}
	}
	return t.write(m)
}

// write writes the go.mod of m.
func (t *tree) write(m *goModule) error {
	m.file.Cleanup()
	text, err := m.file.Format()
	if err != nil {
		return err
	}
	return os.WriteFile(t.path(m.name()), text, 0o666)
}

// addSum adds the checksums of a module in the proxy to the go.sum of m, in the order of the go command.
func (t *tree) addSum(m *goModule, used, version, proxy string) error {
	goMod, archive, err := moduleproxy.Files(proxy, used, version)
	if err != nil {
		return err
	}
	sum, err := dirhash.HashZip(archive, dirhash.Hash1)
	if err != nil {
		return err
	}
	modSum, err := dirhash.Hash1([]string{"go.mod"}, func(string) (io.ReadCloser, error) { return os.Open(goMod) })
	if err != nil {
		return err
	}
	name := t.path(path.Join(m.dir, "go.sum"))
	text, err := os.ReadFile(name)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	lines := slices.Collect(strings.Lines(string(text)))
	at, _ := slices.BinarySearch(lines, used+" ")
	lines = slices.Insert(lines, at,
		fmt.Sprintf("%s %s %s\n", used, version, sum), fmt.Sprintf("%s %s/go.mod %s\n", used, version, modSum))
	return os.WriteFile(name, []byte(strings.Join(lines, "")), 0o666)
}

// addLicense copies the license of the repository into the directory of a module that has no other, as the go command
// does when it downloads a module.
func (t *tree) addLicense(m *goModule) error {
	name := t.path(path.Join(m.dir, "LICENSE"))
	if _, err := os.Lstat(name); err == nil {
		return nil
	}
	text, err := os.ReadFile(t.path("LICENSE"))
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	return os.WriteFile(name, text, 0o666)
}

// copyTo replaces each go.mod and go.sum in dir by that of the tree. If one cannot be written, git restore undoes the
// others, because the tree was clean.
func (t *tree) copyTo(dir string) error {
	for _, m := range t.sorted() {
		for _, name := range []string{m.name(), path.Join(m.dir, "go.sum")} {
			text, err := os.ReadFile(t.path(name))
			if os.IsNotExist(err) {
				continue // the module requires nothing
			}
			if err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), text, 0o666); err != nil {
				return err
			}
		}
	}
	return nil
}

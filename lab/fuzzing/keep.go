package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// largest is the maximum size of a committed input, in bytes.
const largest = 4 << 10

// keep copies cached inputs of the target to its testdata/fuzz until it has most inputs. Each cached input covered
// new code when it was found. First come inputs that cover a statement of the package that no earlier input
// covers, the smallest first. Then come others of all sizes.
//
// Until keep has chosen, all cached inputs are in testdata/fuzz, so that the test program can run them.
func (t target) keep(ctx context.Context, most int) error {
	cached, err := t.cached(ctx)
	if err != nil {
		return err
	}
	folder := filepath.Join(t.Package, "testdata", "fuzz", t.Name)
	known, _ := os.ReadDir(folder)
	cached = slices.DeleteFunc(cached, func(path string) bool {
		return slices.ContainsFunc(known, func(d os.DirEntry) bool { return d.Name() == filepath.Base(path) })
	})
	if len(cached) == 0 {
		return nil
	}
	var chosen []string
	defer func() {
		for _, path := range cached {
			if !slices.Contains(chosen, path) {
				_ = os.Remove(filepath.Join(folder, filepath.Base(path))) // some may be missing after an error
			}
		}
		_ = os.Remove(folder) // fails unless it is empty
	}()
	if err := copyInto(folder, cached); err != nil {
		return err
	}
	temp, err := os.MkdirTemp("", "fuzzing-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	c := covered{target: t, binary: filepath.Join(temp, "covered.test"), profile: filepath.Join(temp, "profile")}
	if out, err := exec.CommandContext(ctx, "go", "test", "-c", "-cover", "-o", c.binary,
		"./"+t.Package).CombinedOutput(); err != nil {
		return fmt.Errorf("%s does not build: %w\n%s", t.Package, err, out)
	}
	covering, rest, err := c.covering(ctx, cached, names(known))
	if err != nil {
		return err
	}
	room := max(most-len(known), 0)
	chosen = covering[:min(len(covering), room)]
	room = min(room-len(chosen), len(rest))
	for i := range room { // of the rest, small and large ones
		chosen = append(chosen, rest[i*len(rest)/room])
	}
	fmt.Printf("%s %s: %d inputs are committed, %d of them new; the cache holds %d\n", t.Package, t.Name,
		len(known)+len(chosen), len(chosen), len(cached))
	return nil
}

// copyInto copies files into a folder.
func copyInto(folder string, files []string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, filepath.Base(path)), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// adds reports whether more has a block that all lacks.
func adds(all, more map[string]bool) bool {
	for block := range more {
		if !all[block] {
			return true
		}
	}
	return false
}

// bases returns the last elements of paths.
func bases(paths []string) []string {
	var found []string
	for _, path := range paths {
		found = append(found, filepath.Base(path))
	}
	return found
}

// names returns the names of files as alternatives of a regular expression, each after a bar.
func names(files []os.DirEntry) string {
	var b strings.Builder
	for _, f := range files {
		b.WriteString("|" + regexp.QuoteMeta(f.Name()))
	}
	return b.String()
}

// cached returns the paths of the inputs in go's cache that are small enough, the smallest first.
func (t target) cached(ctx context.Context) ([]string, error) {
	ask := func(args ...string) (string, error) {
		out, err := exec.CommandContext(ctx, "go", args...).Output()
		return strings.TrimSpace(string(out)), err
	}
	cache, err := ask("env", "GOCACHE")
	if err != nil {
		return nil, err
	}
	path, err := ask("list", "./"+t.Package)
	if err != nil {
		return nil, err
	}
	files, _ := filepath.Glob(filepath.Join(cache, "fuzz", filepath.FromSlash(path), t.Name, "*"))
	size := make(map[string]int64)
	for _, file := range files {
		if info, err := os.Stat(file); err == nil && info.Size() <= largest {
			size[file] = info.Size()
		}
	}
	files = slices.DeleteFunc(files, func(file string) bool { return size[file] == 0 })
	slices.SortFunc(files, func(a, b string) int {
		if size[a] != size[b] {
			return int(size[a] - size[b])
		}
		return strings.Compare(a, b)
	})
	return files, nil
}

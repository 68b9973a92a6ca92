package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"maps"
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
// covers, the smallest first. Then come others of all sizes. The inputs run in a copy of the repository made of
// links.
func (t target) keep(ctx context.Context, most int) error {
	root, err := filepath.Abs(".")
	if err != nil {
		return err
	}
	cached, err := t.cached(ctx)
	if err != nil || len(cached) == 0 {
		return err
	}
	temp, err := os.MkdirTemp("", "fuzzing-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	folder := temp // the target's package in the copy
	source := root
	for _, name := range strings.Split(t.Package, "/") {
		if err := link(source, folder, name); err != nil {
			return err
		}
		source, folder = filepath.Join(source, name), filepath.Join(folder, name)
		if err := os.Mkdir(folder, 0o755); err != nil {
			return err
		}
	}
	if err := link(source, folder, "testdata"); err != nil {
		return err
	}
	inputs := filepath.Join(folder, "testdata", "fuzz", t.Name)
	if err := os.MkdirAll(inputs, 0o755); err != nil {
		return err
	}
	binary := filepath.Join(temp, "covered.test")
	if out, err := exec.CommandContext(ctx, "go", "test", "-c", "-cover", "-o", binary,
		"./"+t.Package).CombinedOutput(); err != nil {
		return fmt.Errorf("%s does not build: %w\n%s", t.Package, err, out)
	}
	reached := func(pattern string) (map[string]bool, error) {
		profile := filepath.Join(temp, "profile")
		cmd := exec.CommandContext(ctx, binary, "-test.run", pattern, "-test.coverprofile", profile)
		cmd.Dir = folder
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%s %s: %w\n%s", t.Package, pattern, err, out)
		}
		data, err := os.ReadFile(profile)
		if err != nil {
			return nil, err
		}
		found := make(map[string]bool)
		for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
			if block, ok := strings.CutSuffix(lines.Text(), " 0"); !ok {
				found[block[:strings.LastIndexByte(block, ' ')]] = true
			}
		}
		return found, nil
	}

	committed := filepath.Join(source, "testdata", "fuzz", t.Name)
	known, _ := os.ReadDir(committed)
	for _, d := range known {
		if err := os.Symlink(filepath.Join(committed, d.Name()), filepath.Join(inputs, d.Name())); err != nil {
			return err
		}
	}
	cached = slices.DeleteFunc(cached, func(path string) bool { // drops committed inputs
		return os.Symlink(path, filepath.Join(inputs, filepath.Base(path))) != nil
	})
	all, err := reached("^" + t.Name + "$/^(seed#.*" + names(known) + ")$")
	if err != nil {
		return err
	}
	var chosen, rest []string
	for group := range slices.Chunk(cached, 50) {
		more, err := reached("^" + t.Name + "$/^(" + strings.Join(bases(group), "|") + ")$")
		if err != nil {
			return err
		}
		if !adds(all, more) {
			rest = append(rest, group...)
			continue
		}
		for _, path := range group {
			if more, err = reached("^" + t.Name + "$/^" + filepath.Base(path) + "$"); err != nil {
				return err
			}
			if adds(all, more) {
				maps.Copy(all, more)
				chosen = append(chosen, path)
			} else {
				rest = append(rest, path)
			}
		}
	}
	room := max(most-len(known), 0)
	chosen = chosen[:min(len(chosen), room)]
	room = min(room-len(chosen), len(rest))
	for i := range room { // of the rest, small and large ones
		chosen = append(chosen, rest[i*len(rest)/room])
	}
	for _, path := range chosen {
		data, err := os.ReadFile(path)
		if err == nil {
			err = os.MkdirAll(committed, 0o755)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(committed, filepath.Base(path)), data, 0o644)
		}
		if err != nil {
			return err
		}
	}
	fmt.Printf("%s %s: %d inputs are committed, %d of them new; the cache holds %d\n", t.Package, t.Name,
		len(known)+len(chosen), len(chosen), len(cached))
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

// link creates links in a folder to all entries of another one, except for one name.
func link(from, to, but string) error {
	entries, err := os.ReadDir(from)
	for _, e := range entries {
		if e.Name() != but && err == nil {
			err = os.Symlink(filepath.Join(from, e.Name()), filepath.Join(to, e.Name()))
		}
	}
	return err
}

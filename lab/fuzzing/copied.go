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
	"slices"
	"strings"
)

// copied is a target in a copy of the repository that is made of links, so that it can run other inputs.
type copied struct {
	target
	source string // the package's folder in the repository
	folder string // and in the copy
	inputs string // the folder of the inputs in the copy
	temp   string
	binary string // the test program, which measures coverage
}

// copied links the repository into the folder temp, and builds the test program of the target.
func (t target) copied(ctx context.Context, temp string) (copied, error) {
	c := copied{target: t, folder: temp, temp: temp, binary: filepath.Join(temp, "covered.test")}
	var err error
	if c.source, err = filepath.Abs("."); err != nil {
		return c, err
	}
	for _, name := range strings.Split(t.Package, "/") {
		if err := link(c.source, c.folder, name); err != nil {
			return c, err
		}
		c.source, c.folder = filepath.Join(c.source, name), filepath.Join(c.folder, name)
		if err := os.Mkdir(c.folder, 0o755); err != nil {
			return c, err
		}
	}
	if err := link(c.source, c.folder, "testdata"); err != nil {
		return c, err
	}
	c.inputs = filepath.Join(c.folder, "testdata", "fuzz", t.Name)
	if err := os.MkdirAll(c.inputs, 0o755); err != nil {
		return c, err
	}
	if out, err := exec.CommandContext(ctx, "go", "test", "-c", "-cover", "-o", c.binary,
		"./"+t.Package).CombinedOutput(); err != nil {
		return c, fmt.Errorf("%s does not build: %w\n%s", t.Package, err, out)
	}
	return c, nil
}

// reached returns the blocks of the package that the inputs of a pattern cover.
func (c copied) reached(ctx context.Context, pattern string) (map[string]bool, error) {
	profile := filepath.Join(c.temp, "profile")
	cmd := exec.CommandContext(ctx, c.binary, "-test.run", "^"+c.Name+"$/^"+pattern+"$", "-test.coverprofile", profile)
	cmd.Dir = c.folder
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s", c.Package, pattern, err, out)
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

// covering returns the inputs that cover a statement which neither the seeds and the known inputs nor the inputs before
// them cover, and the rest. It runs groups of inputs first, because most cover nothing new.
func (c copied) covering(ctx context.Context, cached []string, known string) (covering, rest []string, err error) {
	all, err := c.reached(ctx, "(seed#.*"+known+")")
	if err != nil {
		return nil, nil, err
	}
	for group := range slices.Chunk(cached, 50) {
		more, err := c.reached(ctx, "("+strings.Join(bases(group), "|")+")")
		if err != nil {
			return nil, nil, err
		}
		if !adds(all, more) {
			rest = append(rest, group...)
			continue
		}
		for _, path := range group {
			if more, err = c.reached(ctx, filepath.Base(path)); err != nil {
				return nil, nil, err
			}
			if adds(all, more) {
				maps.Copy(all, more)
				covering = append(covering, path)
			} else {
				rest = append(rest, path)
			}
		}
	}
	return covering, rest, nil
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

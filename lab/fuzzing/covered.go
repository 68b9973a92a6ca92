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

// covered is a target with a test program that measures coverage.
type covered struct {
	target
	binary, profile string
}

// reached returns the blocks of the package that the inputs of a pattern cover.
func (c covered) reached(ctx context.Context, pattern string) (map[string]bool, error) {
	cmd := exec.CommandContext(ctx, c.binary, "-test.run", "^"+c.Name+"$/^"+pattern+"$", "-test.coverprofile", c.profile)
	cmd.Dir = c.Package
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s", c.Package, pattern, err, out)
	}
	data, err := os.ReadFile(c.profile)
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
func (c covered) covering(ctx context.Context, cached []string, known string) (covering, rest []string, err error) {
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

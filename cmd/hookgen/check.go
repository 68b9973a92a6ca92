package main

import (
	"errors"
	"go/token"
	"os"
	"path/filepath"
	"strings"

	"github.com/hookgen/hookgen/gen"
)

// The rules of findings that checks look for.
const (
	ruleStale  = "stale"
	ruleNoSpec = "no-spec" // of package gen
)

// check reports how the output is stale, without writing anything. Without the flag -o, the flags of the go:generate
// lines apply.
func (i *invocation) check() error {
	if root, ok := strings.CutSuffix(i.dir, "..."); ok {
		return i.checkAll(filepath.Clean(root))
	}
	if i.out == "" {
		if lines := i.ownLines(); len(lines) > 0 {
			if _, found := gen.Read(i.dir); len(found) > 0 {
				return found // once, and not for each line
			}
			return i.checkLines(lines)
		}
	}
	outputs, err := i.make()
	if err != nil {
		return err
	}
	command := "hookgen "
	if i.out != "" {
		command += "-o " + i.out + " "
	}
	return i.compare(outputs, command+i.dir)
}

// ownLines returns the go:generate lines in the spec's directory that generate from it.
func (i *invocation) ownLines() []generateLine {
	tree := &specTree{}
	entries, err := os.ReadDir(i.dir)
	if err != nil {
		return nil // which reading the spec reports
	}
	for _, entry := range entries {
		name := filepath.Join(i.dir, entry.Name())
		if filepath.Ext(name) != ".go" {
			continue
		}
		if text, err := readSource(name); err == nil && !gen.Generated(text) {
			tree.lines = append(tree.lines, generateLines(name, text)...)
		}
	}
	return tree.linesFor(filepath.Clean(i.dir))
}

// checkLines checks the outputs of several go:generate lines.
func (i *invocation) checkLines(lines []generateLine) error {
	var all gen.Diagnostics
	for _, line := range lines {
		err := i.checkLine(line)
		var found gen.Diagnostics
		switch {
		case errors.As(err, &found):
			all = append(all, found...)
		case err != nil:
			return err
		}
	}
	if len(all) > 0 {
		return all
	}
	return nil
}

// checkLine checks the output of one go:generate line.
func (i *invocation) checkLine(line generateLine) error {
	if line.problem != "" {
		return gen.Diagnostics{{Pos: line.pos, Rule: ruleGenerateLine, Message: line.problem}}
	}
	one := *i
	one.dir, one.out = line.dir, line.out
	outputs, err := one.make()
	if err != nil {
		return err
	}
	return one.compare(outputs, "go generate "+goPath(filepath.Dir(line.pos.Filename)))
}

// compare compares the outputs with the files at their paths. remedy is the command that writes the files.
func (i *invocation) compare(outputs []*output, remedy string) error {
	var found gen.Diagnostics
	for _, o := range outputs {
		why, err := i.staleness(o)
		if err != nil {
			return err
		}
		if why != "" {
			found = append(found, gen.Diagnostic{Pos: token.Position{Filename: o.path}, Rule: ruleStale,
				Message: why + ": run " + remedy})
		}
	}
	if len(found) > 0 {
		return found
	}
	return nil
}

// staleness returns the reason why an output is stale, or "" if it is fresh.
func (i *invocation) staleness(o *output) (string, error) {
	old, err := o.existing()
	switch {
	case err != nil:
		return "", err
	case old == nil && o.text == nil:
		return "", nil
	case old == nil:
		return "does not exist", nil
	case o.text == nil:
		return "is not needed, because the spec is not marked //hookgen:wire", nil
	case same(old, o.text):
		if !i.all {
			i.say("fresh %s: %s, %d bytes", o.path, count(o.points, "point"), len(o.text))
		}
		return "", nil
	}
	i.say("%s", unifiedDiff(o.path, old, o.text))
	return "is not what the spec makes", nil
}

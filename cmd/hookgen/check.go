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
	o, err := i.make()
	if err != nil {
		return err
	}
	command := "hookgen "
	if i.out != "" {
		command += "-o " + i.out + " "
	}
	return i.compare(o, command+i.dir)
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
		if text, err := os.ReadFile(name); err == nil && filepath.Ext(name) == ".go" && !gen.Generated(text) {
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
	o, err := one.make()
	if err != nil {
		return err
	}
	return one.compare(o, "go generate "+goPath(filepath.Dir(line.pos.Filename)))
}

// compare compares the output with the file at its path. remedy is the command that writes the file.
func (i *invocation) compare(o *output, remedy string) error {
	stale := func(why string) error {
		return gen.Diagnostics{{Pos: token.Position{Filename: o.path}, Rule: ruleStale, Message: why + ": run " + remedy}}
	}
	old, err := o.existing()
	switch {
	case err != nil:
		return err
	case old == nil:
		return stale("does not exist")
	case same(old, o.text):
		if !i.all {
			i.say("fresh %s: %s, %d bytes", o.path, o.points(), len(o.text))
		}
		return nil
	}
	i.say("%s", unifiedDiff(o.path, old, o.text))
	return stale("is not what the spec makes")
}

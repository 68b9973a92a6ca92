package main

import (
	"errors"
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
	command := "hookgen "
	if i.out != "" {
		command += "-o " + i.out + " "
	}
	return i.checkOutputs(command + i.dir)
}

// ownLines returns the go:generate lines in the spec's directory that generate from it.
func (i *invocation) ownLines() []generateLine {
	tree := &specTree{}
	entries, err := os.ReadDir(i.dir)
	if err != nil {
		return nil // which reading the spec reports
	}
	for _, entry := range entries {
		_ = tree.read(filepath.Join(i.dir, entry.Name())) // as above
	}
	return tree.linesFor(filepath.Clean(i.dir))
}

// checkLines checks the outputs of several go:generate lines.
func (i *invocation) checkLines(lines []generateLine) error {
	var all gen.Diagnostics
	for _, line := range lines {
		var found gen.Diagnostics
		if err := i.checkLine(line); err != nil && !errors.As(err, &found) {
			return err
		}
		all = append(all, found...)
	}
	return asError(all)
}

// checkLine checks the output of one go:generate line.
func (i *invocation) checkLine(line generateLine) error {
	if line.problem != "" {
		return diagnostic(line.pos, ruleGenerateLine, line.problem)
	}
	one := *i
	one.dir, one.out = line.dir, line.out
	return one.checkOutputs("go generate " + goPath(filepath.Dir(line.pos.Filename)))
}

// checkOutputs compares the outputs of the spec in the directory with the files at their paths. remedy is the command
// that writes them.
func (i *invocation) checkOutputs(remedy string) error {
	outputs, err := i.make()
	if err != nil {
		return err
	}
	var found gen.Diagnostics
	for _, o := range outputs {
		if why := i.staleness(o); why != "" {
			found = append(found, inTheWay(o.path, ruleStale, why+": run "+remedy)...)
		}
	}
	return asError(found)
}

// staleness returns the reason why an output is stale, or "" if it is fresh.
func (i *invocation) staleness(o *output) string {
	switch {
	case same(o.old, o.text):
		if o.text != nil && !i.all {
			i.say("fresh %s: %s%d bytes", o.path, o.holds, len(o.text))
		}
		return ""
	case o.old == nil:
		return "does not exist"
	case o.text == nil:
		return "is not needed, because the spec is not marked //hookgen:wire"
	}
	i.say("%s", unifiedDiff(o.path, o.old, o.text))
	return "is not what the spec makes"
}

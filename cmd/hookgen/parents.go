package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/hookgen/hookgen/gen"
)

// checkParents reports embedded packages that extend the same package. A program would have two copies of that
// package's registries, and a hook in one copy would never fire in the other.
//
// The header of generated code names the packages that it extends. checkParents reads only packages that it finds
// without the go command: in the same module or workspace, in the directory of a replace line, or vendored. For other
// packages, a program with the generated code panics when it starts.
func (i *invocation) checkParents(s *gen.Spec) gen.Diagnostics {
	if len(s.Parents) < 2 {
		return nil
	}
	near := modulesNear(i.dir)
	var found gen.Diagnostics
	first := map[string]string{} // the parent that brings a package
	for _, p := range s.Parents {
		for _, path := range near.lineage(p.Import.Path) {
			before, twice := first[path]
			if !twice {
				first[path] = p.Import.Path
				continue
			}
			found = append(found, diagnostic(s.Fset.PositionFor(p.Pos, false), "shared-parent",
				sharedParent(before, p.Import.Path, path))...)
			break
		}
	}
	return found
}

// sharedParent returns the message for two embedded packages that share an extended package. The shared package can be
// one of the two.
func sharedParent(one, other, shared string) string {
	if shared == other {
		one, other = other, one
	}
	if shared == one {
		return fmt.Sprintf("%s extends %s, which is embedded too, so its registries would exist twice: remove %s",
			other, one, one)
	}
	return fmt.Sprintf("%s and %s both extend %s, so its registries would exist twice, and a hook in one would never "+
		"fire in the other: let one of the two extend the other, and embed that one alone", one, other, shared)
}

// lineage returns the import path of a package and of those that it extends, near ones first, as far as they are found.
func (m *modules) lineage(importPath string) []string {
	paths := []string{importPath}
	for next := 0; next < len(paths); next++ {
		dir := m.directory(paths[next])
		text, err := os.ReadFile(filepath.Join(dir, gen.FileName))
		if dir == "" || err != nil {
			continue
		}
		origin, _ := gen.OriginOf(text)
		for _, parent := range origin.Extends {
			if !slices.Contains(paths, parent) {
				paths = append(paths, parent)
			}
		}
	}
	return paths
}

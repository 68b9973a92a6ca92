package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hookgen/hookgen/gen"
	"github.com/hookgen/hookgen/gen/page"
	"github.com/hookgen/hookgen/gen/summary"
)

// doc prints or writes the page of the spec.
func (i *invocation) doc() error {
	s, err := i.summary()
	if err != nil {
		return err
	}
	text, err := page.Write(s, i.generatedPackage(s))
	if err != nil {
		return err
	}
	return i.deliver(text, page.Header, "hookgen doc")
}

// summary reads the spec.
func (i *invocation) summary() (*summary.Spec, error) {
	spec, found := gen.Read(i.dir)
	if len(found) > 0 {
		return nil, found
	}
	path, err := importPath(i.dir)
	if err != nil {
		path = "" // outside of a module
	}
	return summary.Of(spec, path), nil
}

// generatedPackage returns the package that the first go:generate line of the spec writes, by default the package of
// the spec.
func (i *invocation) generatedPackage(s *summary.Spec) page.Generated {
	for _, line := range i.ownLines() {
		if line.problem != "" || line.out == "" || sameDir(line.out, i.dir) {
			continue
		}
		absolute, err := filepath.Abs(line.out)
		if err != nil {
			continue
		}
		if path, err := importPath(line.out); err == nil {
			return page.Generated{Package: filepath.Base(absolute), Path: path}
		}
	}
	return page.Generated{Package: s.Package, Path: s.Path}
}

// checkDocumentFlags refuses flags that do not go together with the command or with each other.
func (i *invocation) checkDocumentFlags(given map[string]bool) error {
	document := i.command == "doc"
	switch {
	case given["check"] && !document:
		return errors.New("-check is a flag of hookgen doc")
	case given["check"] && i.fresh == "":
		return errors.New("-check needs a file")
	case given["o"] && i.out == "" && document:
		return errors.New("-o needs a file")
	case given["check"] && given["o"]:
		return errors.New("-check compares a file and -o writes one: choose one")
	case i.json && (document || i.command == "export") && !given["o"] && !given["check"]:
		return fmt.Errorf("-json prints findings where %s prints its output: give -o too", i.command)
	}
	return nil
}

// deliver prints a document, or writes it to the file of -o, or compares it with the file of -check. header is part of
// every document of its kind, and command is the beginning of the command that writes it.
func (i *invocation) deliver(text []byte, header, command string) error {
	switch {
	case i.fresh != "":
		return i.compareDocument(text, header, command)
	case i.out == "":
		_, err := i.stdout.Write(text)
		return err
	}
	old, err := previous(i.out, header)
	if err != nil {
		return err
	}
	did := "unchanged"
	if !same(old, text) {
		did = "wrote"
		if err := replace(i.out, text); err != nil {
			return err
		}
	}
	i.say("%s %s: %d bytes", did, i.out, len(text))
	return nil
}

// compareDocument reports how the file of -check differs from a document.
func (i *invocation) compareDocument(text []byte, header, command string) error {
	stale := func(why string) error {
		return inTheWay(i.fresh, ruleStale, fmt.Sprintf("%s: run %s -o %s %s", why, command, i.fresh, i.dir))
	}
	old, err := previous(i.fresh, header)
	switch {
	case err != nil:
		return err
	case old == nil:
		return stale("does not exist")
	case same(old, text):
		i.say("fresh %s: %d bytes", i.fresh, len(text))
		return nil
	}
	i.say("%s", unifiedDiff(i.fresh, old, text))
	return stale("is not what the spec makes")
}

// previous returns the text of a document that an earlier run wrote, or nil if the file does not exist. A file without
// the header is a diagnostic, because nobody wants to lose a page of their own.
func previous(path, header string) ([]byte, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("%s cannot be read: %w", path, plain(err))
	case !info.Mode().IsRegular():
		return nil, inTheWay(path, "output-special", "is not a regular file: give the name of a file")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", path, plain(err))
	}
	if !bytes.Contains(text, []byte(header)) {
		return nil, inTheWay(path, "hand-written", fmt.Sprintf(
			"was not written by hookgen (it lacks %q) and is not overwritten: give another file, or remove it", header))
	}
	return text, nil
}

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/gen"
	"github.com/hookgen/hookgen/gen/export"
)

const (
	modelFile    = "model.json"
	schemaSuffix = ".schema.json"
)

// export prints the model of the spec as JSON, or writes it to the directory of -o with a file for each schema.
func (i *invocation) export() error {
	spec, found := gen.Read(i.dir)
	if len(found) > 0 {
		return found
	}
	loaded, err := export.Load(spec)
	if err != nil {
		return err
	}
	model := loaded.Model()
	text, err := export.JSON(model)
	if err != nil {
		return err
	}
	if i.out == "" {
		if _, err := i.stdout.Write(text); err != nil {
			return err
		}
	} else if err := i.writeExport(text, loaded.Documents()); err != nil {
		return err
	}
	for _, p := range model.Points {
		if p.Problem != "" {
			fmt.Fprintf(i.stderr, "%s:%d:%d: note: %s: it has no schema\n", filepath.Join(i.dir, p.Position.File),
				p.Position.Line, p.Position.Col, p.Problem)
		}
	}
	return nil
}

// writeExport writes the model and the schemas, and removes the schemas of earlier runs that are gone. It writes
// nothing if a file is in the way.
func (i *invocation) writeExport(model []byte, documents []export.Document) error {
	texts := map[string][]byte{modelFile: model}
	for _, d := range documents {
		text, err := export.JSON(d.Schema)
		if err != nil {
			return err
		}
		texts[d.Name] = text
	}
	var changed, gone []string
	for name, text := range texts {
		old, err := previous(filepath.Join(i.out, name), export.Header)
		if err != nil {
			return err
		}
		if !same(old, text) {
			changed = append(changed, name)
		}
	}
	entries, err := os.ReadDir(i.out)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("-o %s cannot be read: %w: give a directory", i.out, plain(err))
	}
	for _, entry := range entries {
		name := entry.Name()
		if _, ok := texts[name]; ok || !strings.HasSuffix(name, schemaSuffix) {
			continue
		}
		if old, err := previous(filepath.Join(i.out, name), export.Header); err == nil && old != nil {
			gone = append(gone, name)
		}
	}
	slices.Sort(changed)
	for _, name := range changed {
		if err := replace(filepath.Join(i.out, name), texts[name]); err != nil {
			return err
		}
	}
	for _, name := range gone {
		if err := os.Remove(filepath.Join(i.out, name)); err != nil {
			return fmt.Errorf("%s cannot be removed: %w", filepath.Join(i.out, name), plain(err))
		}
		i.say("removed %s", filepath.Join(i.out, name))
	}
	did := "unchanged"
	if len(changed) > 0 {
		did = "wrote"
	}
	i.say("%s %s: %s and %s, %d changed", did, i.out, modelFile, count(len(documents), "schema"), len(changed))
	return nil
}

package main

import (
	"errors"
	"fmt"
	"maps"
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
	entries, err := os.ReadDir(i.out)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("-o %s cannot be read: %w: give a directory", i.out, plain(err))
	}
	for _, entry := range entries {
		if name := entry.Name(); texts[name] == nil && strings.HasSuffix(name, schemaSuffix) {
			texts[name] = nil // removed if it has the header
		}
	}
	var outputs []*output
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		o := &output{path: filepath.Join(i.out, name), text: texts[name]}
		if o.old, err = previous(o.path, export.Header); err != nil && o.text != nil {
			return err
		}
		outputs = append(outputs, o)
	}
	total, changed := "unchanged", 0
	for _, o := range outputs {
		switch did, err := o.put(); {
		case err != nil:
			return err
		case did == "wrote":
			total = did
			changed++
		case did == "removed":
			i.say("removed %s", o.path)
		}
	}
	i.say("%s %s: %s and %s, %d changed", total, i.out, modelFile, count(len(documents), "schema"), changed)
	return nil
}

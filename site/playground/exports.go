package playground

import (
	"archive/zip"
	"bytes"
	"fmt"
	"go/token"
	"go/types"
	"io"
	"maps"
	"slices"

	"golang.org/x/tools/go/gcexportdata"
)

// Exports are packages that a spec or a hook may import. Each is read when it is imported first.
type Exports struct {
	files map[string]*zip.File // by import path, the export data that the compiler wrote
	fset  *token.FileSet
	known map[string]*types.Package // those that were read, and what they need
}

// ReadExports opens an archive that [WriteExports] wrote.
func ReadExports(archive []byte) (*Exports, error) {
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return nil, err
	}
	e := &Exports{map[string]*zip.File{}, token.NewFileSet(), map[string]*types.Package{}}
	for _, f := range z.File {
		e.files[f.Name] = f
	}
	return e, nil
}

// WriteExports writes packages as a zip archive: by import path, the export data that the compiler wrote. Equal
// packages give equal bytes.
func WriteExports(w io.Writer, exports map[string][]byte) error {
	z := zip.NewWriter(w)
	for _, name := range slices.Sorted(maps.Keys(exports)) {
		f, err := z.Create(name)
		if err != nil {
			return err
		}
		if _, err := f.Write(exports[name]); err != nil {
			return err
		}
	}
	return z.Close()
}

// Import returns the package of an import path.
func (e *Exports) Import(importPath string) (*types.Package, error) {
	if importPath == "unsafe" {
		return types.Unsafe, nil
	}
	if pkg := e.known[importPath]; pkg != nil && pkg.Complete() {
		return pkg, nil
	}
	f, ok := e.files[importPath]
	if !ok {
		return nil, fmt.Errorf("package %s is not in the playground", importPath)
	}
	data, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer data.Close()
	return gcexportdata.Read(data, e.fset, e.known, importPath)
}

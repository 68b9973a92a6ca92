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

// Exports are packages that a spec or a hook may import: by import path, the export data that the compiler wrote.
type Exports map[string][]byte

// ReadExports reads an archive that [WriteExports] wrote.
func ReadExports(archive []byte) (Exports, error) {
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return nil, err
	}
	exports := Exports{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			return nil, err
		}
		data, err := io.ReadAll(r)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		exports[f.Name] = data
	}
	return exports, nil
}

// WriteExports writes the packages as a zip archive. Equal packages give equal bytes.
func WriteExports(w io.Writer, exports Exports) error {
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

// read returns the package of an import path. It adds what the package needs to known.
func (e Exports) read(fset *token.FileSet, importPath string, known map[string]*types.Package) (*types.Package, error) {
	if importPath == "unsafe" {
		return types.Unsafe, nil
	}
	data, ok := e[importPath]
	if !ok {
		return nil, fmt.Errorf("package %s is not in the playground", importPath)
	}
	return gcexportdata.Read(bytes.NewReader(data), fset, known, importPath)
}

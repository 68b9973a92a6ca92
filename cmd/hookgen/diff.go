package main

import (
	"bytes"

	"github.com/rogpeppe/go-internal/diff"
)

// unifiedDiff describes in the unified format how the file at path must change, without a final newline. Line ends of
// Windows count as those of Unix.
func unifiedDiff(path string, old, text []byte) string {
	unix := func(text []byte) []byte { return bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")) }
	_, hunks, _ := bytes.Cut(diff.Diff(path, unix(old), path+" (generated)", unix(text)),
		[]byte("\n")) // without the line "diff old new"
	return string(bytes.TrimSuffix(hunks, []byte("\n")))
}

package main

import (
	"bytes"

	"github.com/rogpeppe/go-internal/diff"
)

// unifiedDiff returns the change to the file at path in unified format, without a final newline. It ignores the
// difference between CRLF and LF.
func unifiedDiff(path string, old, text []byte) string {
	unix := func(text []byte) []byte { return bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")) }
	_, hunks, _ := bytes.Cut(diff.Diff(path, unix(old), path+" (generated)", unix(text)),
		[]byte("\n")) // without the line "diff old new"
	return string(bytes.TrimSuffix(hunks, []byte("\n")))
}

// Package textfile reads files that operators write, such as settings and rules.
//
// Start with [Read].
package textfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"unicode/utf8"
)

// Read reads a file of at most limit bytes. A file that is larger is an error, and so is one that is not a regular file
// or a link to one: reading a named pipe would wait until somebody writes to it.
func Read(path string, limit int) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "read", Path: path, Err: errors.New("not a regular file; name another one")}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, int64(limit)+1)) // more than Stat said, if it grows meanwhile
	if err != nil {
		return nil, err
	}
	if len(text) > limit {
		return nil, fmt.Errorf("%s: the file has more than %d bytes; shorten or split it", path, limit)
	}
	return text, nil
}

// CheckUTF8 returns an error with the position of the first byte that is not UTF-8, or of a byte order mark. Package
// json replaces such bytes, so that for example a rule for the tool "caf\xe9" never applies.
func CheckUTF8(name string, text []byte) error {
	if bytes.HasPrefix(text, []byte("\ufeff")) {
		return fmt.Errorf("%s: the file begins with a byte order mark; save it as UTF-8 without one", Position(name, text, 0))
	}
	for at, r := range string(text) {
		if r == utf8.RuneError && !bytes.HasPrefix(text[at:], []byte("\ufffd")) {
			return fmt.Errorf("%s: the byte %#x is not UTF-8; save the file as UTF-8", Position(name, text, at), text[at])
		}
	}
	return nil
}

// Position returns the name of a text with the line and the column of an offset, for example "hooks.json:2:21". Columns
// count bytes, from 1. An offset outside of the text is that of its beginning or end.
func Position(name string, text []byte, offset int) string {
	before := text[:min(max(offset, 0), len(text))]
	line, column := bytes.Count(before, []byte("\n"))+1, len(before)-bytes.LastIndexByte(before, '\n')
	return fmt.Sprintf("%s:%d:%d", name, line, column)
}

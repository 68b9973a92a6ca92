// Package textfile reads files that operators write, such as settings and rules.
//
// Start with [Read].
package textfile

import (
	"bytes"
	"cmp"
	"encoding/json"
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

// Unmarshal decodes the JSON of a file. An error begins with the position: of a byte that is not UTF-8, of a byte order
// mark, of a mistake in the syntax, or of a value of the wrong type.
func Unmarshal(name string, text []byte, into any) error {
	if err := checkUTF8(name, text); err != nil {
		return err
	}
	err := json.Unmarshal(text, into)
	if err == nil {
		return nil
	}
	offset := int64(0)
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		offset = e.Offset - 1
	}
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		offset = e.Offset - 1
	}
	return fmt.Errorf("%s: %w", Position(name, text, int(offset)), WrongType(err))
}

// WrongType returns an error about a value of the wrong type in the words of JSON, and any other error as it is.
func WrongType(err error) error {
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("%s has the type %s, not %v", cmp.Or(e.Field, "it"), e.Value, e.Type)
	}
	return err
}

// checkUTF8 returns an error for the first byte that is not UTF-8, and for a byte order mark. Package json replaces
// such bytes, so that for example a rule for the tool "caf\xe9" never applies.
func checkUTF8(name string, text []byte) error {
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

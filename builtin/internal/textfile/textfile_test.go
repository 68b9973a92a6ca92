package textfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/textfile"
)

func TestOnlyRegularFilesAreRead(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("four"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		limit int
		want  string // of the error
	}{
		{"file", 4, ""},
		{"link", 4, ""},
		{"file", 3, "file: the file has more than 3 bytes; shorten or split it"},
		{".", 4, "not a regular file"},
		{"missing", 4, "missing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, err := textfile.Read(filepath.Join(dir, c.name), c.limit)
			if c.want == "" && (err != nil || string(text) != "four") {
				t.Errorf("%q, %v", text, err)
			}
			if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%q, %v; want an error with %q", text, err, c.want)
			}
		})
	}
	if _, err := textfile.Read(filepath.Join(dir, "missing"), 4); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the error of a missing file is %v", err)
	}
}

func TestMistakesHaveTheirPosition(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "f:1:1: unexpected end of JSON input",
		"\"caf\u00e9 \U0001f600\"": "",
		"[1,\n 2 3]":               "f:2:4: invalid character '3' after array element",
		"\ufeff{}":                 "f:1:1: the file begins with a byte order mark; save it as UTF-8 without one",
		"a\ncaf\xe9":               "f:2:4: the byte 0xe9 is not UTF-8; save the file as UTF-8",
		"\xed\xa0\x80":             "f:1:1: the byte 0xed is not UTF-8; save the file as UTF-8",
		"{\x00\"\x00":              "f:1:2: invalid character '\\x00' looking for beginning of object key string",
		"\xff\xfe{\x00":            "f:1:1: the byte 0xff is not UTF-8; save the file as UTF-8",
	} {
		t.Run(text, func(t *testing.T) {
			err := textfile.Unmarshal("f", []byte(text), new(any))
			if (err == nil) != (want == "") || err != nil && err.Error() != want {
				t.Errorf("the error is %v, want %q", err, want)
			}
		})
	}
}

func TestPositionsCountBytes(t *testing.T) {
	for at, want := range map[int]string{-1: "f:1:1", 0: "f:1:1", 2: "f:1:3", 3: "f:2:1", 9: "f:2:2"} {
		if got := textfile.Position("f", []byte("\u00e9\nx"), at); got != want {
			t.Errorf("the position of %d is %s, want %s", at, got, want)
		}
	}
}

package main

import (
	"bytes"
	"fmt"
	"testing"
)

// Every output of git cat-file --batch is split into the objects that were put into it, and other text is an error.
func FuzzSplitBatch(f *testing.F) {
	f.Add([]byte("aa blob 3\nabc\n"), []byte("abc"))
	f.Add([]byte("aa blob 9\nabc\n"), []byte(""))
	f.Add([]byte("aa missing\n"), []byte("\n"))
	f.Add([]byte("aa blob -1\n\n"), []byte("aa blob 1\n"))
	f.Add([]byte("aa tree 0\n\n"), []byte{0})
	f.Fuzz(func(t *testing.T, out, object []byte) {
		if texts, err := splitBatch(out); err == nil {
			size := 0
			for _, text := range texts {
				size += len(text)
			}
			if size > len(out) {
				t.Errorf("%d bytes of %d", size, len(out))
			}
		}
		texts, err := splitBatch(fmt.Appendf(nil, "aa blob %d\n%s\nbb blob 0\n\n", len(object), object))
		if err != nil || len(texts) != 2 || !bytes.Equal(texts[0], object) || len(texts[1]) > 0 {
			t.Errorf("%q: %v, %v", object, texts, err)
		}
	})
}

// The listing has neither links nor submodules, and a path may contain anything but a zero byte.
func TestListRevision(t *testing.T) {
	r := &revision{blobs: map[string]map[string]string{}}
	r.list([]byte("100644 blob a1\tspec.go\x00100755 blob a2\tmail/spec.go\x00120000 blob a3\tmail/link.go\x00" +
		"160000 commit a4\tmodule\x00100644 blob a5\tmail/new\nline\tand tab.go\x00\x00nonsense\x00"))
	got := fmt.Sprint(r.blobs)
	if want := "map[.:map[spec.go:a1] mail:map[new\nline\tand tab.go:a5 spec.go:a2]]"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

package rotated_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/cmd/hooklog/internal/rotated"
)

func TestOpen(t *testing.T) {
	for _, c := range []struct {
		name  string
		files []string // the suffixes
		want  string
	}{
		{"one file", []string{""}, "run"},
		{"the oldest first", []string{"", ".1", ".2"}, "run.2 run.1 run"},
		{"a file that is being renamed", []string{"", ".2", ".3"}, "run.3 run.2 run"},
		{"files of another writer", []string{"", ".3", ".old"}, "run"},
		{"more than nine", []string{"", ".1", ".2", ".3", ".4", ".5", ".6", ".7", ".8", ".9", ".10"},
			"run.10 run.9 run.8 run.7 run.6 run.5 run.4 run.3 run.2 run.1 run"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := makeFiles(t, c.files...)
			files, err := rotated.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer rotated.Close(files)
			if got := texts(t, files); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestOpenReadsAFileOnce(t *testing.T) {
	path := makeFiles(t, "")
	if err := os.Link(path, path+".1"); err != nil {
		t.Skip(err)
	}
	files, err := rotated.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer rotated.Close(files)
	if got := texts(t, files); got != "run" {
		t.Errorf("got %q", got)
	}
}

func TestNewer(t *testing.T) {
	for _, c := range []struct{ than, want string }{
		{"", "run"},
		{".1", "run"},
		{".2", "run.1 run"},
		{".other", "run"},
	} {
		t.Run("than run"+c.than, func(t *testing.T) {
			path := makeFiles(t, "", ".1", ".2", ".3", ".other")
			info, err := os.Stat(path + c.than)
			if err != nil {
				t.Fatal(err)
			}
			all, err := rotated.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer rotated.Close(all)
			if got := texts(t, rotated.Newer(all, info)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestMissingFilesAreErrors(t *testing.T) {
	path := makeFiles(t, ".1")
	if _, err := rotated.Open(path); !os.IsNotExist(err) {
		t.Errorf("Open returned the error %v", err)
	}
}

// makeFiles writes files whose texts are their names, and returns the path without a suffix.
func makeFiles(t *testing.T, suffixes ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run")
	for _, s := range suffixes {
		if err := os.WriteFile(path+s, []byte("run"+s), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

func texts(t *testing.T, files []rotated.File) string {
	t.Helper()
	var all []string
	for _, f := range files {
		text, err := io.ReadAll(f)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(text))
	}
	return strings.Join(all, " ")
}

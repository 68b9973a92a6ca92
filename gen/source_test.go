package gen

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const oneSpec = "package p\n\n//hookgen:points\ntype Points interface {\n\tOnStart(int)\n}\n"

// folder writes files into a new directory.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestUnreadableFilesAreReportedWithoutASpec(t *testing.T) {
	loop := func(dir string) {
		if err := os.Symlink("loop.go", filepath.Join(dir, "loop.go")); err != nil {
			t.Skip(err)
		}
	}
	dir := folder(t, map[string]string{"other.go": "package p\n"})
	loop(dir)
	_, found := Read(dir)
	if len(found) != 1 || !found.Trouble() || found[0].Pos.Filename != filepath.Join(dir, "loop.go") ||
		!strings.HasPrefix(found[0].Message, "cannot be read (") {
		t.Errorf("without a spec: %v", found)
	}
	dir = folder(t, map[string]string{"other.go": "package p\n\nconst Zero = 0\n", "spec.go": oneSpec})
	loop(dir)
	if s, found := Read(dir); len(found) > 0 || len(s.Exports) == 0 {
		t.Errorf("beside a spec: %v", found)
	}
	dir = folder(t, map[string]string{"spec.go": "package p\n\n//hookgen:points\ntype Points interface{}\n"})
	loop(dir)
	if _, found := Read(dir); len(found) != 1 || found[0].Rule != "no-points" {
		t.Errorf("beside a spec with a mistake: %v", found)
	}
	dir = folder(t, map[string]string{"spec.go": oneSpec})
	loop(dir)
	if _, found := Read(dir); len(found) > 0 {
		t.Errorf("beside nothing but a spec: %v", found)
	}
	dir = t.TempDir()
	loop(dir)
	if _, found := Read(dir); len(found) != 1 || !found.Trouble() {
		t.Errorf("alone: %v", found)
	}
}

func TestDirectoriesAndBrokenLinksAreIgnored(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "dir.go"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere.go", filepath.Join(dir, "link.go")); err != nil {
		t.Skip(err)
	}
	if _, found := Read(dir); len(found) != 1 || found[0].Rule != "no-spec" ||
		!strings.HasPrefix(found[0].Message, "no Go file") {
		t.Error(found)
	}
}

func TestReadErrorsNameTheRemedy(t *testing.T) {
	for err, want := range map[error]string{
		&fs.PathError{Op: "open", Path: "x", Err: fs.ErrPermission}: "may not be read: change its permissions",
		&fs.PathError{Op: "open", Path: "x", Err: fs.ErrClosed}: "cannot be read (file already closed): " +
			"replace or remove it",
		fs.ErrInvalid: "cannot be read (invalid argument): replace or remove it",
	} {
		t.Run(want, func(t *testing.T) {
			if got := readFailure(err); got != want {
				t.Errorf("%v: %q", err, got)
			}
		})
	}
}

// The huge files are sparse, so they cost no disk space.
func TestHugeFilesAreNotRead(t *testing.T) {
	dir := folder(t, map[string]string{"a.go": oneSpec, "b.go": "", "c.go": "", "z.go": "package p\n"})
	for _, name := range []string{"b.go", "c.go"} {
		if err := os.Truncate(filepath.Join(dir, name), maxSource+1); err != nil {
			t.Skip(err)
		}
	}
	_, found := Read(dir)
	if len(found) != 2 {
		t.Fatal(found)
	}
	for i, name := range []string{"b.go", "c.go"} {
		if found[i].Rule != "size" || found[i].Pos.Filename != filepath.Join(dir, name) ||
			found[i].Message != "has 67.1 MB, and no file of its package is read beyond 64 MB: move it into another package" {
			t.Error(found[i])
		}
	}
	found = tooLarge([]source{{text: []byte(pointsDirective), size: maxSource}})
	if len(found) != 1 || found[0].Message != "has 67.1 MB, and a spec is not read beyond 4 MB: "+
		"declare payloads in other files" {
		t.Error(found)
	}
}

func TestSpecsHaveASizeLimit(t *testing.T) {
	for size, refused := range map[int64]bool{maxSpec: false, maxSpec + 1: true} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			s := source{text: []byte(pointsDirective), size: size}
			if s.tooLarge() != refused {
				t.Errorf("a spec of %d bytes: %v", size, !refused)
			}
			if s.text = nil; s.tooLarge() {
				t.Errorf("another file of %d bytes is refused", size)
			}
		})
	}
	for size, refused := range map[int64]bool{maxSource: false, maxSource + 1: true} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			if (source{size: size}).tooLarge() != refused {
				t.Errorf("a file of %d bytes: %v", size, !refused)
			}
		})
	}
}

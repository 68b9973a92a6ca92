package main

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// small is a repository whose modules need no others. Module b requires module a.
var small = map[string]string{
	"LICENSE":                 "a license\n",
	"CHANGELOG.md":            "# Changelog\n\n## [Unreleased]\n\n## [0.1.0] - 2026-01-31\n\n- All is new.\n",
	"go.mod":                  "module example.com/kit\n\ngo 1.26.0\n",
	"kit.go":                  "package kit\n\nimport _ \"example.com/kit/internal/part\"\n",
	"internal/part/part.go":   "package part\n",
	"gen/version.go":          "package gen\n\nconst Version = \"v0.1.0\"\n",
	"lab/bench/go.mod":        "module example.com/kit/lab/bench\n\ngo 1.26.0\n" + requires("../..", "contrib/a", ""),
	"lab/bench/bench.go":      "package bench\n\nimport _ \"example.com/kit/contrib/a\"\n",
	"contrib/a/go.mod":        "module example.com/kit/contrib/a\n\ngo 1.26.0\n" + requires("../..", ""),
	"contrib/a/a.go":          "package a\n\nimport _ \"example.com/kit\"\n",
	"contrib/a/cmd/a/a.go":    "package main\n\nimport _ \"example.com/kit/contrib/a\"\n\nfunc main() {}\n",
	"contrib/b/go.mod":        "module example.com/kit/contrib/b\n\ngo 1.26.0\n" + requires("../..", "contrib/a", ""),
	"contrib/b/b.go":          "package b\n\nimport _ \"example.com/kit/contrib/a\"\n",
	"contrib/b/testdata/x.go": "package x\n",
}

// requires returns the lines of a go.mod that requires modules in directories below up, which is the root.
func requires(up string, dirs ...string) string {
	text := ""
	for _, dir := range dirs {
		path := strings.TrimSuffix("example.com/kit/"+dir, "/")
		text += "\nrequire " + path + " v0.0.0\n\n// For a clone.\nreplace " + path + " => " +
			strings.TrimSuffix(up+"/"+dir, "/") + "\n"
	}
	return text
}

// with returns a copy of files with other texts. A file whose text is "" is removed.
func with(files, changed map[string]string) map[string]string {
	files = maps.Clone(files)
	maps.Copy(files, changed)
	return files
}

// commit makes a repository with one commit of the files. Its path has a blank, and a comma.
func commit(t *testing.T, files map[string]string) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "a clone, new")
	for name, text := range files {
		if text != "" {
			writeFile(t, filepath.Join(dir, filepath.FromSlash(name)), text)
		}
	}
	git(t, dir, "init", "-q")
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "-m", "all")
	return dir
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// git runs a command of git in a directory and returns its output.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed, so the release tool is not tested")
	}
	args = append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "core.autocrlf=false",
		"-c", "commit.gpgsign=false", "-c", "tag.gpgsign=false"}, args...)
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// filesOf returns the files below a directory, except those of git.
func filesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, entry os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == ".git":
			return filepath.SkipDir
		case entry.IsDir():
			return nil
		}
		text, err := os.ReadFile(name)
		files[strings.TrimPrefix(filepath.ToSlash(name), filepath.ToSlash(dir)+"/")] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

package usermodule

import (
	"archive/zip"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Publish serves the working copy of this module as a version, from files, and returns the environment variables
// that select this proxy. It uses a new module cache, because a cache never reads a version twice. Modules that
// the machine has downloaded already are served from its cache.
func Publish(t testing.TB, version string) (env []string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "env", "GOMODCACHE", "GOPROXY").Output()
	if err != nil {
		t.Fatal(err)
	}
	cache, upstream, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	dir := t.TempDir()
	if err := publish(Root(t), filepath.Join(dir, filepath.FromSlash(Path), "@v"), version); err != nil {
		t.Fatal(err)
	}
	return []string{
		"GOPROXY=" + fileURL(dir) + "," + fileURL(filepath.Join(cache, "cache", "download")) + "," + upstream,
		"GOMODCACHE=" + t.TempDir(),
		"GOFLAGS=-mod=mod -modcacherw",
		"GOSUMDB=off", // the checksum database does not know this version
		"GONOPROXY=none", "GOPRIVATE=",
	}
}

// publish writes the proxy files for a version of the module in root.
func publish(root, into, version string) error {
	if err := os.MkdirAll(into, 0o777); err != nil {
		return err
	}
	goMod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return err
	}
	for name, text := range map[string]string{
		"list":            version + "\n",
		version + ".info": `{"Version":"` + version + `","Time":"2026-01-01T00:00:00Z"}`,
		version + ".mod":  string(goMod),
	} {
		if err := os.WriteFile(filepath.Join(into, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	archive, err := os.Create(filepath.Join(into, version+".zip"))
	if err != nil {
		return err
	}
	defer archive.Close()
	if err := zipModule(archive, os.DirFS(root), Path+"@"+version+"/"); err != nil {
		return err
	}
	return archive.Close()
}

// fileURL returns the address of a directory.
func fileURL(dir string) string {
	dir = filepath.ToSlash(dir)
	if !strings.HasPrefix(dir, "/") {
		dir = "/" + dir // a drive letter
	}
	return "file://" + dir
}

// zipModule writes the files of a module, without nested modules and version control.
func zipModule(f *os.File, module fs.FS, prefix string) error {
	w := zip.NewWriter(f)
	err := fs.WalkDir(module, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != ".":
			if _, err := fs.Stat(module, name+"/go.mod"); err == nil || entry.Name() == ".git" {
				return fs.SkipDir
			}
			return nil
		case !entry.Type().IsRegular():
			return nil
		}
		text, err := fs.ReadFile(module, name)
		if err != nil {
			return err
		}
		file, err := w.CreateHeader(&zip.FileHeader{Name: prefix + name, Method: zip.Store, Modified: time.Unix(0, 0)})
		if err != nil {
			return err
		}
		_, err = file.Write(text)
		return err
	})
	if err != nil {
		return err
	}
	return w.Close()
}

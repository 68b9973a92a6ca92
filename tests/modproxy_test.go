package tests

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

// A moduleProxy serves this module from files, as a proxy serves a published one, into a module cache of its own:
// in that of the machine, what was published once could not be published again.
type moduleProxy struct {
	dir       string // what it serves
	downloads string // what the machine has downloaded, which is laid out like a proxy
	upstream  string // the machine's proxies
	cache     string
}

// newModuleProxy publishes the module as it is on disk.
func newModuleProxy(t *testing.T, version string) *moduleProxy {
	t.Helper()
	p := &moduleProxy{dir: t.TempDir(), cache: t.TempDir()}
	out, err := exec.CommandContext(t.Context(), "go", "env", "GOMODCACHE", "GOPROXY").Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(out), "\n")
	p.downloads, p.upstream = filepath.Join(lines[0], "cache", "download"), lines[1]

	at := filepath.Join(p.dir, filepath.FromSlash(modulePath), "@v")
	if err := os.MkdirAll(at, 0o777); err != nil {
		t.Fatal(err)
	}
	goMod, err := os.ReadFile(filepath.Join(root(t), "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"list":            version + "\n",
		version + ".info": `{"Version":"` + version + `","Time":"2026-01-01T00:00:00Z"}`,
		version + ".mod":  string(goMod),
	} {
		if err := os.WriteFile(filepath.Join(at, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	archive, err := os.Create(filepath.Join(at, version+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	if err := zipModule(archive, os.DirFS(root(t)), modulePath+"@"+version+"/"); err != nil {
		t.Fatal(err)
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	return p
}

// env makes the go command use the proxy. The checksum database does not know what is published here.
func (p *moduleProxy) env() []string {
	return []string{
		"GOPROXY=" + fileURL(p.dir) + "," + fileURL(p.downloads) + "," + p.upstream,
		"GOMODCACHE=" + p.cache,
		"GOFLAGS=-mod=mod -modcacherw",
		"GOSUMDB=off",
		"GONOPROXY=none", "GOPRIVATE=",
	}
}

// fileURL is the address of a directory.
func fileURL(dir string) string {
	dir = filepath.ToSlash(dir)
	if !strings.HasPrefix(dir, "/") {
		dir = "/" + dir // a drive letter
	}
	return "file://" + dir
}

// zipModule writes the files that belong to a module: those of nested modules and of version control do not.
func zipModule(f *os.File, module fs.FS, prefix string) error {
	w := zip.NewWriter(f)
	err := fs.WalkDir(module, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != ".":
			if entry.Name() == ".git" || exists(module, name+"/go.mod") {
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

func exists(module fs.FS, name string) bool {
	_, err := fs.Stat(module, name)
	return err == nil
}

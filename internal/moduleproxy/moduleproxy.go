// Package moduleproxy writes the files of a Go module proxy. The go command downloads from them with GOPROXY set to
// the URL of their directory. Begin with Add.
package moduleproxy

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
	"golang.org/x/mod/zip"
)

// Add publishes the files in dir as a version of a module: all regular files, except nested modules and version
// control. The time is that of the version. The same files and time always result in the same bytes.
func Add(proxy, path, version, dir string, at time.Time) error {
	into, err := versions(proxy, path)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(into, 0o777); err != nil {
		return err
	}
	goMod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return err
	}
	info, err := json.Marshal(struct {
		Version string
		Time    time.Time
	}{version, at.UTC()})
	if err != nil {
		return err
	}
	archive, err := os.Create(filepath.Join(into, version+".zip"))
	if err != nil {
		return err
	}
	defer archive.Close()
	if err := zip.CreateFromDir(archive, module.Version{Path: path, Version: version}, dir); err != nil {
		return err
	}
	if err := archive.Close(); err != nil {
		return err
	}
	list, err := os.ReadFile(filepath.Join(into, "list"))
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	known := append(strings.Fields(string(list)), version)
	semver.Sort(known)
	for name, text := range map[string]string{
		version + ".mod": string(goMod), version + ".info": string(info), "list": strings.Join(known, "\n") + "\n",
	} {
		if err := os.WriteFile(filepath.Join(into, name), []byte(text), 0o666); err != nil {
			return err
		}
	}
	return nil
}

// Files returns the go.mod and the archive of a version.
func Files(proxy, path, version string) (goMod, archive string, err error) {
	dir, err := versions(proxy, path)
	return filepath.Join(dir, version+".mod"), filepath.Join(dir, version+".zip"), err
}

// versions returns the directory of a module's versions.
func versions(proxy, path string) (string, error) {
	escaped, err := module.EscapePath(path)
	return filepath.Join(proxy, filepath.FromSlash(escaped), "@v"), err
}

// URL returns the address of a directory, for GOPROXY. Blanks, and commas, which separate proxies, are escaped.
func URL(dir string) string {
	dir = filepath.ToSlash(dir)
	if !strings.HasPrefix(dir, "/") {
		dir = "/" + dir // a drive letter
	}
	return strings.ReplaceAll((&url.URL{Scheme: "file", Path: dir}).String(), ",", "%2C")
}

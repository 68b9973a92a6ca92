package scripts

import (
	"archive/zip"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

const modulePath = "github.com/hookgen/hookgen"

// proxy version makes a module proxy of this module at that version, in the file system, and makes the go command
// use it: with a module cache of its own, behind which the modules of the real one are served as they are there.
func proxy(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: proxy version")
	}
	version := args[0]
	root, dir := ts.Getenv("ROOT"), ts.MkAbs("proxy")
	at := filepath.Join(dir, filepath.FromSlash(modulePath), "@v")
	ts.Check(os.MkdirAll(at, 0o777))
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	ts.Check(err)
	write := func(name string, text []byte) {
		ts.Check(os.WriteFile(filepath.Join(at, name), text, 0o666))
	}
	write("list", []byte(version+"\n"))
	write(version+".mod", mod)
	write(version+".info", []byte(`{"Version":"`+version+`"}`))
	ts.Check(zipModule(filepath.Join(at, version+".zip"), root, modulePath+"@"+version))

	download := filepath.Join(ts.Getenv("GOMODCACHE"), "cache", "download")
	ts.Setenv("GOPROXY", "file://"+filepath.ToSlash(dir)+",file://"+filepath.ToSlash(download)+","+ts.Getenv("GOPROXY"))
	ts.Setenv("GOMODCACHE", ts.MkAbs("modcache"))
	ts.Setenv("GOFLAGS", "-modcacherw")
	ts.Setenv("GOSUMDB", "off")
	ts.Setenv("GOBIN", ts.MkAbs("bin"))
	ts.Setenv("PATH", ts.MkAbs("bin")+string(filepath.ListSeparator)+ts.Getenv("PATH"))
}

// zipModule writes the files of the module at root, without modules within it, under a prefix.
func zipModule(name, root, prefix string) error {
	out, err := os.Create(name)
	if err != nil {
		return err
	}
	defer out.Close()
	w := zip.NewWriter(out)
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != root:
			if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil || strings.HasPrefix(entry.Name(), ".") {
				return filepath.SkipDir
			}
			return nil
		case !entry.Type().IsRegular() || strings.HasPrefix(entry.Name(), "."):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		inside, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		f, err := w.Create(prefix + "/" + filepath.ToSlash(inside))
		if err == nil {
			_, err = f.Write(text)
		}
		return err
	})
	if err != nil {
		return err
	}
	return w.Close()
}

package gen

import (
	"bytes"
	"errors"
	"fmt"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Limits in bytes. A spec of a thousand points with comments needs about a tenth of maxSpec. Other files of the
// package may be larger, because they can contain generated tables.
const (
	maxSpec   = 4 << 20
	maxSource = 64 << 20
)

// A source is one Go file of the directory before parsing.
type source struct {
	name string // its base name
	path string // joined to the directory
	text []byte // empty beyond maxSource
	size int64  // of the file
}

// tooLarge reports whether the source exceeds its limit: maxSpec if it mentions the points directive, else maxSource.
func (s source) tooLarge() bool {
	return s.size > maxSource || s.size > maxSpec && bytes.Contains(s.text, []byte(pointsDirective))
}

// load reads the Go files of dir that [isSource] accepts, and skips files that hookgen generated. Links are followed.
func load(dir string) ([]source, Diagnostics) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, Diagnostics{{Pos: token.Position{Filename: dir}, Message: readFailure(err), Rule: RuleIO}}
	}
	var sources []source
	var failures Diagnostics
	for _, entry := range entries {
		if !isSource(entry.Name()) {
			continue
		}
		path := filepath.Join(dir, entry.Name())
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
			continue // a dangling link, a directory, a pipe
		}
		s := source{name: entry.Name(), path: path}
		if err == nil && info.Size() > maxSource {
			s.size = info.Size()
			sources = append(sources, s)
			continue
		}
		if err == nil {
			s.text, err = os.ReadFile(path)
			s.size = int64(len(s.text))
		}
		if err != nil {
			failures = append(failures, Diagnostic{token.Position{Filename: path}, readFailure(err), RuleIO})
			continue
		}
		if !Generated(s.text) {
			sources = append(sources, s)
		}
	}
	return sources, failures
}

// isSource reports whether name is a Go file that can contain a spec or its types, that is, not a test. Like the go
// command, it ignores names that begin with a dot or an underscore.
func isSource(name string) bool {
	return strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") && !strings.HasPrefix(name, ".") &&
		!strings.HasPrefix(name, "_")
}

// readFailure explains why a directory or file cannot be read, and how to fix that.
func readFailure(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "no such directory: give the directory that holds the spec"
	case errors.Is(err, fs.ErrPermission):
		return "may not be read: change its permissions"
	case strings.Contains(err.Error(), "not a directory"):
		return "is not a directory: give the directory that holds the spec"
	}
	return fmt.Sprintf("cannot be read (%v): replace or remove it", err)
}

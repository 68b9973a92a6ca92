// Package realpath follows the symbolic links in a path, for rules about paths and for copies of files.
package realpath

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxLinks is the most symbolic links that are followed in a path, as in Linux.
const maxLinks = 40

// Of returns the file to which a path leads. Unlike filepath.EvalSymlinks it accepts paths of files that do not
// exist yet, and unlike filepath.Clean it resolves ".." after a link as the system does.
func Of(name string) (string, error) {
	volume := filepath.VolumeName(name)
	at := volume + string(filepath.Separator)
	rest := strings.Split(filepath.ToSlash(name[len(volume):]), "/")
	for links := 0; len(rest) > 0; {
		part := rest[0]
		rest = rest[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, part)
		info, err := os.Lstat(next)
		if errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode()&fs.ModeSymlink == 0 {
			at = next
			continue
		}
		if links++; links > maxLinks {
			return "", errors.New("a path has too many symbolic links")
		}
		target, err := os.Readlink(next) // fails if Lstat did
		if err != nil {
			return "", fmt.Errorf("a path could not be followed: %w", err)
		}
		if filepath.IsAbs(target) {
			at = filepath.VolumeName(target) + string(filepath.Separator)
			target = target[len(filepath.VolumeName(target)):]
		}
		rest = append(strings.Split(filepath.ToSlash(target), "/"), rest...)
	}
	return at, nil
}

package main

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
)

type searchArgs struct {
	Pattern string `json:"pattern" jsonschema:"a regular expression of Go, compared with each line"`
	Path    string `json:"path,omitempty" jsonschema:"the directory or file to search; the default is everything"`
}

// maxMatches is the number of lines that search returns.
const maxMatches = 200

// search returns the lines that match, with their places. Files that often have secrets are skipped, unless the path
// names them.
func (w *workspace) search(ctx context.Context, a searchArgs) (string, error) {
	pattern, err := regexp.Compile(a.Pattern)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	found := 0
	start := filepath.ToSlash(w.local(a.Path))
	err = fs.WalkDir(w.root.FS(), start, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && path == start:
			return err
		case err != nil: // for example a directory without permission
			return nil
		case path != start && secret(entry) && entry.IsDir():
			return fs.SkipDir
		case path != start && (secret(entry) || !entry.Type().IsRegular()) || entry.IsDir():
			return nil // a link could lead to a secret
		}
		text, err := w.text(path)
		if err != nil {
			return nil // too large, or not a text
		}
		number := 0
		for line := range strings.Lines(text) {
			number++
			if !pattern.MatchString(strings.TrimRight(line, "\r\n")) {
				continue
			}
			if found++; found > maxMatches {
				fmt.Fprintf(&b, "[there are more than %d matches; search for something rarer]\n", maxMatches)
				return fs.SkipAll
			}
			fmt.Fprintf(&b, "%s:%d: %s\n", path, number, shorten(strings.TrimSpace(line), 300))
		}
		return nil
	})
	if err == nil && found == 0 {
		return "no match", nil
	}
	return b.String(), err
}

// secret reports whether a file is hidden or has a name of files with keys.
func secret(entry fs.DirEntry) bool {
	name := entry.Name()
	return strings.HasPrefix(name, ".") || strings.HasSuffix(name, ".pem") || strings.HasSuffix(name, ".key")
}

// diff returns the lines of a file that differ, with a line of context before and after them. One block is enough,
// because edits replace one text.
func diff(path, before, after string) string {
	a, b := strings.Split(before, "\n"), strings.Split(after, "\n")
	same := 0
	for same < len(a) && same < len(b) && a[same] == b[same] {
		same++
	}
	end := 0
	for end < len(a)-same && end < len(b)-same && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%s, line %d\n", path, same+1)
	lines := func(sign string, all []string) {
		for i, line := range all {
			if i == maxMatches {
				fmt.Fprintf(&out, "%s [%d more lines]\n", sign, len(all)-i)
				return
			}
			fmt.Fprintf(&out, "%s %s\n", sign, line)
		}
	}
	lines(" ", a[max(0, same-1):same])
	lines("-", a[same:len(a)-end])
	lines("+", b[same:len(b)-end])
	if end > 0 && a[len(a)-end] != "" {
		lines(" ", a[len(a)-end:len(a)-end+1])
	}
	return out.String()
}

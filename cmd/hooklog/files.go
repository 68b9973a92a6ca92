package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
)

// standardInput is the name of standard input on the command line.
const standardInput = "-"

// A source is an open file of events, or standard input. Its reader closes it.
type source struct {
	name string
	info os.FileInfo // nil for standard input
	file io.ReadCloser
}

// sources opens the files in the order in which they are read. A file is read once, also if a pattern such as
// run.jsonl* names it a second time.
func (i *invocation) sources(names []string) ([]source, error) {
	if len(names) == 0 {
		return nil, usage("no FILE is given; - is standard input")
	}
	var all []source
	for _, name := range names {
		if name == standardInput {
			all = append(all, source{name: "standard input", file: io.NopCloser(i.stdin)})
			continue
		}
		files, err := rotated(name)
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			if hasFile(all, f.info) {
				_ = f.file.Close() // nothing was read
			} else {
				all = append(all, f)
			}
		}
	}
	return all, nil
}

func hasFile(all []source, info os.FileInfo) bool {
	return slices.ContainsFunc(all, func(s source) bool { return s.info != nil && os.SameFile(s.info, info) })
}

// rotated opens a file and the older ones of a rotation, NAME.1, NAME.2 and so on, the oldest first. The files are
// opened in the direction in which the program that writes them renames them. So a file that is renamed meanwhile is
// found twice and not missed.
func rotated(name string) ([]source, error) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, fmt.Errorf("%s is a directory: name a file", visible(name, 0))
	}
	newest, err := openFile(name)
	if err != nil {
		return nil, err
	}
	all := []source{newest}
	// The program renames the oldest file first, so one number may be missing for a moment.
	for n, missing := 1, 0; missing < 2; n++ {
		old := fmt.Sprintf("%s.%d", name, n)
		if info, err := os.Stat(old); err != nil || !info.Mode().IsRegular() {
			missing++
			continue
		}
		missing = 0
		s, err := openFile(old)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			closeAll(all)
			return nil, err
		case hasFile(all, s.info):
			_ = s.file.Close()
		default:
			all = append(all, s)
		}
	}
	slices.Reverse(all)
	return all, nil
}

func openFile(name string) (source, error) {
	f, err := os.Open(name)
	if err != nil {
		return source{}, err
	}
	info, err := f.Stat()
	return source{name, info, f}, err
}

func closeAll(all []source) {
	for _, s := range all {
		_ = s.file.Close() // it was only read
	}
}

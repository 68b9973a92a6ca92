package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"sync/atomic"

	"github.com/hookgen/hookgen/cmd/hooklog/internal/rotated"
	"github.com/hookgen/hookgen/internal/progress"
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
		files, err := filesOf(name)
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			if hasFile(all, f.info) {
				_ = f.file.Close() // nothing was read
			} else {
				i.size.Add(f.info.Size())
				all = append(all, f)
			}
		}
	}
	for n := range all {
		all[n].file = counted{all[n].file, &i.read}
	}
	i.line.Set(func() string { return "read " + progress.Bytes(i.read.Load(), i.size.Load()) })
	return all, nil
}

// A counted file adds the bytes that are read from it to a counter.
type counted struct {
	io.ReadCloser
	read *atomic.Int64
}

func (c counted) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.read.Add(int64(n))
	return n, err
}

func hasFile(all []source, info os.FileInfo) bool {
	return slices.ContainsFunc(all, func(s source) bool { return s.info != nil && os.SameFile(s.info, info) })
}

// filesOf opens a file and the older ones of a rotation, the oldest first.
func filesOf(name string) ([]source, error) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, fmt.Errorf("%s is a directory: name a file", visible(name, 0))
	}
	files, err := rotated.Open(name)
	var all []source
	for _, f := range files {
		all = append(all, source{f.Name(), f.Info, f.File})
	}
	return all, err
}

func closeAll(all []source) {
	for _, s := range all {
		_ = s.file.Close() // it was only read
	}
}

package main

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"

	"github.com/hookgen/hookgen/hookkit/wire"
)

// mostReports is how many damaged lines of a file are reported one by one. The others are counted.
const mostReports = 100

// A source is a file of events, or standard input.
type source struct {
	name string
	open func() (io.ReadCloser, error)
}

// sources returns the files in the order in which they are read: the old files of a rotation before the newest one.
func (i *invocation) sources(names []string) ([]source, error) {
	if len(names) == 0 {
		return nil, usage("no FILE is given; - is standard input")
	}
	var (
		all  []source
		seen []os.FileInfo
	)
	for _, name := range names {
		if name == "-" {
			all = append(all, source{"standard input", func() (io.ReadCloser, error) { return io.NopCloser(i.stdin), nil }})
			continue
		}
		files, err := rotated(name)
		if err != nil {
			return nil, err
		}
	next:
		for _, f := range files {
			for _, s := range seen {
				if os.SameFile(s, f.info) {
					continue next
				}
			}
			seen = append(seen, f.info)
			all = append(all, source{f.name, func() (io.ReadCloser, error) { return os.Open(f.name) }})
		}
	}
	return all, nil
}

// A foundFile is a file of a rotation.
type foundFile struct {
	name string
	info os.FileInfo
}

// rotated returns a file and those that were renamed to NAME.1, NAME.2 and so on, the oldest first.
func rotated(name string) ([]foundFile, error) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, fmt.Errorf("%s is a directory: name a file", visible(name, 0))
	}
	files := []foundFile{{name, info}}
	for n := 1; ; n++ {
		old := fmt.Sprintf("%s.%d", name, n)
		info, err := os.Stat(old)
		if err != nil || !info.Mode().IsRegular() {
			break
		}
		files = append([]foundFile{{old, info}}, files...)
	}
	return files, nil
}

// A reader reads sources and reports their damaged lines.
type reader struct {
	stderr  io.Writer
	damaged int   // lines
	err     error // that ended the reading of a source
}

// events yields the events of a source. Damaged lines are reported and counted.
func (r *reader) events(s source) iter.Seq[wire.Event] {
	return func(yield func(wire.Event) bool) {
		file, err := s.open()
		if err != nil {
			r.err = err
			return
		}
		defer func() { _ = file.Close() }()
		damaged := 0
		for e, err := range wire.ReadLog(file) {
			var at *wire.LineError
			if errors.As(err, &at) {
				if damaged++; damaged <= mostReports {
					fmt.Fprintf(r.stderr, "%s:%d: %s\n", visible(s.name, 0), at.Line, visible(at.Err.Error(), 0))
				}
				continue
			}
			if !yield(e) {
				break
			}
		}
		if more := damaged - mostReports; more > 0 {
			fmt.Fprintf(r.stderr, "%s: %d more damaged lines\n", visible(s.name, 0), more)
		}
		r.damaged += damaged
	}
}

// code returns the exit code of a command that has read its sources.
func (r *reader) code() int {
	if r.damaged > 0 {
		return findings
	}
	return fine
}

// hasPrefix reports whether an ID begins with a prefix. IDs are hexadecimal, so the case does not matter.
func hasPrefix(id, prefix string) bool {
	return len(id) >= len(prefix) && strings.EqualFold(id[:len(prefix)], prefix)
}

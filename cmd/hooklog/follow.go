package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"time"

	"github.com/hookgen/hookgen/cmd/hooklog/internal/rotated"
)

// pollInterval is how long a tail waits before it looks at its file again.
const pollInterval = 250 * time.Millisecond

// pause waits for the interval, and returns false if the context ends.
func pause(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(pollInterval):
		return true
	}
}

// follow yields the files of a rotation, and the newest one as a source that grows. When that is replaced or becomes
// shorter, it yields the files that come after it. It ends when wait returns false. The function idle is called before
// each wait, and say with each replacement.
func follow(name string, wait func() bool, idle func(), say func(s source, what string)) (iter.Seq[source], error) {
	if name == standardInput {
		return nil, usage("-f needs a file; standard input is read until it ends without -f")
	}
	files, err := filesOf(name)
	if err != nil {
		return nil, err
	}
	if newest := files[len(files)-1]; !newest.info.Mode().IsRegular() {
		closeAll(files)
		return nil, usage("-f needs a regular file; a pipe is read until it ends without -f")
	}
	return func(yield func(source) bool) {
		for files != nil {
			last := len(files) - 1
			for n, s := range files[:last] {
				if !yield(s) {
					closeAll(files[n+1:])
					return
				}
			}
			s := files[last]
			t := &tail{name: name, file: s.file.(*os.File), info: s.info, wait: wait, idle: idle}
			s.file = t
			if !yield(s) || t.stopped {
				return
			}
			files = t.next(func(what string) { say(s, what) })
		}
	}, nil
}

// A tail reads a file that grows. At its end it waits for more, until the file is replaced, or changes in another way
// than by growing. The index of package eventlog follows files too, but it remembers the place of each event, because
// the page reads events again. show prints each event once, and its memory does not grow.
type tail struct {
	name string
	file *os.File
	info os.FileInfo
	wait func() bool
	idle func()

	read    int64  // bytes
	last    []byte // the last bytes that were read, to see that they are still in the file
	stopped bool   // wait has returned false
	why     string // the reading ended
}

// lastSize is the length of the text that a tail compares.
const lastSize = 256

// Close closes the file.
func (t *tail) Close() error { return t.file.Close() }

// Read returns io.EOF when the file does not grow any more.
func (t *tail) Read(p []byte) (int, error) {
	replaced := false
	for {
		n, err := t.file.ReadAt(p, t.read)
		if n > 0 {
			t.read += int64(n)
			t.last = append(t.last, p[:n]...)
			t.last = t.last[max(0, len(t.last)-lastSize):]
			return n, nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			t.stopped = true
			return 0, err
		}
		if replaced {
			t.why = "it was replaced, and the new file is read"
			return 0, io.EOF
		}
		now, err := os.Stat(t.name)
		if err == nil && !os.SameFile(now, t.info) {
			replaced = true // and may have grown before that
			continue
		}
		t.idle()
		if !t.wait() {
			t.stopped = true
			return 0, io.EOF
		}
		if t.why = t.changed(); t.why != "" {
			return 0, io.EOF
		}
	}
}

// changed returns how the file has changed in another way than by growing, or "".
func (t *tail) changed() string {
	info, err := t.file.Stat()
	if err != nil {
		return "" // the next reading reports it
	}
	if info.Size() < t.read {
		return fmt.Sprintf("it became shorter, from %s bytes to %s, and is read again from its beginning",
			thousands(t.read), thousands(info.Size()))
	}
	now := make([]byte, len(t.last))
	if _, err := t.file.ReadAt(now, t.read-int64(len(now))); err == nil && !bytes.Equal(now, t.last) {
		return "it was written anew, and is read again from its beginning"
	}
	return ""
}

// next opens the files to read after this one, or returns nil if wait returns false before there is one.
func (t *tail) next(say func(what string)) []source {
	gone := false
	for {
		// If a pipe has the name, opening it would wait for its writer.
		if info, err := os.Stat(t.name); err == nil && info.Mode().IsRegular() {
			newer, found, err := rotated.Newer(t.name, t.info)
			if err == nil {
				if found {
					t.why = "it was rotated, and the new file is read"
				}
				say(t.why)
				return sourcesOf(newer)
			}
		}
		if !gone {
			gone = true
			say("it is gone; waiting for a new one")
		}
		t.idle()
		if !t.wait() {
			return nil
		}
	}
}

package eventlog

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/hookgen/hookgen/cmd/hooklog/internal/rotated"
	"github.com/hookgen/hookgen/hookkit/hooklog"
)

// A reader is the position of an index in its current file.
type reader struct {
	offset int64 // of the first byte that was not read
	line   int   // the number of complete lines before offset
	size   int64 // of the file when it was read
	head   []byte
	info   fs.FileInfo
}

// headSize is the number of bytes at the beginning of a file that show whether it is still the same record.
const headSize = 512

// maxFiles bounds the files that stay open after a rotation, so that their events can still be read.
const maxFiles = 64

// Update reads the events that were written since the last update. It returns when it has read as much as the file had
// at the beginning of the call, or when the context ends. A line that is not an event is a [Problem], not an error.
//
// If the file was renamed and a new one has its name, Update reads the rest of the old one, and then the new one. If
// the file became shorter or its beginning changed, Update forgets all events and reads the open files again.
func (x *Index) Update(ctx context.Context) error {
	x.updating.Lock()
	defer x.updating.Unlock()
	if len(x.files) == 0 {
		return fs.ErrClosed
	}
	for {
		if err := x.readFile(ctx); err != nil {
			return err
		}
		if x.reading+1 == len(x.files) {
			if another, err := x.replaced(); err != nil || !another {
				return err
			}
			continue // the file may have grown before it was replaced
		}
		x.mu.Lock()
		x.finish()
		x.mu.Unlock()
	}
}

// replaced opens the files that were written after the current one, if there are any.
func (x *Index) replaced() (bool, error) {
	info, err := os.Stat(x.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && os.SameFile(info, x.reader.info) {
		return false, nil // not rotated, or the writer has renamed the file and not created the new one yet
	}
	if err != nil {
		return false, err
	}
	if err := mustBeRegular(x.path, info); err != nil {
		return false, err
	}
	newer, _, err := rotated.Newer(x.path, x.reader.info)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil // it was renamed meanwhile
	}
	if err != nil {
		return false, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, f := range newer {
		x.rotations++
		x.files = append(x.files, file{f.File, fmt.Sprintf("%s (after rotation %d)", filepath.Base(x.path), x.rotations)})
	}
	if len(x.files) > maxFiles {
		const keep = maxFiles / 2 // so that they are rarely read again
		older := len(x.files) - keep
		for _, old := range x.files[:older] {
			_ = old.Close() // it was only read
		}
		x.files = slices.Clone(x.files[older:])
		x.restart(fmt.Sprintf("it was rotated %d times, so older files are not shown any more", x.rotations))
	}
	return len(newer) > 0, nil
}

// finish continues with the next file. The caller holds mu.
func (x *Index) finish() {
	if p := x.problems.last; p != nil {
		p.Open = false
		x.problems.add(*p)
		x.problems.last = nil
	}
	x.reading++
	x.reader = reader{}
}

// restart forgets all events. The caller holds mu.
func (x *Index) restart(why string) {
	x.clear()
	x.reading = 0
	x.problems = problems{}
	x.problems.add(Problem{File: x.files[len(x.files)-1].name, Text: why})
	x.reader = reader{}
	x.status.Generation++
	x.status.Read, x.status.Size = 0, 0
	x.notify()
}

// readFile reads the rest of the current file.
func (x *Index) readFile(ctx context.Context) error {
	f := x.files[x.reading].File
	info, err := f.Stat()
	if err != nil {
		return err
	}
	head := make([]byte, min(headSize, len(x.reader.head)))
	if n, _ := f.ReadAt(head, 0); info.Size() < x.reader.offset || !bytes.Equal(head[:n], x.reader.head) {
		x.mu.Lock()
		x.restart(fmt.Sprintf("it was changed or became shorter, from %d bytes to %d, and was read again from its "+
			"beginning", x.reader.offset, info.Size()))
		x.mu.Unlock()
		return x.readFile(ctx)
	}
	x.reader.info = info
	if len(x.reader.head) < headSize {
		x.reader.head = make([]byte, min(headSize, info.Size()))
		n, _ := f.ReadAt(x.reader.head, 0)
		x.reader.head = x.reader.head[:n]
	}
	if info.Size() == x.reader.size {
		return nil
	}
	return x.readLines(ctx, f, info.Size())
}

// A lineCounter counts the line breaks that are read through it.
type lineCounter struct {
	io.Reader
	breaks int
	err    error // except io.EOF
}

func (c *lineCounter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.breaks += bytes.Count(p[:n], []byte{'\n'})
	if !errors.Is(err, io.EOF) {
		c.err = err
	}
	return n, err
}

// readLines reads lines up to an offset of the file. A last line that is incomplete is read again by the next call.
func (x *Index) readLines(ctx context.Context, f *os.File, end int64) error {
	begin := x.reader
	in := &lineCounter{Reader: io.NewSectionReader(f, begin.offset, end-begin.offset)}
	incomplete := false
	x.mu.Lock()
	x.problems.last = nil
	x.mu.Unlock()
	for l, err := range hooklog.ReadLines(in) {
		if err := cmp.Or(in.err, ctx.Err()); err != nil {
			return err
		}
		if incomplete = errors.Is(err, io.ErrUnexpectedEOF); incomplete {
			x.reader.offset, x.reader.line = begin.offset+l.Offset, begin.line+l.Number-1
			x.mu.Lock()
			x.problems.last = &Problem{File: x.files[x.reading].name, Line: begin.line + l.Number, Open: true,
				Text: "it is incomplete; its writer was killed, or is still writing"}
			x.mu.Unlock()
			continue // it is the last one
		}
		x.take(begin, l, err, end)
	}
	if in.err != nil {
		return in.err
	}
	if !incomplete {
		x.reader.offset, x.reader.line = end, begin.line+in.breaks
	}
	x.reader.size = end
	x.mu.Lock()
	defer x.mu.Unlock()
	x.status.Read, x.status.Size = end, end
	x.notify()
	return nil
}

// take adds the event of a line, or the problem with the line.
func (x *Index) take(begin reader, l hooklog.Line, err error, end int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	place := entry{
		offset: begin.offset + l.Offset, length: uint32(len(l.Text)), line: uint32(begin.line + l.Number),
		kind: kind{file: uint16(x.reading)},
	}
	var damaged *hooklog.LineError
	if errors.As(err, &damaged) {
		err = damaged.Err
	} else {
		err = checkNames(l.Event)
	}
	if err != nil {
		x.problems.add(Problem{File: x.files[x.reading].name, Line: int(place.line), Text: err.Error()})
		return
	}
	x.add(l.Event, place)
	x.reader.offset, x.reader.line = place.offset+int64(place.length), int(place.line)-1
	if x.events.count%1000 == 0 { // so that readers see the progress
		x.status.Read, x.status.Size = x.reader.offset, end
		x.notify()
	}
}

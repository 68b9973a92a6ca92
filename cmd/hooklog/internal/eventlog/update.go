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

// mostRemoved bounds the files whose runs stay in the index after a rotation has removed them.
const mostRemoved = 64

// Update reads the events that were written since the last update. It returns when it has read as much as the file had
// at the beginning of the call, or when the context ends. A line that is not an event is a [Problem], not an error.
//
// If the file was renamed and a new one has its name, Update reads the rest of the old one, and then the new one. The
// runs of an old one stay when it is removed. If the file became shorter or its beginning changed, or very many files
// were removed, Update forgets all events and reads the files that there are again.
func (x *Index) Update(ctx context.Context) error {
	x.updating.Lock()
	defer x.updating.Unlock()
	if len(x.files) == 0 {
		return fs.ErrClosed
	}
	defer x.closeIdle()
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
	info, err := statRegular(x.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && os.SameFile(info, x.reader.info) {
		return false, nil // not rotated, or the writer has renamed the file and not created the new one yet
	}
	if err != nil {
		return false, err
	}
	all, err := rotated.Open(x.path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil // it was renamed meanwhile
	}
	if err != nil {
		return false, err
	}
	newer := rotated.Newer(all, x.reader.info)
	rotated.Close(all[:len(all)-len(newer)])
	x.mu.Lock()
	defer x.mu.Unlock()
	removed := x.markRemoved(all)
	for _, f := range newer {
		x.rotations++
		name := fmt.Sprintf("%s (after rotation %d)", filepath.Base(x.path), x.rotations)
		x.files = append(x.files, newFile(x.path, name, f))
	}
	if removed > mostRemoved {
		return true, x.restart(fmt.Sprintf("it was rotated %d times, so the runs of files that were removed are not shown "+
			"any more", x.rotations))
	}
	return true, nil
}

// markRemoved marks the files that are not among those of the record any more, and returns their number. The caller
// holds mu.
func (x *Index) markRemoved(all []rotated.File) (removed int) {
	known := slices.ContainsFunc(x.files, func(f *file) bool { return f.removed })
	for _, f := range x.files {
		f.removed = f.removed || !slices.ContainsFunc(all, func(o rotated.File) bool { return os.SameFile(o.Info, f.info) })
		if f.removed {
			removed++
		}
	}
	if removed > 0 && !known {
		x.problems.add(Problem{File: filepath.Base(x.path), Text: "rotations have removed older files; their runs stay in " +
			"the lists, and what their events contain is gone"})
	}
	return removed
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

// restart forgets all events, and opens the files of the record again. The caller holds mu.
func (x *Index) restart(why string) error {
	files, err := openFiles(x.path)
	if err != nil {
		return err
	}
	for _, f := range x.files {
		_ = f.close() // it was only read
	}
	x.clear()
	x.files, x.reading = files, 0
	x.problems = problems{}
	x.problems.add(Problem{File: x.files[len(x.files)-1].name, Text: why})
	x.reader = reader{}
	x.status.Generation++
	x.status.Read, x.status.Size = 0, 0
	x.notify()
	return nil
}

// readFile reads the rest of the current file.
func (x *Index) readFile(ctx context.Context) error {
	f := x.files[x.reading]
	info, err := f.stat()
	if err != nil {
		return err
	}
	known := len(x.reader.head)
	if info.Size() < x.reader.offset || !bytes.Equal(headOf(f, known), x.reader.head) {
		x.mu.Lock()
		err := x.restart(fmt.Sprintf("it was changed or became shorter, from %d bytes to %d, and was read again from its "+
			"beginning", x.reader.offset, info.Size()))
		x.mu.Unlock()
		if err != nil {
			return err
		}
		return x.readFile(ctx)
	}
	x.reader.info = info
	if known < headSize && info.Size() > int64(known) {
		x.reader.head = headOf(f, headSize)
		f.remember(x.reader.head)
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
func (x *Index) readLines(ctx context.Context, f *file, end int64) error {
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

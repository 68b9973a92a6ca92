package eventlog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/hookgen/hookgen/cmd/hooklog/internal/rotated"
	"github.com/hookgen/hookgen/hookkit/hooklog"
)

// A reader is the position of an index in its current file.
type reader struct {
	offset int64 // of the first byte that was not read
	line   int   // the number of complete lines before offset
	within within
	head   []byte
	info   fs.FileInfo
}

// within says whether the first byte that was not read is within a line.
type within int

const (
	noLine     within = iota
	afterEvent        // the line is an event, and its line break is missing yet
	afterOther        // the line is a problem that was reported
)

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
	if x.path == "" {
		return false, nil
	}
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
	x.status.Read = 0
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
	if info.Size() == x.reader.offset {
		return nil
	}
	return x.readLines(ctx, f, info.Size())
}

// A block is a part of a file. It ends with a line break, or at the end of the file.
type block struct {
	data   []byte
	offset int64 // of data
	line   int   // of the first byte of data
	within within
	ended  bool  // data ends with a line break
	long   int64 // data is a line of this length, which was not kept; 0 for a usual block
	done   chan parsed
}

// parsed are the events and problems of a block.
type parsed struct {
	headers  []header
	entries  []entry
	problems []Problem
	last     *Problem // of an incomplete last line, which begins at rest
	rest     int64
	restLine int
	within   within
}

// blockSize is the usual length of a block.
const blockSize = 1 << 20

// readLines reads lines up to an offset of the file. Several goroutines decode them; the events are added in order.
func (x *Index) readLines(ctx context.Context, f *os.File, end int64) error {
	ctx, cancel := context.WithCancel(ctx)
	workers := min(runtime.GOMAXPROCS(0), 8)
	work, inOrder := make(chan *block), make(chan *block, workers)
	failed := make(chan error, 1)
	for range workers {
		go func() {
			for b := range work {
				b.done <- parse(b)
			}
		}()
	}
	start := x.reader
	go func() {
		defer close(work)
		defer close(inOrder)
		failed <- split(ctx, io.NewSectionReader(f, start.offset, end-start.offset), start, func(b *block) {
			b.done = make(chan parsed, 1)
			inOrder <- b
			work <- b
		})
	}()
	tooMany := false
	for b := range inOrder {
		x.merge(<-b.done, end)
		if tooMany = x.Most > 0 && x.Status().Events > x.Most; tooMany {
			cancel() // the blocks that were read before are merged
		}
	}
	cancel()
	err := <-failed
	if tooMany {
		return ErrTooMany
	}
	return err
}

// merge adds the events of a block.
func (x *Index) merge(p parsed, size int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	name := x.files[x.reading].name
	for _, problem := range p.problems {
		problem.File = name
		x.problems.add(problem)
	}
	for i := range p.headers {
		p.entries[i].file = uint16(x.reading)
		x.add(&p.headers[i], p.entries[i])
		if t := p.headers[i].Time; t.After(x.status.Newest) {
			x.status.Newest = t
		}
	}
	if x.problems.last = p.last; p.last != nil {
		p.last.File = name
	}
	x.reader.offset, x.reader.line, x.reader.within = p.rest, p.restLine-1, p.within
	x.status.Read, x.status.Size = p.rest, size
	x.notify()
}

// split reads a file and passes it on in blocks of whole lines. A line that is longer than hooklog.MaxLine is passed on
// without its text.
func split(ctx context.Context, r io.Reader, at reader, emit func(*block)) error {
	next := block{offset: at.offset, line: at.line + 1, within: at.within}
	var kept []byte // the beginning of a line
	skipped := int64(0)
	var skip []byte // the buffer for the rest of a line that is too long
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		data := skip
		if skip = nil; data == nil {
			data = make([]byte, len(kept), max(blockSize, 2*len(kept)))
		}
		copy(data, kept)
		n, err := io.ReadFull(r, data[len(kept):cap(data)])
		data = data[:len(kept)+n]
		atEnd := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !atEnd {
			return err
		}
		if skipped > 0 {
			i := bytes.IndexByte(data, '\n')
			if i < 0 && !atEnd {
				skipped += int64(len(data))
				kept, skip = nil, data[:0]
				continue
			}
			length := len(data)
			if i >= 0 {
				length = i + 1
			}
			b := next
			b.long, b.ended = skipped+int64(length), i >= 0
			emit(&b)
			if i < 0 {
				return nil
			}
			next = block{offset: next.offset + b.long, line: next.line + 1}
			data, skipped = data[length:], 0
		}
		whole := bytes.LastIndexByte(data, '\n') + 1
		if whole > 0 {
			b := next
			b.data, b.ended = data[:whole:whole], true
			emit(&b)
			next = block{offset: next.offset + int64(whole), line: next.line + bytes.Count(b.data, []byte{'\n'})}
		}
		kept = data[whole:]
		switch {
		case atEnd && len(kept) > 0 && len(kept) <= hooklog.MaxLine:
			b := next
			b.data = kept
			emit(&b)
			return nil
		case atEnd && len(kept) > 0:
			b := next
			b.long = int64(len(kept))
			emit(&b)
			return nil
		case atEnd:
			return nil
		case len(kept) > hooklog.MaxLine:
			skipped, kept = int64(len(kept)), nil
		}
	}
}

// parse decodes the lines of a block.
func parse(b *block) parsed {
	p := parsed{rest: b.offset + int64(len(b.data)), restLine: b.line}
	if b.long > 0 {
		length := b.long
		if b.ended {
			length--
		}
		problem := Problem{Line: b.line, Text: fmt.Sprintf("it has %d bytes, more than %d", length, hooklog.MaxLine)}
		p.rest, p.within = b.offset+b.long, afterOther
		if b.within != afterOther {
			p.problems = []Problem{problem}
		}
		if b.ended {
			p.restLine++
			p.within = noLine
		}
		return p
	}
	offset := b.offset
	p.within = b.within
	for rest := b.data; len(rest) > 0; {
		line, after, ended := bytes.Cut(rest, []byte{'\n'})
		text := bytes.TrimSpace(line)
		number := p.restLine
		var err error
		var h header
		switch {
		case len(text) == 0:
		case p.within == afterOther:
		case p.within == afterEvent:
			p.within = afterOther
			err = errors.New("more text follows the event in the same line")
		case len(text) > hooklog.MaxLine:
			err = fmt.Errorf("it has %d bytes, more than %d", len(text), hooklog.MaxLine)
		default:
			if h, err = readHeader(text); err != nil && !ended {
				p.last = &Problem{Line: number, Text: "it is incomplete; its writer was killed, or is still writing", Open: true}
				p.rest, p.within = offset, noLine
				return p
			}
			if p.within = afterEvent; err == nil {
				p.headers = append(p.headers, h)
				p.entries = append(p.entries, entry{offset: offset, length: uint32(len(line)), line: uint32(number)})
			}
		}
		if err != nil {
			p.problems = append(p.problems, Problem{Line: number, Text: err.Error()})
		}
		offset += int64(len(line))
		if ended {
			p.within = noLine
			p.restLine++
			offset++
		}
		rest = after
	}
	return p
}

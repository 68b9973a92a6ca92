package hooklog

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"unicode"

	"github.com/hookgen/hookgen/hookkit/wire"
	"github.com/hookgen/hookgen/internal/eventline"
)

// A LineError says which line of a log is not an event, and why.
type LineError struct {
	Line int // from 1
	Err  error
}

// Error contains both fields.
func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

// Unwrap returns Err.
func (e *LineError) Unwrap() error { return e.Err }

// Read yields the events of a log in the order of its lines. For a line that is not an event it yields a
// [*LineError] and continues with the next line. Such lines are left by programs that were killed, by writers that do
// not lock the file, and by another version of this package. If the last line is incomplete, the error contains
// [io.ErrUnexpectedEOF]: the event may still be being written. Empty lines are skipped. An error of r comes last.
//
// Read needs memory for one line, and for the last lists of the runs, see [Omitted]: at most 128 MiB. Of a line that is
// longer than [MaxLine] it reads the rest and keeps nothing.
func Read(r io.Reader) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for l, err := range ReadLines(r) {
			if !yield(l.Event, err) {
				return
			}
		}
	}
}

// A Line is a line of a log with its event.
type Line struct {
	Number int    // from 1
	Offset int64  // of Text in the reader, in bytes
	Text   []byte // without blanks around it; valid until the following line is read
	Event  Event
}

// ReadLines is like [Read] for programs that also need the text of the lines, for example to copy some of them to
// another log as they are. With an error the Line has only its Number and Offset.
func ReadLines(r io.Reader) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		lines, earlier := lineReader{b: bufio.NewReaderSize(r, 64<<10)}, new(lists)
		for n := 1; ; n++ {
			line, ended, err := lines.next()
			if err != nil {
				yield(Line{}, &LineError{n, err})
				return
			}
			if len(line) == 0 && lines.skipped == 0 {
				if !ended {
					return
				}
				continue
			}
			l := Line{Number: n, Offset: lines.offset, Text: line}
			if lines.skipped > 0 {
				err = fmt.Errorf("it has %d bytes, more than %d", int64(len(line))+lines.skipped, MaxLine)
			} else {
				l.Event, err = readEvent(line)
			}
			if err != nil && !ended {
				err = fmt.Errorf("it is incomplete: %w", errors.Join(io.ErrUnexpectedEOF, err))
			}
			if err != nil {
				l.Text, l.Event, err = nil, Event{}, &LineError{n, err}
			} else {
				l.Event.whole = earlier.keep(&l.Event, nil)
			}
			if !yield(l, err) || !ended {
				return
			}
		}
	}
}

// A lineReader splits a log into lines of bounded length.
type lineReader struct {
	b       *bufio.Reader
	line    []byte
	offset  int64 // of the line, after its leading blanks
	read    int64 // bytes
	skipped int64 // bytes of the line after the first MaxLine
}

// next returns the next line without the blanks around it, and whether it has a line break. The line is valid until the
// following one is read.
func (r *lineReader) next() (line []byte, ended bool, err error) {
	r.line, r.offset, r.skipped = r.line[:0], r.read, 0
	for {
		part, err := r.b.ReadSlice('\n')
		ended := err == nil
		r.read += int64(len(part))
		part = bytes.TrimSuffix(part, []byte{'\n'})
		room := min(len(part), MaxLine-len(r.line))
		r.line = append(r.line, part[:room]...)
		r.skipped += int64(len(part) - room)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err == nil, errors.Is(err, io.EOF):
			text := bytes.TrimLeftFunc(r.line, unicode.IsSpace)
			r.offset += int64(len(r.line) - len(text))
			return bytes.TrimSpace(text), ended, nil
		default:
			return nil, false, err
		}
	}
}

// readEvent reads an event and checks the fields that each event has.
func readEvent(line []byte) (e Event, err error) {
	e, ok := scanEvent(line)
	if !ok {
		e = Event{}
		if err := eventline.Unmarshal(line, &e); err != nil {
			return e, err
		}
	}
	head := eventline.Head{
		Protocol: e.Protocol, Spec: e.Spec, Point: e.Point, Decision: e.Decision, Payload: e.Payload != nil,
	}
	return e, head.Check(wire.Protocol)
}

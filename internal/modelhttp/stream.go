package modelhttp

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// An Event is one event of a stream.
type Event struct {
	Type string // "" if the server named none
	Data []byte // the lines of data, joined by newlines. It is valid until the next event
}

// lines reads an answer of bounded size.
type lines struct {
	r     *bufio.Reader
	from  *reads
	seen  int   // of from, when alive was last called
	left  int64 // bytes that the answer may still have
	limit int64
	line  []byte
	data  []byte
	begun bool
}

func newLines(r io.Reader, limit int64) *lines {
	from := &reads{r: r}
	return &lines{r: bufio.NewReader(from), from: from, left: limit, limit: limit}
}

// A reads counts the calls of Read.
type reads struct {
	r io.Reader
	n int
}

func (r *reads) Read(p []byte) (int, error) {
	r.n++
	return r.r.Read(p)
}

// all reads the rest of the answer.
func (l *lines) all() ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(l.r, l.left+1))
	if err == nil && int64(len(data)) > l.left {
		err = &TooLongError{l.limit}
	}
	return data, err
}

// event reads the next event. It calls alive when the caller wants another event, and when a line has arrived, also
// after comments, which servers send while the model is working. Lines that arrive together count once: otherwise a
// server could keep the processor busy with empty lines. A line without an end is dropped with its event, because the
// connection was cut within it.
func (l *lines) event(alive func()) (Event, error) {
	var e Event
	l.data = l.data[:0]
	filled := false
	if l.begun {
		alive()
	}
	for {
		line, err := l.next()
		if err != nil {
			if errors.Is(err, io.EOF) && filled {
				e.Data = l.data
				return e, nil
			}
			return Event{}, err
		}
		if l.seen != l.from.n {
			l.seen = l.from.n
			alive()
		}
		if len(line) == 0 {
			if filled {
				e.Data = l.data
				return e, nil
			}
			e = Event{}
			continue
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(name) {
		case "event":
			e.Type = string(value)
		case "data":
			if filled {
				l.data = append(l.data, '\n')
			}
			l.data = append(l.data, value...)
			filled = true
		}
	}
}

// next reads a line without its end.
func (l *lines) next() ([]byte, error) {
	l.line = l.line[:0]
	for {
		piece, err := l.r.ReadSlice('\n')
		if l.left -= int64(len(piece)); l.left < 0 {
			return nil, &TooLongError{l.limit}
		}
		l.line = append(l.line, piece...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil {
			return nil, err
		}
		break
	}
	line := bytes.TrimSuffix(bytes.TrimSuffix(l.line, []byte("\n")), []byte("\r"))
	if !l.begun {
		l.begun = true
		line = bytes.TrimPrefix(line, []byte("\ufeff"))
	}
	return line, nil
}

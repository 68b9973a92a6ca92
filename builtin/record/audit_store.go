package record

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"os"

	"github.com/hookgen/hookgen/internal/atomicfile"
)

// An AuditStore keeps the lines of an audit log, for example in a table of a database. It is safe for concurrent use,
// and several processes may use one log.
type AuditStore interface {
	// Append adds one line to the end of the log. It calls next with the lines of the log, the last one first, and adds
	// the line that next returns, which has no newline. If next fails, Append adds nothing and returns its error.
	//
	// From before the first line is read until the new one is added, nobody else may add a line. The line is added whole
	// or not at all, and is permanent when Append returns nil. The next function may stop reading at any line. A line is
	// valid until the following one is read.
	Append(ctx context.Context, next func(last iter.Seq2[[]byte, error]) (line []byte, err error)) error
}

// An auditFile is a log in a file. Unlike other stores it may have incomplete lines, which killed writers left. The
// caller holds the lock of the path.
type auditFile struct {
	path  string
	flush bool // write each line to the disk
}

var syncFile = (*os.File).Sync // replaced in tests

// Append adds a line in one write. An incomplete line at the end of the file is ended first.
func (l auditFile) Append(_ context.Context, next func(iter.Seq2[[]byte, error]) ([]byte, error)) (err error) {
	errLink := errors.New("the log is a link; nothing is written to its target: remove the link, or name the target")
	if isLink(l.path) {
		return errLink
	}
	f, size, err := atomicfile.OpenAppend(l.path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if isLink(l.path) { // since the check above
		return errLink
	}
	line, err := next(linesBackward(f, size))
	if err != nil {
		return err
	}
	line = append(line, '\n')
	if size > 0 && !atomicfile.EndsLine(f, size) {
		line = append([]byte{'\n'}, line...)
	}
	if err = atomicfile.WriteEnd(f, size, line); err == nil && l.flush {
		err = syncFile(f)
	}
	return err
}

// isLink reports whether a path is a symbolic link.
func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&os.ModeSymlink != 0
}

// chunk is the number of bytes in which the end of a file is read first.
const chunk = 64 << 10

// linesBackward yields the lines of a file without newlines, the last one first. It yields the last bytes of a line
// that is longer than any record, and then no more.
func linesBackward(f io.ReaderAt, size int64) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		var data []byte // the end of a line and perhaps more lines, which were read and not yielded
		for at, isEnd := size, true; at > 0 || len(data) > 0; {
			from := bytes.LastIndexByte(data, '\n') + 1
			if from == 0 && at > 0 && len(data) <= maxAuditLine {
				n := min(at, int64(max(chunk, len(data))))
				read := make([]byte, n, int(n)+len(data))
				if _, err := f.ReadAt(read, at-n); err != nil {
					yield(nil, err)
					return
				}
				at, data = at-n, append(read, data...)
				if isEnd {
					isEnd, data = false, bytes.TrimSuffix(data, []byte{'\n'})
				}
				continue
			}
			if !yield(data[from:], nil) || from == 0 {
				return
			}
			if data = data[:from-1]; from == 1 && at == 0 {
				yield(data, nil) // the first line is empty
				return
			}
		}
	}
}

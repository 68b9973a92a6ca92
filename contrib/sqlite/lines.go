package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
)

// A lineReader reads the lines of a log, some at a time.
type lineReader struct {
	ctx      context.Context
	db       *DB
	query    string // yields the positions and lines after a position, which is its last argument
	args     []any  // its other arguments
	position int64  // of the last line in the buffer
	buffer   bytes.Buffer
}

// enough is how many bytes of lines are read at a time, and one line more.
const enough = 1 << 20

var errEnough = errors.New("enough lines")

// Read implements io.Reader.
func (r *lineReader) Read(p []byte) (int, error) {
	if r.buffer.Len() == 0 {
		position := r.position
		err := r.db.rows(r.ctx, func() { r.position = position; r.buffer.Reset() },
			func(scan func(...any) error) error {
				var line sql.RawBytes
				if err := scan(&r.position, &line); err != nil {
					return err
				}
				r.buffer.Write(line)
				r.buffer.WriteByte('\n')
				if r.buffer.Len() > enough {
					return errEnough
				}
				return nil
			}, r.query, append(r.args[:len(r.args):len(r.args)], position)...)
		if err != nil && !errors.Is(err, errEnough) {
			return 0, err
		}
	}
	return r.buffer.Read(p) // io.EOF if there was no further line
}

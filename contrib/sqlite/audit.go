package sqlite

import (
	"context"
	"database/sql"
	"io"
	"iter"

	"github.com/hookgen/hookgen/builtin/record"
)

// An AuditLog is a [record.AuditStore] in a file, for record.Audit. Read its lines with [AuditLog.Reader], for example
// with record.VerifyAudit or hooklog.Read. It is safe for concurrent use, also by several processes.
type AuditLog struct {
	DB   *DB
	Name string // of the log, if the file has several, for example with different keys
}

var _ record.AuditStore = AuditLog{}

// Append implements [record.AuditStore].
func (l AuditLog) Append(ctx context.Context, next func(last iter.Seq2[[]byte, error]) ([]byte, error)) error {
	return l.DB.change(ctx, func(tx *sql.Tx) error {
		line, err := next(l.backward(ctx, tx))
		if err != nil {
			return err
		}
		if err := l.DB.fits("the line", len(line)); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "INSERT INTO audit (log, line) VALUES (?, ?)", l.Name, line)
		return err
	})
}

// backward yields the lines of the log, the last one first.
func (l AuditLog) backward(ctx context.Context, tx *sql.Tx) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		rows, err := tx.QueryContext(ctx, "SELECT line FROM audit WHERE log = ? ORDER BY position DESC", l.Name)
		if err != nil {
			yield(nil, err)
			return
		}
		defer rows.Close()
		for rows.Next() {
			var line sql.RawBytes
			if err := rows.Scan(&line); err != nil {
				yield(nil, err)
				return
			}
			if !yield(line, nil) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(nil, err)
		}
	}
}

// Reader returns a reader of the lines of the log from its beginning. It ends at the last line. Lines that are added
// meanwhile may be read too. Reader keeps nothing open between two reads, so it need not be closed.
func (l AuditLog) Reader(ctx context.Context) io.Reader {
	return &lineReader{
		ctx: ctx, db: l.DB, args: []any{l.Name},
		query: "SELECT position, line FROM audit WHERE log = ? AND position > ? ORDER BY position LIMIT 64",
	}
}

package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"io"

	"github.com/hookgen/hookgen/hookkit/hooklog"
)

// An EventLog is a [hooklog.Sink] in a file, for the records of a program's fires. It has the same lines as a log of
// [hooklog.Open], so [hooklog.Read] reads them:
//
//	log := sqlite.EventLog{DB: db}
//	hooks.ObserveAny(agent.Record(log), hookkit.Async(1000))
//	...
//	for c, err := range hooklog.Replay(ctx, hooklog.Read(log.Reader(ctx)), other.Points()) {
//
// An event is on the disk when its fire returns, which takes about a millisecond. With [hookkit.Async] fires do not
// wait, and a program that is killed loses the events in the queue.
//
// EventLog is safe for concurrent use, also by several processes.
type EventLog struct {
	DB     *DB
	Name   string            // of the log, if the file has several
	Redact hooklog.Redaction // removes secrets from events before they are written; nil: nothing is removed
}

var _ hooklog.Sink = EventLog{}

// WriteEvent implements [hooklog.Sink]. An event of a fire that was cancelled is written too. An event of more than
// [hooklog.MaxLine] or Options.MaxBytes bytes is an error.
func (l EventLog) WriteEvent(ctx context.Context, e hooklog.Event) error {
	var line bytes.Buffer
	if err := hooklog.Lines(&line, l.Redact).WriteEvent(ctx, e); err != nil {
		return err
	}
	line.Truncate(line.Len() - 1) // without the line break
	if err := l.DB.fits("the event", line.Len()); err != nil {
		return err
	}
	return l.DB.change(context.WithoutCancel(ctx), func(tx *sql.Tx) error {
		_, err := tx.Exec("INSERT INTO events (log, root, line) VALUES (?, ?, ?)", l.Name, e.Run.Root, line.Bytes())
		return err
	})
}

// Reader returns a reader of all events in the order in which they were written, one line of JSON each. Copy it to a
// file to use hooklog, or pass it to [hooklog.Read]. It ends at the last event. Events that are added meanwhile may be
// read too. Reader keeps nothing open between two reads, so it need not be closed.
func (l EventLog) Reader(ctx context.Context) io.Reader {
	return &lineReader{
		ctx: ctx, db: l.DB, args: []any{l.Name},
		query: "SELECT position, line FROM events WHERE log = ? AND position > ? ORDER BY position LIMIT 64",
	}
}

// RunReader is like Reader for the events of one run and of all runs below it. The argument is the ID of the topmost
// run, see [wire.RunInfo]. An index finds the events, however many others the file has.
func (l EventLog) RunReader(ctx context.Context, root string) io.Reader {
	return &lineReader{
		ctx: ctx, db: l.DB, args: []any{l.Name, root},
		query: "SELECT position, line FROM events WHERE log = ? AND root = ? AND position > ? ORDER BY position LIMIT 64",
	}
}

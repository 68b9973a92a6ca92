package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// patiently calls f until no other process blocks it, the time is over or ctx is done. SQLite's own wait would not end
// with the context, so it is short.
func (db *DB) patiently(ctx context.Context, f func() error) error {
	begun := time.Now()
	for wait := time.Millisecond; ; wait = min(2*wait, 50*time.Millisecond) {
		err := f()
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("%w (%w)", ctx.Err(), err)
		}
		if !isCode(err, codeBusy, codeLocked) {
			return withRemedy(err)
		}
		if time.Since(begun) >= db.busy {
			return fmt.Errorf("another process has been writing for %v: %w", db.busy, err)
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
}

// change calls f in a transaction that writes, and commits it unless f fails.
func (db *DB) change(ctx context.Context, f func(tx *sql.Tx) error) error {
	if err := cmp.Or(db.opened(), ctx.Err()); err != nil {
		return err
	}
	var tx *sql.Tx
	err := db.patiently(ctx, func() (err error) {
		tx, err = db.write.BeginTx(ctx, nil)
		return err
	})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // a no-op after Commit
	if err = f(tx); err == nil {
		err = tx.Commit()
	}
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("%w (%w)", ctx.Err(), err)
	}
	return withRemedy(err)
}

// rows calls each with every row of a query. It may call it again from the first row, after a call of reset.
func (db *DB) rows(ctx context.Context, reset func(), each func(scan func(...any) error) error, query string,
	args ...any,
) error {
	if err := cmp.Or(db.opened(), ctx.Err()); err != nil {
		return err
	}
	return db.patiently(ctx, func() (err error) {
		reset()
		rows, err := db.read.QueryContext(ctx, query, args...)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, rows.Close()) }()
		for rows.Next() {
			if err := each(rows.Scan); err != nil {
				return err
			}
		}
		return rows.Err()
	})
}

// row scans the only row of a query. It returns sql.ErrNoRows for an empty result.
func (db *DB) row(ctx context.Context, into []any, query string, args ...any) error {
	if err := cmp.Or(db.opened(), ctx.Err()); err != nil {
		return err
	}
	return db.patiently(ctx, func() error { return db.read.QueryRowContext(ctx, query, args...).Scan(into...) })
}

// fits returns an error if texts are longer than MaxBytes together.
func (db *DB) fits(what string, lengths ...int) error {
	if err := db.opened(); err != nil {
		return err
	}
	sum := 0
	for _, n := range lengths {
		sum += n
	}
	if sum > db.maxBytes {
		return fmt.Errorf("%s has %d bytes, more than %d; set Options.MaxBytes", what, sum, db.maxBytes)
	}
	return nil
}

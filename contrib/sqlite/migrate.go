package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// A migration brings a file from one version to the next, in a transaction.
type migration func(ctx context.Context, tx *sql.Tx) error

// statements is a migration that runs SQL.
func statements(text string) migration {
	return func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, text)
		return err
	}
}

// migrations are the versions of the schema; a new file is at version 0. Never change one that was released: add the
// next.
//
// Owners are columns, and no text is ever joined with another one to make a key. Times are microseconds since 1970.
var migrations = []migration{statements(`
CREATE TABLE entries (
	key   TEXT NOT NULL PRIMARY KEY,
	value BLOB NOT NULL
) STRICT;

CREATE TABLE sessions (
	tenant       TEXT NOT NULL,
	user         TEXT NOT NULL,
	conversation TEXT NOT NULL,
	messages     BLOB NOT NULL, -- JSON
	state        BLOB,          -- JSON; NULL: none
	PRIMARY KEY (tenant, user, conversation)
) STRICT;

CREATE TABLE audit (
	position INTEGER PRIMARY KEY AUTOINCREMENT,
	log      TEXT NOT NULL,
	line     BLOB NOT NULL
) STRICT;
CREATE INDEX audit_of_log ON audit (log, position);
`), statements(`
CREATE TABLE events (
	position INTEGER PRIMARY KEY AUTOINCREMENT,
	log      TEXT NOT NULL,
	root     TEXT NOT NULL, -- the ID of the topmost run; '': fired without a run
	line     BLOB NOT NULL
) STRICT;
CREATE INDEX events_of_log ON events (log, position);
CREATE INDEX events_of_run ON events (log, root, position);
`), statements(`
ALTER TABLE sessions ADD COLUMN rank INTEGER NOT NULL DEFAULT 0; -- the order of the last saves
UPDATE sessions SET rank = rowid;
CREATE INDEX sessions_by_rank ON sessions (rank, tenant, user, conversation);
`)}

// applicationID marks the files of this package: "hkgn".
const applicationID = 0x686b676e

// migrate brings the file to the latest version. Each step is a transaction that also sets the version. If the process
// is killed, the file has the version before the step or after it.
func (db *DB) migrate(ctx context.Context, steps []migration) error {
	version, err := db.version(ctx)
	switch {
	case isCode(err, codeNotADB):
		return fmt.Errorf("it is not a SQLite database; name another file: %w", err)
	case err != nil:
		return err
	case version > len(steps):
		return fmt.Errorf("it has the version %d, and this program knows versions up to %d; use a newer program",
			version, len(steps))
	}
	var mode string // it is kept in the file
	err = db.patiently(ctx, func() error {
		return db.write.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(&mode)
	})
	if err == nil && mode != "wal" {
		err = fmt.Errorf("its file system has no write-ahead log, only the mode %q; use a local disk", mode)
	}
	if err != nil {
		return err
	}
	for version < len(steps) {
		err := db.change(ctx, func(tx *sql.Tx) error {
			var now int
			if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&now); err != nil {
				return err
			}
			if now > version { // another process was faster
				version = now
				return nil
			}
			if err := steps[version](ctx, tx); err != nil {
				return err
			}
			version++
			_, err := tx.ExecContext(ctx,
				fmt.Sprintf("PRAGMA user_version = %d; PRAGMA application_id = %d", version, applicationID))
			return err
		})
		if err != nil {
			return fmt.Errorf("the migration from version %d failed, and the file still has that version: %w", version, err)
		}
	}
	return nil
}

// version returns the version of the file, 0 for an empty one. It fails if the file belongs to another program.
func (db *DB) version(ctx context.Context) (version int, err error) {
	var tables, id int
	err = db.row(ctx, []any{&version, &id, &tables}, `SELECT
		(SELECT user_version FROM pragma_user_version),
		(SELECT application_id FROM pragma_application_id),
		(SELECT count(*) FROM sqlite_schema)`)
	if err == nil && id != applicationID && (id != 0 || version != 0 || tables != 0) {
		err = errors.New("it is the database of another program; name another file")
	}
	return version, err
}

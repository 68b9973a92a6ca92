package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	driver "modernc.org/sqlite"
)

// Options configure a [DB]. The zero value has the documented defaults.
type Options struct {
	// BusyTimeout is how long a call waits while another process writes; 0: 10 seconds. A negative value is an error.
	BusyTimeout time.Duration
	// MaxBytes bounds the bytes of one value, session, fact, episode or line; 0: 64 MiB. A longer one is an error. A
	// negative value, or more than 512 MiB, is an error.
	MaxBytes int
}

const (
	busyTimeout = 10 * time.Second
	maxBytes    = 64 << 20
	mostBytes   = 512 << 20
	readers     = 4 // connections that read
)

// A DB is an open file. It is safe for concurrent use.
type DB struct {
	write    *sql.DB // one connection, because SQLite has one writer at a time
	read     *sql.DB
	busy     time.Duration
	maxBytes int
}

// opening lets one goroutine at a time create a file. On Unix, closing a file that another goroutine has opened with
// SQLite would take the locks of that one.
var opening sync.Mutex

// Open opens the file at path. A missing file is created, with missing directories, and only its owner can read it. The
// permissions of an existing file stay as they are. Call Close when no call is running.
//
// A file of an older version of this package is migrated. Open refuses a file of a newer version, a database of another
// program, and a file that is not a database, without changing it. A file without the permission to write can be read
// if its directory can be written, and each change is an error. Keep the file on a local disk: SQLite's write-ahead log
// does not work on network file systems.
func Open(path string, opts Options) (*DB, error) {
	db, err := open(path, opts, migrations)
	if err != nil {
		return nil, fmt.Errorf("open the database %s: %w", path, err)
	}
	return db, nil
}

func open(path string, opts Options, steps []migration) (*DB, error) {
	switch {
	case path == "":
		return nil, errors.New("the path is empty; name a file")
	case opts.BusyTimeout < 0:
		return nil, fmt.Errorf("BusyTimeout is %v; give 0 for %v, or more", opts.BusyTimeout, busyTimeout)
	case opts.MaxBytes < 0 || opts.MaxBytes > mostBytes:
		return nil, fmt.Errorf("MaxBytes is %d; give 0 for %d, or up to %d", opts.MaxBytes, maxBytes, mostBytes)
	}
	db := &DB{busy: opts.BusyTimeout, maxBytes: opts.MaxBytes}
	if db.busy == 0 {
		db.busy = busyTimeout
	}
	if db.maxBytes == 0 {
		db.maxBytes = maxBytes
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	opening.Lock()
	defer opening.Unlock()
	if err := create(path); err != nil {
		return nil, err
	}
	if db.write, err = sql.Open("sqlite", address(path, "_txlock=immediate")); err != nil {
		return nil, err
	}
	db.write.SetMaxOpenConns(1)
	if db.read, err = sql.Open("sqlite", address(path, "_query_only=1")); err != nil {
		return nil, errors.Join(err, db.write.Close())
	}
	db.read.SetMaxOpenConns(readers)
	if err := db.migrate(context.Background(), steps); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// create makes the file if it is missing. Only its owner can read it.
func create(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return errors.New("it is not a regular file; name another one")
	case err == nil || !errors.Is(err, fs.ErrNotExist):
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if errors.Is(err, fs.ErrExist) { // another process was faster
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// address returns the data source name of a file. Synchronous writes survive a power failure, and deleted content is
// overwritten.
func address(path, option string) string {
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(path)}
	if !strings.HasPrefix(u.Path, "/") { // a drive of Windows
		u.Path = "/" + u.Path
	}
	u.RawQuery = "_busy_timeout=20&_synchronous=FULL&_defensive=1&_dqs=0&_error_rc=1&_pragma=trusted_schema(OFF)" +
		"&_pragma=secure_delete(ON)&_pragma=journal_size_limit(67108864)&" + option
	return u.String()
}

// Close closes the file.
func (db *DB) Close() error { return errors.Join(db.read.Close(), db.write.Close()) }

// SQLite's result codes, without their extensions.
const (
	codeBusy     = 5
	codeLocked   = 6
	codeReadOnly = 8
	codeCorrupt  = 11
	codeFull     = 13
	codeCantOpen = 14
	codeNotADB   = 26
)

// remedies are the texts that follow the errors of SQLite which a person can mend.
var remedies = map[int]string{
	codeReadOnly: "check the permissions of the file and of its directory",
	codeCorrupt:  "the file is damaged; restore a copy, or save its content with the command .recover of sqlite3",
	codeFull:     "the change is not stored; make room on the disk",
	codeCantOpen: "check the permissions of the file, and of the files next to it that end with -wal and -shm",
}

// withRemedy adds to an error of SQLite how to mend it.
func withRemedy(err error) error {
	var e *driver.Error
	if errors.As(err, &e) {
		if remedy := remedies[e.Code()&0xff]; remedy != "" {
			return fmt.Errorf("%w; %s", err, remedy)
		}
	}
	return err
}

func isCode(err error, codes ...int) bool {
	var e *driver.Error
	if !errors.As(err, &e) {
		return false
	}
	for _, code := range codes {
		if e.Code()&0xff == code {
			return true
		}
	}
	return false
}

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
	if err := ctx.Err(); err != nil {
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
	if err := ctx.Err(); err != nil {
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
	if err := ctx.Err(); err != nil {
		return err
	}
	return db.patiently(ctx, func() error { return db.read.QueryRowContext(ctx, query, args...).Scan(into...) })
}

// fits returns an error if texts are longer than MaxBytes together.
func (db *DB) fits(what string, lengths ...int) error {
	sum := 0
	for _, n := range lengths {
		sum += n
	}
	if sum > db.maxBytes {
		return fmt.Errorf("%s has %d bytes, more than %d; set Options.MaxBytes", what, sum, db.maxBytes)
	}
	return nil
}

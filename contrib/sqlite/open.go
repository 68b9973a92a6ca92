package sqlite

import (
	"cmp"
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
)

// Options configure a [DB]. The zero value has the documented defaults.
type Options struct {
	// BusyTimeout is how long a call waits while another process writes; 0: 10 seconds. A negative value is an error.
	BusyTimeout time.Duration
	// MaxBytes bounds the bytes of one value, session, event or line; 0: 64 MiB. A longer one is an error. A
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
	db := &DB{busy: cmp.Or(opts.BusyTimeout, busyTimeout), maxBytes: cmp.Or(opts.MaxBytes, maxBytes)}
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
func (db *DB) Close() error {
	if err := db.opened(); err != nil {
		return err
	}
	return errors.Join(db.read.Close(), db.write.Close())
}

// opened returns an error for a DB that Open has not made. For example, a program forgets the field of Sessions{}.
func (db *DB) opened() error {
	if db == nil || db.write == nil || db.read == nil {
		return errors.New("sqlite: the DB is missing; set the field DB to the DB that Open returned")
	}
	return nil
}

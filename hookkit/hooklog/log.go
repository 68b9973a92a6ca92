package hooklog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/hookgen/hookgen/internal/atomicfile"
)

// MaxLine is the length in bytes of the longest line that [Open] and [Lines] write and [Read] reads. A longer
// event is an error. To record such events without their long texts, shorten them with [Redact].
const MaxLine = 16 << 20

// A LogOption changes how [Open] writes.
type LogOption interface{ applyLog(*Log) }

// A LinesOption changes how [Lines] writes.
type LinesOption interface{ applyLines(*lines) }

// A rotation is the option that [Rotate] returns.
type rotation struct {
	size int64
	keep int
}

// Rotate limits the size of a log file in bytes. An event that does not fit into the file begins a new one: PATH is
// renamed to PATH.1, PATH.1 to PATH.2, and so on. So PATH.1 has the events before those in PATH. The option keep is the
// number of old files that stay. A number that is not positive panics. Without Rotate the file grows without limit.
func Rotate(size int64, keep int) LogOption {
	if size <= 0 || keep <= 0 {
		panic(fmt.Sprintf("hooklog: Rotate(%d, %d): both must be positive", size, keep))
	}
	return rotation{size, keep}
}

func (r rotation) applyLog(l *Log) { l.rotation = r }

// A Log is a [Sink] that appends events to a file, one line of JSON each. Make one with [Open]. Several goroutines
// and several processes may write to one file.
type Log struct {
	path     string
	rotation rotation

	mu      sync.Mutex
	encoder lineWriter
	lock    *atomicfile.SharedLock
	file    *os.File    // nil until the next event
	size    int64       // of the file when the last event was appended; -1 if none was
	info    fs.FileInfo // of the open file
	closed  bool
}

// Open opens a log file, or creates one that only its owner can read, with its directories. An event is appended
// whole or not at all: if the disk is full, the part that was written is removed again. A line that a killed program
// left without its end is ended first, and [Read] reports it.
//
// Each event is in the file when WriteEvent returns, so a program that is killed loses no event of a fire that has
// returned. A fire never waits for long: another process that holds the lock of the file and has stopped is waited for
// at most once, for a second. If another program renames or removes the file, the next event begins a new one. To keep
// the disk out of the fires, pass [hookkit.Async] to ObserveAny.
func Open(path string, opts ...LogOption) (*Log, error) {
	l := &Log{}
	for _, o := range opts {
		o.applyLog(l)
	}
	if err := l.find(path); err != nil {
		return nil, fmt.Errorf("hooklog: the log cannot be opened: %w", err)
	}
	l.lock = atomicfile.OpenSharedLock(l.path)
	return l, nil
}

// find creates the file and finds its path without links, so that a rotation renames the file and not a link to it.
func (l *Log) find(path string) error {
	const most = 10 // another process can rename the file after it is created
	for n := 1; ; n++ {
		f, _, err := atomicfile.OpenAppend(path)
		if err == nil {
			err = f.Close()
		}
		if err == nil {
			l.path, err = filepath.EvalSymlinks(path)
		}
		if errors.Is(err, fs.ErrNotExist) && n < most {
			continue
		}
		if err == nil {
			l.path, err = filepath.Abs(l.path)
		}
		return err
	}
}

// WriteEvent implements [Sink]. It ignores the context: a record is most useful when the fire was cancelled.
func (l *Log) WriteEvent(_ context.Context, e Event) error { return l.write(&e, false) }

func (l *Log) write(e *Event, encoded bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.encoder.written(l.append(e, encoded))
}

// append appends a line while no other writer does. It writes the line even if the files cannot be rotated. A line of a
// new file refers to no line of the one before, so that each file can be read alone.
func (l *Log) append(e *Event, encoded bool) error {
	if l.closed {
		return &fs.PathError{Op: "append", Path: l.path, Err: fs.ErrClosed}
	}
	line, err := l.encoder.line(e, encoded)
	if err != nil {
		return err
	}
	l.lock.LockBriefly()
	defer l.lock.Unlock()
	size, isNew, err := l.open()
	if err != nil {
		return err
	}
	var failed error
	if keep := l.rotation.keep; keep > 0 && size > 0 && size+int64(len(line)) > l.rotation.size {
		failed = errors.Join(l.release(), l.rotate(keep))
		if size, isNew, err = l.open(); err != nil {
			return errors.Join(failed, err)
		}
	}
	if isNew || size < l.size { // another program has removed the lines
		l.encoder.lists = lists{}
		if line, err = l.encoder.line(e, encoded); err != nil {
			return errors.Join(failed, err)
		}
	}
	if size > 0 && size != l.size && !atomicfile.EndsLine(l.file, size) {
		line = append([]byte{'\n'}, line...)
	}
	err = atomicfile.WriteEnd(l.file, size, line)
	if l.size = size + int64(len(line)); err != nil {
		l.size = -1
	}
	if runtime.GOOS == "windows" { // a file that is open cannot be renamed by another process
		err = errors.Join(err, l.release())
	}
	return errors.Join(failed, err)
}

// open opens the file, unless it is open and still has its path, and returns its size.
func (l *Log) open() (size int64, isNew bool, err error) {
	if l.file != nil {
		if info, err := os.Stat(l.path); err == nil && os.SameFile(info, l.info) {
			return info.Size(), false, nil
		}
		_ = l.release() // it has no data that is not written
	}
	l.size = -1
	if l.file, size, err = atomicfile.OpenAppend(l.path); err != nil {
		return 0, true, err
	}
	l.info, err = l.file.Stat()
	return size, true, err
}

// release closes the file. The next event opens it again.
func (l *Log) release() error {
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	l.file = nil
	return err
}

// rotate renames the file and the old ones.
func (l *Log) rotate(keep int) error {
	name := func(i int) string {
		if i == 0 {
			return l.path
		}
		return fmt.Sprintf("%s.%d", l.path, i)
	}
	for i := keep; i > 0; i-- {
		if err := os.Rename(name(i-1), name(i)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("hooklog: the log is not rotated: %w", err)
		}
	}
	return nil
}

// Close waits until the events that are being written are in the file, and closes it. Later events are errors.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	l.closed = true
	return errors.Join(l.release(), l.lock.Close())
}

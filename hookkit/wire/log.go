package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/hookgen/hookgen/internal/atomicfile"
)

// MaxLine is the length in bytes of the longest line that [OpenLog] and [Lines] write and [ReadLog] reads. A longer
// event is an error. To record such events without their long texts, shorten them with [Redact].
const MaxLine = 16 << 20

// A LogOption changes how [OpenLog] writes.
type LogOption interface{ applyLog(*Log) }

// A LinesOption changes how [Lines] writes.
type LinesOption interface{ applyLines(*lines) }

// A Redaction is the option that [Redact] returns. It is legal in OpenLog, Lines and Replay.
type Redaction func(text []byte) json.RawMessage

// Redact removes secrets from events before they are written. The function gets each JSON value of an event, one after
// the other: payloads, the exit, contributions and votes, and as JSON strings the reasons, errors and labels. It
// returns the JSON to write. It must not change the bytes of its argument and may be called concurrently. An event for
// which it panics, or returns anything but JSON, is not written.
//
//	log, err := wire.OpenLog("run.jsonl", wire.Redact(new(redact.Redactor).JSON))
//
// A replay of redacted events fires the redacted payloads. Pass the same option to [Replay], so that the decisions of
// the replay are redacted too before they are compared.
func Redact(f func(text []byte) json.RawMessage) Redaction {
	if f == nil {
		panic("wire: the function of Redact is nil")
	}
	return f
}

// event redacts a copy of an event.
func (r Redaction) event(e Event) Event {
	if r == nil {
		return e
	}
	value := func(v json.RawMessage) json.RawMessage {
		if v == nil {
			return nil
		}
		return r(v)
	}
	text := func(s string) string {
		quoted, err := json.Marshal(s)
		if s == "" || err != nil {
			return ""
		}
		redacted := r(quoted)
		if json.Unmarshal(redacted, &s) != nil {
			return string(redacted)
		}
		return s
	}
	e.Payload, e.Final, e.Value, e.Collected = value(e.Payload), value(e.Final), value(e.Value), value(e.Collected)
	e.Reason, e.Error = text(e.Reason), text(e.Error)
	e.Run.Labels = maps.Clone(e.Run.Labels)
	for name, label := range e.Run.Labels {
		e.Run.Labels[name] = text(label)
	}
	e.Ballots = slices.Clone(e.Ballots)
	for i := range e.Ballots {
		e.Ballots[i].Reason, e.Ballots[i].Value = text(e.Ballots[i].Reason), value(e.Ballots[i].Value)
	}
	e.Failures = slices.Clone(e.Failures)
	for i := range e.Failures {
		e.Failures[i].Cause = text(e.Failures[i].Cause)
	}
	return e
}

func (r Redaction) applyLog(l *Log)     { l.redact = r }
func (r Redaction) applyLines(l *lines) { l.redact = r }

// A Rotation is the option that [Rotate] returns.
type Rotation struct {
	size int64
	keep int
}

// Rotate limits the size of a log file in bytes. An event that does not fit into the file begins a new one: PATH is
// renamed to PATH.1, PATH.1 to PATH.2, and so on. So PATH.1 has the events before those in PATH. The option keep is the
// number of old files that stay. A number that is not positive panics. Without Rotate the file grows without limit.
func Rotate(size int64, keep int) Rotation {
	if size <= 0 || keep <= 0 {
		panic(fmt.Sprintf("wire: Rotate(%d, %d): both must be positive", size, keep))
	}
	return Rotation{size, keep}
}

func (r Rotation) applyLog(l *Log) { l.rotation = r }

// A Log is a [Sink] that appends events to a file, one line of JSON each. Make one with [OpenLog]. Several goroutines
// and several processes may write to one file.
type Log struct {
	path     string
	redact   Redaction
	rotation Rotation

	mu     sync.RWMutex // read-locked while an event is written
	closed bool
}

// OpenLog opens a log file, or creates one that only its owner can read. An event is appended whole or not at all: if
// the disk is full, the part that was written is removed again. A line that a killed program left without its end is
// ended first, and [ReadLog] reports it.
//
// Each event is in the file when WriteEvent returns, so a program that is killed loses no event of a fire that has
// returned. A fire never waits for long: another process that holds the lock of the file and has stopped is waited for
// at most once, for a second. To keep the disk out of the fires, pass [hookkit.Async] to ObserveAny.
func OpenLog(path string, opts ...LogOption) (*Log, error) {
	if to, err := filepath.EvalSymlinks(path); err == nil {
		path = to // so that a rotation renames the file and not a link to it
	}
	l := &Log{path: path}
	for _, o := range opts {
		o.applyLog(l)
	}
	f, _, err := atomicfile.OpenAppend(path)
	if err != nil {
		return nil, fmt.Errorf("wire: the log cannot be opened: %w", err)
	}
	return l, f.Close()
}

// WriteEvent implements [Sink]. It ignores the context: a record is most useful when the fire was cancelled.
func (l *Log) WriteEvent(_ context.Context, e Event) error {
	line, err := encodeLine(e, l.redact)
	if err != nil {
		return err
	}
	l.mu.RLock()
	defer l.mu.RUnlock()
	if l.closed {
		return &fs.PathError{Op: "append", Path: l.path, Err: fs.ErrClosed}
	}
	defer atomicfile.LockSharedBriefly(l.path)()
	return errors.Join(l.rotate(int64(len(line))), atomicfile.AppendLocked(l.path, line))
}

// Close waits until the events that are being written are in the file. Later events are errors.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	return nil
}

// rotate renames the files if there is no room for so many bytes. The event is written even if a file cannot be
// renamed.
func (l *Log) rotate(more int64) error {
	info, err := os.Stat(l.path)
	if l.rotation.keep == 0 || err != nil || info.Size() == 0 || info.Size()+more <= l.rotation.size {
		return nil // if the file cannot be read, writing to it says why
	}
	name := func(i int) string {
		if i == 0 {
			return l.path
		}
		return fmt.Sprintf("%s.%d", l.path, i)
	}
	for i := l.rotation.keep; i > 0; i-- {
		if err := os.Rename(name(i-1), name(i)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("wire: the log is not rotated: %w", err)
		}
	}
	return nil
}

// encodeLine returns the line for an event, without a line break.
func encodeLine(e Event, redact Redaction) ([]byte, error) {
	line, err := json.Marshal(redact.event(e))
	if err == nil && len(line) > MaxLine {
		err = fmt.Errorf("it has %d bytes, more than %d; shorten it with wire.Redact", len(line), MaxLine)
	}
	return line, err
}

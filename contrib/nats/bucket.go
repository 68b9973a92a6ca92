package nats

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/hookgen/hookgen/generated/agent"
)

// The defaults of [Limits].
const (
	DefaultMaxBytes      = 1 << 30
	DefaultMaxValueBytes = 64 << 20
)

// Limits bound a [Bucket]. The zero value has the documented defaults.
type Limits struct {
	// MaxBytes bounds the bytes of all keys and values; 0: 1 GiB. The server sets them aside when the bucket is made. A
	// change that does not fit fails.
	MaxBytes int64
	// MaxValueBytes bounds one value; 0: 64 MiB. A longer one is an error.
	MaxValueBytes int
	// TTL is how long a key is kept after its last change; 0: until it is deleted.
	TTL time.Duration
	// Replicas is the number of servers of a cluster that keep the bucket; 0: 1. Three survive the loss of one.
	Replicas int
}

// A Bucket keeps values under keys on the server. A key is any text but "". Changes are atomic, and each has a revision,
// which grows. It is safe for concurrent use, also by several processes.
type Bucket struct {
	conn   *Conn
	name   string
	kv     jetstream.KeyValue
	limits Limits
}

// An Entry is the value of a key.
type Entry struct {
	Key      string
	Value    []byte
	Revision uint64    // of the last change; never 0
	Time     time.Time // of the last change, by the clock of the server
	Deleted  bool      // only from Watch: the key has no value now
}

// A Conflict is the error of a change that expected another revision.
type Conflict struct{ Key string }

// Error names the key.
func (e *Conflict) Error() string {
	return fmt.Sprintf("the value of %.80q was changed by another; read it again", e.Key)
}

// markerTTL is how long the server remembers that a key was deleted, for programs that watch it.
const markerTTL = time.Hour

// Bucket opens a bucket. The name consists of letters, digits, "-" and "_". A missing bucket is made with the limits; an
// existing one keeps the limits that it has on the server.
func (c *Conn) Bucket(ctx context.Context, name string, limits Limits) (*Bucket, error) {
	if limits.MaxBytes < 0 || limits.MaxValueBytes < 0 || limits.TTL < 0 || limits.Replicas < 0 {
		return nil, fmt.Errorf("nats: the limits of the bucket %s are negative: %+v; give 0 for the default", name, limits)
	}
	b := &Bucket{conn: c, name: name, limits: limits}
	if b.limits.MaxBytes == 0 {
		b.limits.MaxBytes = DefaultMaxBytes
	}
	if b.limits.MaxValueBytes == 0 {
		b.limits.MaxValueBytes = DefaultMaxValueBytes
	}
	err := c.Do(ctx, func(ctx context.Context) (err error) {
		b.kv, err = c.js.KeyValue(ctx, name)
		if !errors.Is(err, jetstream.ErrBucketNotFound) {
			return err
		}
		b.kv, err = c.js.CreateKeyValue(ctx, jetstream.KeyValueConfig{
			Bucket: name, MaxBytes: b.limits.MaxBytes, TTL: limits.TTL, Replicas: limits.Replicas, LimitMarkerTTL: markerTTL,
		})
		if errors.Is(err, jetstream.ErrBucketExists) { // another process was faster
			b.kv, err = c.js.KeyValue(ctx, name)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("nats: open the bucket %s: %w", name, err)
	}
	return b, nil
}

var errNoKey = errors.New("the key is empty; give one")

// format is the version of stored values. It is their first byte.
const format = 1

// encode returns the bytes to store for a value.
func (b *Bucket) encode(key string, hashed bool, value []byte) ([]byte, error) {
	if len(value) > b.limits.MaxValueBytes {
		return nil, fmt.Errorf("the value of %.80q has %d bytes, more than %d; set Limits.MaxValueBytes", key, len(value),
			b.limits.MaxValueBytes)
	}
	if !hashed {
		key = ""
	}
	head := binary.AppendUvarint([]byte{format}, uint64(len(key)))
	return slices.Concat(head, []byte(key), value), nil
}

// decode returns the key and the value of an entry of the server.
func (b *Bucket) decode(e jetstream.KeyValueEntry) (Entry, error) {
	entry := Entry{Revision: e.Revision(), Time: e.Created()}
	key, plain := unescape(e.Key())
	text := e.Value()
	if len(text) == 0 || text[0] != format {
		return entry, b.corrupt(e, "it was written by another version of this package, or by another program")
	}
	n, used := binary.Uvarint(text[1:])
	if used <= 0 || n > uint64(len(text)-1-used) {
		return entry, b.corrupt(e, "it is cut off")
	}
	text = text[1+used:]
	if entry.Key, entry.Value = key, bytes.Clone(text[n:]); plain {
		return entry, nil
	}
	entry.Key = string(text[:n])
	if path, _ := pathOf(entry.Key); path != e.Key() {
		return entry, b.corrupt(e, "it belongs to another key")
	}
	return entry, nil
}

func (b *Bucket) corrupt(e jetstream.KeyValueEntry, why string) error {
	return fmt.Errorf("nats: the value under %s in the bucket %s cannot be read: %s; repair or delete it", e.Key(), b.name,
		why)
}

// Get returns the value of a key, or a *agent.NotFound.
func (b *Bucket) Get(ctx context.Context, key string) (entry Entry, err error) {
	if key == "" {
		return Entry{}, errNoKey
	}
	path, _ := pathOf(key)
	err = b.conn.Do(ctx, func(ctx context.Context) error {
		e, err := b.kv.Get(ctx, path)
		if err != nil {
			return b.failed(key, err)
		}
		entry, err = b.decode(e)
		return err
	})
	return entry, err
}

// failed converts an error of the library.
func (b *Bucket) failed(key string, err error) error {
	switch {
	case errors.Is(err, jetstream.ErrKeyNotFound):
		return &agent.NotFound{Key: key}
	case errors.Is(err, jetstream.ErrKeyRevisionMismatch), errors.Is(err, jetstream.ErrKeyExists):
		return &Conflict{key}
	}
	return fmt.Errorf("nats: the bucket %s: %w", b.name, err)
}

// Put stores the value of a key and returns its revision.
func (b *Bucket) Put(ctx context.Context, key string, value []byte) (revision uint64, err error) {
	return b.change(ctx, key, value, b.kv.Put)
}

// Create stores the value of a key that has none. If it has one, the error is a *Conflict.
func (b *Bucket) Create(ctx context.Context, key string, value []byte) (revision uint64, err error) {
	return b.change(ctx, key, value, func(ctx context.Context, path string, text []byte) (uint64, error) {
		return b.kv.Create(ctx, path, text)
	})
}

// Update stores the value of a key if its last change has a revision. If not, the error is a *Conflict.
//
// After an error that is not a *Conflict, for example because the time is over, the value may be stored: read it.
func (b *Bucket) Update(ctx context.Context, key string, value []byte, last uint64) (revision uint64, err error) {
	return b.change(ctx, key, value, func(ctx context.Context, path string, text []byte) (uint64, error) {
		return b.kv.Update(ctx, path, text, last)
	})
}

func (b *Bucket) change(
	ctx context.Context, key string, value []byte, store func(context.Context, string, []byte) (uint64, error),
) (revision uint64, err error) {
	if key == "" {
		return 0, errNoKey
	}
	path, hashed := pathOf(key)
	text, err := b.encode(key, hashed, value)
	if err != nil {
		return 0, err
	}
	err = b.conn.Do(ctx, func(ctx context.Context) error {
		revision, err = store(ctx, path, text)
		if err != nil {
			return b.failed(key, err)
		}
		return nil
	})
	return revision, err
}

// Delete removes a key and its value. A missing key is not an error.
func (b *Bucket) Delete(ctx context.Context, key string) error {
	return b.delete(ctx, key)
}

// DeleteAt removes a key and its value if its last change has a revision. If not, the error is a *Conflict.
func (b *Bucket) DeleteAt(ctx context.Context, key string, last uint64) error {
	return b.delete(ctx, key, jetstream.LastRevision(last))
}

func (b *Bucket) delete(ctx context.Context, key string, opts ...jetstream.KVDeleteOpt) error {
	if key == "" {
		return nil
	}
	path, _ := pathOf(key)
	return b.conn.Do(ctx, func(ctx context.Context) error {
		if err := b.kv.Purge(ctx, path, append(opts, jetstream.PurgeTTL(markerTTL))...); err != nil {
			return b.failed(key, err)
		}
		return nil
	})
}

// Keys returns the keys that begin with prefix, sorted. The server selects them by the part of the prefix before its
// last slash, so keys with slashes are listed faster.
func (b *Bucket) Keys(ctx context.Context, prefix string) (keys []string, err error) {
	err = b.conn.Do(ctx, func(ctx context.Context) error {
		keys = nil
		err := b.list(ctx, filterOf(prefix), func(e jetstream.KeyValueEntry) error {
			if key, ok := unescape(e.Key()); ok && strings.HasPrefix(key, prefix) {
				keys = append(keys, key)
			}
			return nil
		}, jetstream.MetaOnly())
		if err != nil {
			return err
		}
		return b.list(ctx, hashedPaths+".>", func(e jetstream.KeyValueEntry) error {
			entry, err := b.decode(e)
			if err == nil && strings.HasPrefix(entry.Key, prefix) {
				keys = append(keys, entry.Key)
			}
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	slices.Sort(keys)
	return slices.Compact(keys), nil // a key that changes during the listing can come twice
}

// list calls each for the present entries of a filter.
func (b *Bucket) list(
	ctx context.Context, filter string, each func(jetstream.KeyValueEntry) error, opts ...jetstream.WatchOpt,
) error {
	return b.watch(ctx, []string{filter}, func(e jetstream.KeyValueEntry) error {
		if e == nil {
			return errEnd
		}
		return each(e)
	}, append(opts, jetstream.IgnoreDeletes())...)
}

var errEnd = errors.New("the end")

// watch calls each with the entries of a watcher, and with nil after the present ones, until it returns an error. It
// returns this error, or nil for errEnd.
func (b *Bucket) watch(
	ctx context.Context, filters []string, each func(jetstream.KeyValueEntry) error, opts ...jetstream.WatchOpt,
) error {
	w, err := b.kv.WatchFiltered(ctx, filters, opts...)
	if err != nil {
		return b.failed("", err)
	}
	defer func() {
		_ = w.Stop() // it fails if the connection is closed, which closes the channel too
		for range w.Updates() {
		}
	}()
	for {
		select {
		case e, ok := <-w.Updates():
			if !ok {
				return fmt.Errorf("nats: the connection to %s is closed", b.conn)
			}
			if err := each(e); errors.Is(err, errEnd) {
				return nil
			} else if err != nil {
				return err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Watch yields the entries whose keys begin with prefix: first those that exist, then an Entry without a Key, then every
// change as it happens, until the loop ends or the context is done. A lost connection is made again, and the changes
// that were missed follow; of several changes of a key, the last is certain to come. An entry that cannot be read is
// yielded with an error, and others follow. After a context is done, its error comes last.
func (b *Bucket) Watch(ctx context.Context, prefix string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		err := b.watch(ctx, []string{filterOf(prefix), hashedPaths + ".>"}, func(e jetstream.KeyValueEntry) error {
			var (
				entry Entry
				err   error
			)
			switch {
			case e == nil:
			case e.Operation() != jetstream.KeyValuePut:
				key, ok := unescape(e.Key())
				if !ok || !strings.HasPrefix(key, prefix) {
					return nil
				}
				entry = Entry{Key: key, Revision: e.Revision(), Time: e.Created(), Deleted: true}
			default:
				entry, err = b.decode(e)
				if !strings.HasPrefix(entry.Key, prefix) {
					return nil
				}
			}
			if !yield(entry, err) {
				return errEnd
			}
			return nil
		})
		if err != nil {
			yield(Entry{}, err)
		}
	}
}

package nats

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
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
	// MaxBytes bounds the bytes of all keys and values; 0: 1 GiB. The server sets them aside when the bucket is made.
	// A change that does not fit fails.
	MaxBytes int64
	// MaxValueBytes bounds one value; 0: 64 MiB. A longer one is an error.
	MaxValueBytes int
	// TTL is how long a key is kept after its last change; 0: until it is deleted.
	TTL time.Duration
	// Replicas is the number of servers of a cluster that keep the bucket; 0: 1. Three survive the loss of one.
	Replicas int
}

// A Bucket keeps values under keys on the server. A key is any text but "". Changes are atomic, and each has a
// revision, which grows. Values that are too long for a message of the server are stored in parts, see [Bucket.Sweep].
// A Bucket is safe for concurrent use, also by several processes.
type Bucket struct {
	conn   *Conn
	name   string
	kv     jetstream.KeyValue
	stream jetstream.Stream // of kv
	limits Limits
	part   int // bytes of the parts of long values
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

// Bucket opens a bucket. The name consists of letters, digits, "-" and "_". A missing bucket is made with the limits.
// An existing one keeps the limits that it has on the server.
func (c *Conn) Bucket(ctx context.Context, name string, limits Limits) (*Bucket, error) {
	if limits.MaxBytes < 0 || limits.MaxValueBytes < 0 || limits.TTL < 0 || limits.Replicas < 0 {
		return nil, fmt.Errorf("nats: the limits of the bucket %s are negative: %+v; give 0 for the default", name, limits)
	}
	b := &Bucket{conn: c, name: name, limits: limits, part: min(maxPart, int(c.client.MaxPayload()/2))}
	if b.limits.MaxBytes == 0 {
		b.limits.MaxBytes = DefaultMaxBytes
	}
	if b.limits.MaxValueBytes == 0 {
		b.limits.MaxValueBytes = DefaultMaxValueBytes
	}
	err := c.Do(ctx, func(ctx context.Context) (err error) {
		b.kv, err = c.js.KeyValue(ctx, name)
		if errors.Is(err, jetstream.ErrBucketNotFound) {
			if err := c.createBucket(ctx, name, b.limits); err != nil {
				return err
			}
			b.kv, err = c.js.KeyValue(ctx, name)
		}
		if err == nil {
			b.stream, err = c.js.Stream(ctx, bucketStreams+name)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("nats: open the bucket %s: %w", name, err)
	}
	return b, nil
}

// bucketStreams begins the names of the streams of buckets.
const bucketStreams = "KV_"

// createBucket makes the stream of a bucket, as the library does, with one exception. The library lets each server of a
// cluster answer reads, also one that does not have the last changes yet. So a process could read a value that it has
// just replaced. Here the leader answers, unless there is one server.
func (c *Conn) createBucket(ctx context.Context, name string, limits Limits) error {
	account, err := c.js.AccountInfo(ctx)
	if err != nil {
		return err
	}
	if account.API.Level < markerLevel {
		return errors.New("the server cannot remove the markers of deleted keys; use nats-server 2.11 or newer")
	}
	replicas := max(1, limits.Replicas)
	_, err = c.js.CreateStream(ctx, jetstream.StreamConfig{
		Name: bucketStreams + name, Subjects: []string{"$KV." + name + ".>"}, MaxMsgsPerSubject: 1,
		MaxBytes: limits.MaxBytes, MaxAge: limits.TTL, Replicas: replicas, Discard: jetstream.DiscardNew,
		AllowRollup: true, DenyDelete: true, AllowDirect: replicas == 1, AllowMsgTTL: true, SubjectDeleteMarkerTTL: markerTTL,
	})
	if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) { // another process was faster
		return nil
	}
	return err
}

// markerLevel is the level of the interface of servers that remove markers of deleted keys.
const markerLevel = 1

var errNoKey = errors.New("the key is empty; give one")

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
		entry, err = b.load(ctx, e)
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

// anyRevision lets a change replace any value; 0 lets it replace none.
const anyRevision = ^uint64(0)

// Put stores the value of a key and returns its revision.
func (b *Bucket) Put(ctx context.Context, key string, value []byte) (revision uint64, err error) {
	return b.change(ctx, key, value, anyRevision)
}

// Create stores the value of a key that has none. If it has one, the error is a *Conflict.
func (b *Bucket) Create(ctx context.Context, key string, value []byte) (revision uint64, err error) {
	return b.change(ctx, key, value, 0)
}

// Update stores the value of a key if its last change has the revision last. If not, the error is a *Conflict.
//
// After an error that is not a *Conflict, for example because the time is over, the value may be stored: read it.
func (b *Bucket) Update(ctx context.Context, key string, value []byte, last uint64) (revision uint64, err error) {
	if last == 0 {
		return 0, &Conflict{key}
	}
	return b.change(ctx, key, value, last)
}

func (b *Bucket) change(ctx context.Context, key string, value []byte, last uint64) (revision uint64, err error) {
	switch {
	case key == "":
		return 0, errNoKey
	case len(value) > b.limits.MaxValueBytes:
		return 0, fmt.Errorf("the value of %.80q has %d bytes, more than %d; set Limits.MaxValueBytes", key, len(value),
			b.limits.MaxValueBytes)
	}
	err = b.conn.Do(ctx, func(ctx context.Context) error {
		head, parts, err := b.encode(ctx, key, value)
		if err != nil {
			return b.failed(key, err)
		}
		var replaced manifest
		revision, replaced, err = b.replace(ctx, key, head, last)
		switch {
		case err == nil:
			parts = replaced
		case !refused(err):
			return err // the change may be done, so its parts stay
		}
		b.removeParts(ctx, key, parts)
		return err
	})
	return revision, err
}

// refused reports whether the server has answered that it does not store a change.
func refused(err error) bool {
	conflict, refusal := new(Conflict), new(jetstream.APIError)
	return errors.As(err, &conflict) || errors.As(err, &refusal)
}

// replace stores the head of a value, and returns the parts of the one before.
func (b *Bucket) replace(
	ctx context.Context, key string, head []byte, last uint64,
) (revision uint64, replaced manifest, err error) {
	path, _ := pathOf(key)
	for {
		old, err := b.kv.Get(ctx, path)
		switch {
		case errors.Is(err, jetstream.ErrKeyNotFound) && (last == 0 || last == anyRevision):
			revision, err = b.kv.Create(ctx, path, head)
		case errors.Is(err, jetstream.ErrKeyNotFound):
			return 0, replaced, &Conflict{key}
		case err == nil && last != anyRevision && last != old.Revision():
			return 0, replaced, &Conflict{key}
		case err == nil:
			replaced = b.partsOf(old)
			revision, err = b.kv.Update(ctx, path, head, old.Revision())
		}
		if err == nil {
			return revision, replaced, nil
		}
		conflict := new(Conflict)
		if err = b.failed(key, err); last != anyRevision || !errors.As(err, &conflict) {
			return 0, replaced, err
		}
	}
}

// Delete removes a key and its value. A missing key is not an error.
func (b *Bucket) Delete(ctx context.Context, key string) error {
	return b.delete(ctx, key, anyRevision)
}

// DeleteAt removes a key and its value if its last change has the revision last. If not, the error is a *Conflict.
func (b *Bucket) DeleteAt(ctx context.Context, key string, last uint64) error {
	return b.delete(ctx, key, last)
}

func (b *Bucket) delete(ctx context.Context, key string, last uint64) error {
	path, _ := pathOf(key)
	return b.conn.Do(ctx, func(ctx context.Context) error {
		for {
			old, err := b.kv.Get(ctx, path)
			switch {
			case errors.Is(err, jetstream.ErrKeyNotFound) && last == anyRevision:
				return nil
			case err == nil && last != anyRevision && last != old.Revision(), errors.Is(err, jetstream.ErrKeyNotFound):
				return &Conflict{key}
			case err == nil:
				err = b.kv.Purge(ctx, path, jetstream.LastRevision(old.Revision()), jetstream.PurgeTTL(markerTTL))
			}
			if err == nil {
				b.removeParts(ctx, key, b.partsOf(old))
				return nil
			}
			conflict := new(Conflict)
			if err = b.failed(key, err); last != anyRevision || !errors.As(err, &conflict) {
				return err
			}
		}
	})
}

// Entries returns the entries whose keys begin with prefix, in the order of their revisions.
func (b *Bucket) Entries(ctx context.Context, prefix string) ([]Entry, error) {
	return b.entries(ctx, prefix, filterOf(prefix), hashedPaths+".>")
}

// entries is Entries for the paths that some filters match.
func (b *Bucket) entries(ctx context.Context, prefix string, filters ...string) (entries []Entry, err error) {
	err = b.conn.Do(ctx, func(ctx context.Context) error {
		entries = nil
		seen := map[string]int{}
		return b.list(ctx, filters, func(e jetstream.KeyValueEntry) error {
			if key, ok := unescape(e.Key()); ok && !strings.HasPrefix(key, prefix) {
				return nil
			}
			entry, err := b.load(ctx, e)
			if missing := new(agent.NotFound); errors.As(err, &missing) { // it was deleted meanwhile
				return nil
			}
			if err != nil || !strings.HasPrefix(entry.Key, prefix) {
				return err
			}
			if i, ok := seen[entry.Key]; ok { // it was changed meanwhile
				entries[i] = entry
				return nil
			}
			seen[entry.Key] = len(entries)
			entries = append(entries, entry)
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(entries, func(a, b Entry) int { return cmp.Compare(a.Revision, b.Revision) })
	return entries, nil
}

// Keys returns the keys that begin with prefix, sorted. The server selects them by the part of the prefix before its
// last slash, so keys with slashes are listed faster.
func (b *Bucket) Keys(ctx context.Context, prefix string) (keys []string, err error) {
	revisions, err := b.revisions(ctx, prefix)
	if err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(revisions)), nil
}

// revisions returns the keys that begin with prefix and their revisions, without reading the values.
func (b *Bucket) revisions(ctx context.Context, prefix string) (revisions map[string]uint64, err error) {
	err = b.conn.Do(ctx, func(ctx context.Context) error {
		revisions = make(map[string]uint64)
		err := b.list(ctx, []string{filterOf(prefix)}, func(e jetstream.KeyValueEntry) error {
			if key, ok := unescape(e.Key()); ok && strings.HasPrefix(key, prefix) {
				revisions[key] = e.Revision()
			}
			return nil
		}, jetstream.MetaOnly())
		if err != nil {
			return err
		}
		return b.list(ctx, []string{hashedPaths + ".>"}, func(e jetstream.KeyValueEntry) error {
			h, err := b.decode(e)
			if err == nil && strings.HasPrefix(h.key, prefix) {
				revisions[h.key] = e.Revision()
			}
			return err
		})
	})
	return revisions, err
}

// byRevision returns keys in the order of their last changes.
func byRevision(revisions map[string]uint64) []string {
	return slices.SortedFunc(maps.Keys(revisions), func(a, b string) int {
		return cmp.Compare(revisions[a], revisions[b])
	})
}

// oldest returns the keys that begin with prefix, except for those of the last n changes. Keys whose
// paths are hashed are left out.
func (b *Bucket) oldest(ctx context.Context, prefix string, n int) (keys []string, err error) {
	revisions := map[string]uint64{}
	err = b.list(ctx, []string{filterOf(prefix)}, func(e jetstream.KeyValueEntry) error {
		if key, ok := unescape(e.Key()); ok && strings.HasPrefix(key, prefix) {
			revisions[key] = e.Revision()
		}
		return nil
	}, jetstream.MetaOnly())
	keys = byRevision(revisions)
	return keys[:max(0, len(keys)-n)], err
}

// list calls each for the present entries of some filters.
//
// While a watcher lists the keys, another process may change a key before its turn. The watcher then has the change
// after the end of the list, or not at all. So list compares the list with the subjects of the stream, and asks for
// those that are missing.
func (b *Bucket) list(
	ctx context.Context, filters []string, each func(jetstream.KeyValueEntry) error, opts ...jetstream.WatchOpt,
) error {
	seen := make(map[string]bool)
	some := func(e jetstream.KeyValueEntry) error {
		if e.Operation() != jetstream.KeyValuePut {
			return nil
		}
		return each(e)
	}
	err := b.watch(ctx, slices.Clone(filters), func(e jetstream.KeyValueEntry) error {
		if e == nil {
			return errEnd
		}
		seen[e.Key()] = true
		return some(e)
	}, opts...)
	for _, filter := range filters {
		if err != nil {
			return err
		}
		err = b.others(ctx, filter, seen, some)
	}
	return err
}

// others calls each for the entries of a filter that were not seen.
func (b *Bucket) others(
	ctx context.Context, filter string, seen map[string]bool, each func(jetstream.KeyValueEntry) error,
) error {
	info, err := b.stream.Info(ctx, jetstream.WithSubjectFilter(b.subject(filter)))
	if err != nil {
		return b.failed("", err)
	}
	for subject := range info.State.Subjects {
		path := strings.TrimPrefix(subject, b.subject(""))
		if seen[path] {
			continue
		}
		e, err := b.kv.Get(ctx, path)
		switch {
		case errors.Is(err, jetstream.ErrKeyNotFound):
		case err != nil:
			return b.failed("", err)
		default:
			if err := each(e); err != nil {
				return err
			}
		}
	}
	return nil
}

// subject returns the subject of a path or filter.
func (b *Bucket) subject(path string) string { return "$KV." + b.name + "." + path }

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

// Watch yields the entries whose keys begin with prefix: first those that exist, then an Entry without a Key, then
// every change as it happens, until the loop ends or the context is done. A lost connection is made again, and the
// changes that were missed follow; of several changes of a key, the last is certain to come. An entry that cannot be
// read is yielded with an error, and others follow. After the context is done, its error comes last.
func (b *Bucket) Watch(ctx context.Context, prefix string) iter.Seq2[Entry, error] {
	return b.changes(ctx, prefix, filterOf(prefix), hashedPaths+".>")
}

// changes is Watch for the paths that some filters match.
func (b *Bucket) changes(ctx context.Context, prefix string, filters ...string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		err := b.watch(ctx, slices.Clone(filters), func(e jetstream.KeyValueEntry) error {
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
				if key, ok := unescape(e.Key()); ok && !strings.HasPrefix(key, prefix) {
					return nil
				}
				entry, err = b.read(ctx, e)
				if missing := new(agent.NotFound); errors.As(err, &missing) { // it was deleted, which follows
					return nil
				}
				if err == nil && !strings.HasPrefix(entry.Key, prefix) {
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

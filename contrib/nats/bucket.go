package nats

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	client "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/hookgen/hookgen/contrib/nats/internal/streams"
	"github.com/hookgen/hookgen/generated/agent"
)

// DefaultMaxBytes is the default of [Limits].MaxBytes.
const DefaultMaxBytes = 1 << 30

// Limits bound a [Bucket]. The zero value has the documented defaults.
type Limits struct {
	// MaxBytes bounds the bytes of all keys and values; 0: 1 GiB. The server sets them aside when the bucket is made.
	// A change that does not fit fails.
	MaxBytes int64
	// TTL is how long a key is kept after its last change; 0: until it is deleted.
	TTL time.Duration
	// Replicas is the number of servers of a cluster that keep the bucket; 0: 1. Three survive the loss of one.
	Replicas int
}

// A Bucket keeps values under keys on the server. A key is any text but "". Changes are atomic, and each has a
// revision, which grows. A value has at most the bytes of a message of the server, its max_payload. A Bucket is safe
// for concurrent use, also by several processes.
type Bucket struct {
	conn   *Conn
	name   string
	kv     jetstream.KeyValue
	stream jetstream.Stream // of kv
}

// An Entry is the value of a key.
type Entry struct {
	Key      string
	Value    []byte
	Revision uint64    // of the last change; never 0
	Time     time.Time // of the last change, by the clock of the server
}

// markerTTL is how long the server remembers that a key was deleted.
const markerTTL = time.Hour

// Bucket opens a bucket. The name consists of letters, digits, "-" and "_". A missing bucket is made with the limits.
// An existing one keeps the limits that it has on the server.
func (c *Conn) Bucket(ctx context.Context, name string, limits Limits) (*Bucket, error) {
	if limits.MaxBytes < 0 || limits.TTL < 0 || limits.Replicas < 0 {
		return nil, fmt.Errorf("nats: the limits of the bucket %s are negative: %+v; give 0 for the default", name, limits)
	}
	b := &Bucket{conn: c, name: name}
	limits.MaxBytes = cmp.Or(limits.MaxBytes, DefaultMaxBytes)
	err := c.Do(ctx, func(ctx context.Context) (err error) {
		if err := c.checkVersion(); err != nil {
			return err
		}
		b.kv, err = c.js.KeyValue(ctx, name)
		if errors.Is(err, jetstream.ErrBucketNotFound) {
			if err := c.createBucket(ctx, name, limits); err != nil {
				return err
			}
			b.kv, err = c.js.KeyValue(ctx, name)
		}
		if err == nil {
			b.stream, err = c.js.Stream(ctx, bucketStreams+name)
		}
		return err
	})
	if errors.Is(err, client.ErrNoResponders) || errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount) {
		err = fmt.Errorf("the server keeps nothing for this user; switch JetStream on, for example with nats-server -js, or "+
			"wait until its cluster has a leader: %w", err)
	}
	if err != nil {
		return nil, fmt.Errorf("nats: open the bucket %s: %w", name, err)
	}
	return b, nil
}

// checkVersion returns an error about a server that is too old: before 2.11, the markers of deleted keys stay for ever,
// and several messages cannot be read with one request. Each user may see the version, whatever its permissions are.
func (c *Conn) checkVersion() error {
	var major, minor int
	version := c.client.ConnectedServerVersion()
	n, _ := fmt.Sscanf(version, "%d.%d", &major, &minor) // a version of another form is not compared
	if n == 2 && (major < 2 || major == 2 && minor < 11) {
		return fmt.Errorf("the server is nats-server %s; use 2.11 or newer", version)
	}
	return nil
}

// bucketStreams begins the names of the streams of buckets.
const bucketStreams = "KV_"

// createBucket makes the stream of a bucket, as the library does, with one exception. The library lets each server of a
// cluster answer reads, also one that does not have the last changes yet. So a process could read a value that it has
// just replaced. Here the leader answers, unless there is one server.
func (c *Conn) createBucket(ctx context.Context, name string, limits Limits) error {
	replicas := max(1, limits.Replicas)
	_, err := streams.Open(ctx, c.js, jetstream.StreamConfig{
		Name: bucketStreams + name, Subjects: []string{"$KV." + name + ".>"}, MaxMsgsPerSubject: 1,
		MaxBytes: limits.MaxBytes, MaxAge: limits.TTL, Replicas: replicas, Discard: jetstream.DiscardNew,
		AllowRollup: true, DenyDelete: true, AllowDirect: replicas == 1, AllowMsgTTL: true, SubjectDeleteMarkerTTL: markerTTL,
	})
	return err
}

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
		entry, err = b.decode(e)
		return err
	})
	return entry, err
}

// failed converts an error of the library. It is nil for nil.
func (b *Bucket) failed(key string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, jetstream.ErrKeyNotFound):
		return &agent.NotFound{Key: key}
	case errors.Is(err, jetstream.ErrKeyRevisionMismatch), errors.Is(err, jetstream.ErrKeyExists):
		return &Conflict{key}
	}
	return fmt.Errorf("nats: the bucket %s: %w", b.name, err)
}

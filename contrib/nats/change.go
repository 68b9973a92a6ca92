package nats

import (
	"context"
	"errors"
	"fmt"

	client "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

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
	if key == "" {
		return 0, errNoKey
	}
	path, _ := pathOf(key)
	text := encode(key, value)
	err = b.conn.Do(ctx, func(ctx context.Context) (err error) {
		switch last {
		case anyRevision:
			revision, err = b.kv.Put(ctx, path, text)
		case 0:
			revision, err = b.kv.Create(ctx, path, text)
		default:
			revision, err = b.kv.Update(ctx, path, text, last)
		}
		if errors.Is(err, client.ErrMaxPayload) {
			return fmt.Errorf("nats: the value of %.80q has %d bytes, and the server permits %d: raise its max_payload: %w", key,
				len(value), b.conn.client.MaxPayload(), err)
		}
		return b.failed(key, err)
	})
	return revision, err
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
		options := []jetstream.KVDeleteOpt{jetstream.PurgeTTL(markerTTL)}
		if last != anyRevision {
			options = append(options, jetstream.LastRevision(last))
		} else if _, err := b.kv.Get(ctx, path); errors.Is(err, jetstream.ErrKeyNotFound) {
			return nil
		}
		return b.failed(key, b.kv.Purge(ctx, path, options...))
	})
}

package nats

import (
	"context"
	"errors"
	"strings"

	"github.com/hookgen/hookgen/generated/agent"
)

// A Store is an [agent.Store] in a bucket, for example of session.Checkpoint. Its keys begin with "store/" in the
// bucket, so that it can share the bucket with the other stores. Hooks that share it never meet, because the
// keys of each begin with its kind. It is safe for concurrent use, also by several processes.
type Store struct {
	Bucket *Bucket
}

var _ agent.Store = Store{}

const storeKeys = "store/"

// missing names the key as the caller of a store knows it.
func missing(err error, key string) error {
	if found := new(agent.NotFound); errors.As(err, &found) {
		return &agent.NotFound{Key: key}
	}
	return err
}

// Get returns the value of a key, or a *agent.NotFound.
func (s Store) Get(ctx context.Context, key string) ([]byte, error) {
	if key == "" {
		return nil, errNoKey
	}
	e, err := s.Bucket.Get(ctx, storeKeys+key)
	return e.Value, missing(err, key)
}

// Put stores the value of a key.
func (s Store) Put(ctx context.Context, key string, value []byte) error {
	if key == "" {
		return errNoKey
	}
	_, err := s.Bucket.Put(ctx, storeKeys+key, value)
	return err
}

// Delete removes a key and its value. A missing key is not an error.
func (s Store) Delete(ctx context.Context, key string) error {
	return s.Bucket.Delete(ctx, storeKeys+key)
}

// Take removes a key and returns its value, or a *agent.NotFound. If several processes take the same key, one of them
// gets the value. For example, a program takes a suspended run before it resumes it. If the run was refused, and the
// error matches loop.ErrNotStarted, the program puts the value back.
func (s Store) Take(ctx context.Context, key string) ([]byte, error) {
	e, err := s.Bucket.take(ctx, storeKeys+key)
	return e.Value, missing(err, key)
}

// take removes a key and returns its entry.
func (b *Bucket) take(ctx context.Context, key string) (e Entry, err error) {
	err = b.retry(ctx, func(ctx context.Context) error {
		if e, err = b.Get(ctx, key); err != nil {
			return err
		}
		return b.DeleteAt(ctx, key, e.Revision)
	})
	if err != nil {
		return Entry{}, err
	}
	return e, nil
}

// Keys returns the keys that begin with prefix, sorted.
func (s Store) Keys(ctx context.Context, prefix string) ([]string, error) {
	keys, err := s.Bucket.Keys(ctx, storeKeys+prefix)
	for i, key := range keys {
		keys[i] = strings.TrimPrefix(key, storeKeys)
	}
	return keys, err
}

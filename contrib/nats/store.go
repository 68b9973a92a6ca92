package nats

import (
	"bytes"
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

// Swap stores the value of a key if its present value is old, and reports whether it did. For old, nil says that the
// key has no value; as the new value, it removes the key. If several processes swap the same value, one of them does.
func (s Store) Swap(ctx context.Context, key string, old, value []byte) (swapped bool, err error) {
	if key == "" {
		return false, errNoKey
	}
	b, key := s.Bucket, storeKeys+key
	e, err := b.Get(ctx, key)
	gone := errors.As(err, new(*agent.NotFound))
	if err != nil && !gone {
		return false, err
	}
	if gone != (old == nil) || !bytes.Equal(e.Value, old) {
		return false, nil
	}
	switch {
	case value == nil && gone:
		return true, nil
	case value == nil:
		err = b.DeleteAt(ctx, key, e.Revision)
	case gone:
		_, err = b.Create(ctx, key, value)
	default:
		_, err = b.Update(ctx, key, value, e.Revision)
	}
	if errors.As(err, new(*Conflict)) {
		return false, nil
	}
	return err == nil, err
}

// Keys returns the keys that begin with prefix, sorted.
func (s Store) Keys(ctx context.Context, prefix string) ([]string, error) {
	keys, err := s.Bucket.Keys(ctx, storeKeys+prefix)
	for i, key := range keys {
		keys[i] = strings.TrimPrefix(key, storeKeys)
	}
	return keys, err
}

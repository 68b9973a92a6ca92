package nats

import (
	"context"
	"errors"
	"fmt"

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

package nats

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nats-io/nats.go/jetstream"
)

// Keys returns the keys that begin with prefix, sorted. It does not read the values. The server selects them by the
// part of the prefix before its last slash, so keys with slashes are listed faster.
func (b *Bucket) Keys(ctx context.Context, prefix string) (keys []string, err error) {
	err = b.conn.Do(ctx, func(ctx context.Context) error {
		keys = nil
		add := func(key string, ok bool) {
			if ok && strings.HasPrefix(key, prefix) {
				keys = append(keys, key)
			}
		}
		err := b.list(ctx, filterOf(prefix), func(e jetstream.KeyValueEntry) error {
			add(unescape(e.Key()))
			return nil
		}, jetstream.MetaOnly())
		if err != nil {
			return err
		}
		return b.list(ctx, hashedPaths+".>", func(e jetstream.KeyValueEntry) error {
			h, err := b.decode(e)
			add(h.Key, err == nil)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	slices.Sort(keys)
	return slices.Compact(keys), nil
}

// list calls each for the present entries of a filter.
//
// While a watcher lists the keys, another process may change a key before its turn. The watcher then has the change
// after the end of the list, or not at all. So list compares the list with the subjects of the stream, and asks for
// those that are missing.
func (b *Bucket) list(
	ctx context.Context, filter string, each func(jetstream.KeyValueEntry) error, opts ...jetstream.WatchOpt,
) error {
	w, err := b.kv.Watch(ctx, filter, opts...)
	if err != nil {
		return b.failed("", err)
	}
	defer func() {
		_ = w.Stop() // it fails if the connection is closed, which closes the channel too
		for range w.Updates() {
		}
	}()
	seen := make(map[string]bool)
	for {
		select {
		case e, ok := <-w.Updates():
			switch {
			case !ok:
				return fmt.Errorf("nats: the connection to %s is closed", b.conn)
			case e == nil: // after the present ones
				return b.others(ctx, filter, seen, each)
			}
			seen[e.Key()] = true
			if e.Operation() == jetstream.KeyValuePut {
				if err := each(e); err != nil {
					return err
				}
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
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

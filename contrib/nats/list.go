package nats

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/hookgen/hookgen/generated/agent"
)

// Entries returns the entries whose keys begin with prefix, in the order of their revisions.
func (b *Bucket) Entries(ctx context.Context, prefix string) (entries []Entry, err error) {
	err = b.conn.Do(ctx, func(ctx context.Context) error {
		entries = nil
		seen := map[string]int{}
		return b.list(ctx, []string{filterOf(prefix), hashedPaths + ".>"}, func(e jetstream.KeyValueEntry) error {
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

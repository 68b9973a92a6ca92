package nats

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/hookgen/hookgen/generated/agent"
)

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
	return func(yield func(Entry, error) bool) {
		hashed := make(map[string]string) // keys that were yielded, by their hashed paths; a deletion has no key
		err := b.watch(ctx, []string{filterOf(prefix), hashedPaths + ".>"}, func(e jetstream.KeyValueEntry) error {
			var (
				entry Entry
				err   error
			)
			switch {
			case e == nil:
			case e.Operation() != jetstream.KeyValuePut:
				key, ok := unescape(e.Key())
				if !ok {
					key, ok = hashed[e.Key()]
					delete(hashed, e.Key())
				}
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
				if _, plain := unescape(e.Key()); !plain && err == nil {
					hashed[e.Key()] = entry.Key
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

package nats

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/hookgen/hookgen/generated/agent"
)

// A stored value has a head: the format, the kind, and the key if its path is hashed. After the head comes the value,
// or the manifest of its parts.
//
// A message of the server has a limit, 1 MiB by default, and a conversation can be longer. The parts of a long value
// are written first, under paths of their own. The value exists when its manifest is written, which is one message. A
// manifest is replaced only at the revision that was read, so each writer knows whose parts it may remove. A program
// that is killed between the parts and the manifest leaves parts that nobody reads; Sweep removes them.
const (
	format = 1 // the first byte of each value

	inline = 0 // the value follows
	inPart = 1 // a manifest follows

	maxPart   = 512 << 10
	partPaths = "p"
)

// A manifest describes the parts of a long value. The path of a part is "p", the ID, the number of the part, and the
// path of the key.
type manifest struct {
	ID    string `json:"id"`
	Parts int    `json:"parts"`
	Bytes int    `json:"bytes"`
	Sum   string `json:"sha256"`
}

func (m manifest) path(part int, of string) string {
	return partPaths + "." + m.ID + "." + strconv.Itoa(part) + "." + of
}

// newID returns the ID of a manifest. It begins with the time, for Sweep.
func newID() string { return fmt.Sprintf("%x-%016x", time.Now().Unix(), rand.Uint64()) }

// headOf returns the bytes before a value.
func headOf(key string, kind byte) []byte {
	if _, hashed := pathOf(key); !hashed {
		key = ""
	}
	return append(binary.AppendUvarint([]byte{format, kind}, uint64(len(key))), key...)
}

// encode returns the bytes to store under a key. It stores the parts of a long value, and returns their manifest.
func (b *Bucket) encode(ctx context.Context, key string, value []byte) (text []byte, parts manifest, err error) {
	if len(value) <= b.part {
		return append(headOf(key, inline), value...), manifest{}, nil
	}
	sum := sha256.Sum256(value)
	m := manifest{
		ID: newID(), Parts: (len(value) + b.part - 1) / b.part, Bytes: len(value), Sum: hex.EncodeToString(sum[:]),
	}
	path, _ := pathOf(key)
	for i := range m.Parts {
		part := value[i*b.part : min((i+1)*b.part, len(value))]
		if _, err := b.kv.Put(ctx, m.path(i, path), append([]byte{format}, part...)); err != nil {
			m.Parts = i
			b.removeParts(ctx, key, m)
			return nil, manifest{}, err
		}
	}
	text, err = json.Marshal(m)
	return append(headOf(key, inPart), text...), m, err
}

// removeParts removes the parts of a value that does not exist any more. If it fails, Sweep removes them later.
func (b *Bucket) removeParts(ctx context.Context, key string, m manifest) {
	path, _ := pathOf(key)
	for i := range m.Parts {
		if b.kv.Purge(ctx, m.path(i, path), jetstream.PurgeTTL(time.Minute)) != nil {
			return
		}
	}
}

// A head is a stored value without its parts.
type head struct {
	key   string
	value []byte   // unless there are parts
	parts manifest // zero: the value is inline
}

// decode reads the head of an entry of the server.
func (b *Bucket) decode(e jetstream.KeyValueEntry) (h head, err error) {
	h, err = decode(e.Key(), e.Value())
	if err != nil {
		err = fmt.Errorf("nats: the value under %s in the bucket %s cannot be read: %w; repair or delete it", e.Key(), b.name,
			err)
	}
	return h, err
}

func decode(path string, text []byte) (h head, err error) {
	switch {
	case len(text) == 0 || text[0] != format:
		return h, errors.New("it was written by another version of this package, or by another program")
	case len(text) < 2 || text[1] != inline && text[1] != inPart:
		return h, errors.New("its kind is unknown")
	}
	n, used := binary.Uvarint(text[2:])
	if used <= 0 || n > uint64(len(text)-2-used) {
		return h, errors.New("it is cut off")
	}
	body := text[2+used:]
	key, plain := unescape(path)
	if !plain {
		key = string(body[:n])
	}
	if again, hashed := pathOf(key); again != path || hashed != (n > 0) {
		return h, errors.New("it belongs to another key")
	}
	h.key, body = key, body[n:]
	if text[1] == inline {
		h.value = bytes.Clone(body)
		return h, nil
	}
	if err := json.Unmarshal(body, &h.parts); err != nil {
		return h, fmt.Errorf("its manifest is corrupt: %w", err)
	}
	if h.parts.Parts <= 0 || h.parts.Bytes < 0 || strings.ContainsAny(h.parts.ID, ".*> \t\r\n") || h.parts.ID == "" {
		return h, errors.New("its manifest is corrupt")
	}
	return h, nil
}

// partsOf returns the manifest of an entry, or a zero one if it has no parts.
func (b *Bucket) partsOf(e jetstream.KeyValueEntry) manifest {
	h, err := b.decode(e)
	if err != nil {
		return manifest{} // it is not ours
	}
	return h.parts
}

// load returns an entry with its value. If a part is missing because the value was replaced meanwhile, it loads the new
// value.
func (b *Bucket) load(ctx context.Context, e jetstream.KeyValueEntry) (Entry, error) {
	for {
		h, err := b.decode(e)
		entry := Entry{Key: h.key, Revision: e.Revision(), Time: e.Created()}
		if err != nil {
			return entry, err
		}
		if entry.Value = h.value; h.parts.Parts == 0 {
			return entry, nil
		}
		entry.Value, err = b.join(ctx, e.Key(), h.parts)
		if err == nil {
			return entry, nil
		}
		now, failed := b.kv.Get(ctx, e.Key())
		if failed != nil {
			return entry, b.failed(h.key, failed)
		}
		if now.Revision() == e.Revision() {
			if errors.Is(err, jetstream.ErrKeyNotFound) && b.limits.TTL > 0 { // its parts are a little older
				return entry, &agent.NotFound{Key: h.key}
			}
			return entry, fmt.Errorf("nats: the value of %.80q in the bucket %s cannot be read: %w; delete it", h.key, b.name,
				err)
		}
		e = now
	}
}

// join returns the value that a manifest describes.
func (b *Bucket) join(ctx context.Context, path string, m manifest) ([]byte, error) {
	if m.Bytes > b.limits.MaxValueBytes {
		return nil, fmt.Errorf("it has %d bytes, more than %d; set Limits.MaxValueBytes", m.Bytes, b.limits.MaxValueBytes)
	}
	var value []byte
	for i := range m.Parts {
		e, err := b.kv.Get(ctx, m.path(i, path))
		if err != nil {
			return nil, fmt.Errorf("the part %d of %d: %w", i+1, m.Parts, err)
		}
		text := e.Value()
		if len(text) < 2 || text[0] != format || len(value)+len(text)-1 > m.Bytes {
			return nil, fmt.Errorf("the part %d of %d is corrupt", i+1, m.Parts)
		}
		value = append(value, text[1:]...)
	}
	if sum := sha256.Sum256(value); hex.EncodeToString(sum[:]) != m.Sum {
		return nil, errors.New("its parts are corrupt")
	}
	return value, nil
}

// leftover is the age after which parts without a manifest are removed. A change takes far less time, and the clocks
// of machines differ by less.
const leftover = time.Hour

// Sweep removes the parts of long values that killed programs left more than an hour ago, and returns their number. It
// reads the names of all parts; call it once a day, for example.
func (b *Bucket) Sweep(ctx context.Context) (removed int, err error) {
	return b.sweep(ctx, time.Now().Add(-leftover))
}

func (b *Bucket) sweep(ctx context.Context, before time.Time) (removed int, err error) {
	var parts []string
	err = b.conn.Do(ctx, func(ctx context.Context) error {
		return b.list(ctx, partPaths+".>", func(e jetstream.KeyValueEntry) error {
			parts = append(parts, e.Key())
			return nil
		}, jetstream.MetaOnly())
	})
	for _, path := range parts {
		tokens := strings.SplitN(path, ".", 4)
		if err != nil || len(tokens) < 4 {
			return removed, err
		}
		hex, _, _ := strings.Cut(tokens[1], "-")
		written, _ := strconv.ParseInt(hex, 16, 64)
		if time.Unix(written, 0).After(before) {
			continue
		}
		err = b.conn.Do(ctx, func(ctx context.Context) error {
			e, err := b.kv.Get(ctx, tokens[3])
			switch {
			case err == nil && b.partsOf(e).ID == tokens[1]:
				return nil
			case err != nil && !errors.Is(err, jetstream.ErrKeyNotFound):
				return b.failed("", err)
			}
			removed++
			return b.kv.Purge(ctx, path, jetstream.PurgeTTL(time.Minute))
		})
	}
	return removed, err
}

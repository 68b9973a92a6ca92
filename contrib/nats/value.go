package nats

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

// A stored value begins with the format, a zero and the key if its path is hashed.
const format = 1

// encode returns the bytes to store under a key.
func encode(key string, value []byte) []byte {
	if _, hashed := pathOf(key); !hashed {
		key = ""
	}
	text := append(binary.AppendUvarint([]byte{format, 0}, uint64(len(key))), key...)
	return append(text, value...)
}

// decode returns an entry of the server.
func (b *Bucket) decode(e jetstream.KeyValueEntry) (Entry, error) {
	key, value, err := decode(e.Key(), e.Value())
	if err != nil {
		err = fmt.Errorf("nats: the value under %s in the bucket %s cannot be read: %w; repair or delete it", e.Key(), b.name,
			err)
	}
	return Entry{Key: key, Value: value, Revision: e.Revision(), Time: e.Created()}, err
}

func decode(path string, text []byte) (key string, value []byte, err error) {
	if len(text) < 2 || text[0] != format || text[1] != 0 {
		return "", nil, errors.New("it was written by another version of this package, or by another program")
	}
	n, used := binary.Uvarint(text[2:])
	if used <= 0 || n > uint64(len(text)-2-used) {
		return "", nil, errors.New("it is cut off")
	}
	body := text[2+used:]
	key, plain := unescape(path)
	if !plain {
		key = string(body[:n])
	}
	if again, hashed := pathOf(key); again != path || hashed != (n > 0) {
		return "", nil, errors.New("it belongs to another key")
	}
	return key, bytes.Clone(body[n:]), nil
}

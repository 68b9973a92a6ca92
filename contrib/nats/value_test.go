package nats

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hookgen/hookgen/contrib/nats/embedded"
	"github.com/hookgen/hookgen/generated/agent"
)

// newBucket makes a bucket on a new server.
func newBucket(t testing.TB, limits Limits) *Bucket {
	t.Helper()
	s, err := embedded.Start(t.TempDir(), embedded.SyncEvery(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	c, err := Connect(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	b, err := c.Bucket(t.Context(), "test", limits)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestTooLongValuesAreErrors(t *testing.T) {
	b := newBucket(t, Limits{})
	if _, err := b.Put(t.Context(), "key", make([]byte, 7<<20)); err != nil {
		t.Error(err)
	}
	for call, put := range map[string]func(string, []byte) error{
		"Put":    func(key string, value []byte) error { _, err := b.Put(t.Context(), key, value); return err },
		"Create": func(key string, value []byte) error { _, err := b.Create(t.Context(), key+"2", value); return err },
		"Update": func(key string, value []byte) error { _, err := b.Update(t.Context(), key, value, 1); return err },
	} {
		if err := put("key", make([]byte, 8<<20)); err == nil || !strings.Contains(err.Error(), "max_payload") {
			t.Errorf("%s of a value that is too long: %v", call, err)
		}
	}
	if e, err := b.Get(t.Context(), "key"); err != nil || len(e.Value) != 7<<20 {
		t.Errorf("Get returned %d bytes, %v", len(e.Value), err)
	}
}

func TestDamagedValuesAreErrors(t *testing.T) {
	for name, text := range map[string]string{
		"another program": "{}", "another version": string([]byte{format + 1, 0, 0}),
		"an older kind": string([]byte{format, 1, 0}), "cut off": string([]byte{format, 0}), "empty": "",
	} {
		t.Run(name, func(t *testing.T) {
			b := newBucket(t, Limits{})
			if _, err := b.kv.Put(t.Context(), "k.key", []byte(text)); err != nil {
				t.Fatal(err)
			}
			_, err := b.Get(t.Context(), "key")
			if found := new(agent.NotFound); err == nil || errors.As(err, &found) {
				t.Errorf("Get returned %v", err)
			}
			if keys, err := b.Keys(t.Context(), ""); err != nil || len(keys) != 1 {
				t.Errorf("the keys are %q, %v", keys, err)
			}
			if _, err := b.Put(t.Context(), "key", []byte("repaired")); err != nil {
				t.Errorf("Put: %v", err)
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	f.Add("k.key", encode("key", []byte("value")))
	long := strings.Repeat("long", 500)
	path, _ := pathOf(long)
	f.Add(path, encode(long, nil))
	f.Add("h.00", []byte{format, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, path string, text []byte) {
		key, value, err := decode(path, text)
		if again, _ := pathOf(key); err == nil && (again != path || !bytes.HasSuffix(text, value)) {
			t.Errorf("the value under %q is %q of %q", path, value, key)
		}
	})
}

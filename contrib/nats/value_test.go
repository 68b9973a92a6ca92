package nats

import (
	"bytes"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/hookgen/hookgen/contrib/nats/embedded"
	"github.com/hookgen/hookgen/generated/agent"
)

// newBucket makes a bucket on a new server, with short parts.
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
	b.part = 1000
	return b
}

// parts returns the number of stored parts.
func parts(t *testing.T, b *Bucket) (n int) {
	t.Helper()
	err := b.list(t.Context(), partPaths+".>", func(jetstream.KeyValueEntry) error {
		n++
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestLongValuesLeaveNoParts(t *testing.T) {
	for _, key := range []string{"key", strings.Repeat("long", 500)} {
		b := newBucket(t, Limits{MaxValueBytes: 10_000})
		long := bytes.Repeat([]byte("x"), 4500)
		last, err := b.Create(t.Context(), key, long)
		if n := parts(t, b); err != nil || n != 5 {
			t.Errorf("Create left %d parts, %v", n, err)
		}
		if _, err := b.Create(t.Context(), key, long); err == nil {
			t.Error("a second Create was accepted")
		}
		if _, err := b.Update(t.Context(), key, long, last+1); err == nil {
			t.Error("an Update of another revision was accepted")
		}
		if _, err := b.Put(t.Context(), key, make([]byte, 10_001)); err == nil {
			t.Error("a value above the limit was accepted")
		}
		if n := parts(t, b); n != 5 {
			t.Errorf("changes that were refused left %d parts", n)
		}
		if last, err = b.Update(t.Context(), key, long[:2001], last); err != nil || parts(t, b) != 3 {
			t.Errorf("Update left %d parts, %v", parts(t, b), err)
		}
		if e, err := b.Get(t.Context(), key); err != nil || len(e.Value) != 2001 || e.Key != key || e.Revision != last {
			t.Errorf("Get returned %d bytes of %.20q, %v", len(e.Value), e.Key, err)
		}
		if _, err := b.Put(t.Context(), key, []byte("short")); err != nil || parts(t, b) != 0 {
			t.Errorf("a short value left %d parts, %v", parts(t, b), err)
		}
		if _, err := b.Put(t.Context(), key, long); err != nil || b.Delete(t.Context(), key) != nil || parts(t, b) != 0 {
			t.Errorf("Delete left %d parts, %v", parts(t, b), err)
		}
	}
}

func TestLongValuesAreReadWhole(t *testing.T) {
	b := newBucket(t, Limits{})
	var all sync.WaitGroup
	for _, text := range []string{"a", "b", "c"} {
		all.Go(func() {
			for range 20 {
				if _, err := b.Put(t.Context(), "key", []byte(strings.Repeat(text, 3500))); err != nil {
					t.Errorf("Put: %v", err)
				}
				e, err := b.Get(t.Context(), "key")
				if err != nil || len(e.Value) != 3500 || strings.Trim(string(e.Value), string(e.Value[:1])) != "" {
					t.Errorf("Get returned %d bytes, %v", len(e.Value), err)
				}
			}
		})
	}
	all.Wait()
	if n := parts(t, b); n != 4 {
		t.Errorf("there are %d parts", n)
	}
}

// TestSweepRemovesLeftParts: a program was killed between the parts and their manifest.
func TestSweepRemovesLeftParts(t *testing.T) {
	b := newBucket(t, Limits{})
	value := bytes.Repeat([]byte("x"), 2500)
	for _, key := range []string{"kept", "killed", "kept"} {
		if _, _, err := b.encode(t.Context(), key, value); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.Put(t.Context(), "kept", value); err != nil {
		t.Fatal(err)
	}
	if n, err := b.Sweep(t.Context()); n != 0 || err != nil {
		t.Errorf("Sweep removed %d new parts, %v", n, err)
	}
	if n, err := b.sweep(t.Context(), time.Now().Add(time.Minute)); n != 9 || err != nil || parts(t, b) != 3 {
		t.Errorf("sweep removed %d parts, %v; %d are left", n, err, parts(t, b))
	}
	if e, err := b.Get(t.Context(), "kept"); err != nil || !bytes.Equal(e.Value, value) {
		t.Errorf("Get returned %d bytes, %v", len(e.Value), err)
	}
}

func TestDamagedValuesAreErrors(t *testing.T) {
	for name, damage := range map[string]func(*Bucket, manifest) error{
		"a missing part": func(b *Bucket, m manifest) error { return b.kv.Purge(t.Context(), m.path(1, "k.key")) },
		"another part": func(b *Bucket, m manifest) error {
			_, err := b.kv.Put(t.Context(), m.path(1, "k.key"), bytes.Repeat([]byte{format}, 1001))
			return err
		},
		"a long part": func(b *Bucket, m manifest) error {
			_, err := b.kv.Put(t.Context(), m.path(2, "k.key"), bytes.Repeat([]byte{format}, 900))
			return err
		},
		"another program": func(b *Bucket, _ manifest) error {
			_, err := b.kv.Put(t.Context(), "k.key", []byte("{}"))
			return err
		},
		"another version": func(b *Bucket, _ manifest) error {
			_, err := b.kv.Put(t.Context(), "k.key", []byte{format + 1, inline, 0})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBucket(t, Limits{})
			if _, err := b.Put(t.Context(), "key", bytes.Repeat([]byte("x"), 2500)); err != nil {
				t.Fatal(err)
			}
			e, err := b.kv.Get(t.Context(), "k.key")
			if err == nil {
				err = damage(b, b.partsOf(e))
			}
			if err != nil {
				t.Fatal(err)
			}
			_, err = b.Get(t.Context(), "key")
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
	f.Add("k.key", append(headOf("key", inline), "value"...))
	f.Add("k.key", append(headOf("key", inPart), `{"id":"1-2","parts":1,"bytes":2,"sha256":""}`...))
	long := strings.Repeat("long", 500)
	path, _ := pathOf(long)
	f.Add(path, headOf(long, inline))
	f.Add("h.00", []byte{format, inline, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, path string, text []byte) {
		h, err := decode(path, text)
		if again, _ := pathOf(h.key); err == nil && again != path {
			t.Errorf("the value under %q is of %q", path, h.key)
		}
		if err == nil && (h.parts.Parts < 0 || h.parts.Parts > 0 && !legal.MatchString(h.parts.path(0, path))) {
			t.Errorf("the path of the parts is %q", h.parts.path(0, path))
		}
	})
}

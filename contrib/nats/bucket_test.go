package nats_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hookgen/hookgen/contrib/nats"
	"github.com/hookgen/hookgen/contrib/nats/embedded"
	"github.com/hookgen/hookgen/contrib/nats/internal/servertest"
	"github.com/hookgen/hookgen/generated/agent"
)

func TestMain(m *testing.M) {
	if servertest.Main() {
		return
	}
	goleak.VerifyTestMain(m)
}

// newServer starts a server for a test.
func newServer(t testing.TB, opts ...embedded.Option) *embedded.Server {
	t.Helper()
	s, err := embedded.Start(t.TempDir(), append([]embedded.Option{embedded.SyncEvery(time.Minute)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// connect connects to a server until the end of the test.
func connect(t testing.TB, url string, opts ...nats.Option) *nats.Conn {
	t.Helper()
	c, err := nats.Connect(url, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// newBucket makes a bucket on a new server.
func newBucket(t testing.TB, limits nats.Limits) *nats.Bucket {
	t.Helper()
	return bucketOf(t, connect(t, newServer(t).URL()), limits)
}

// bucketOf opens the bucket of a test.
func bucketOf(t testing.TB, c *nats.Conn, limits nats.Limits) *nats.Bucket {
	t.Helper()
	b, err := c.Bucket(t.Context(), "test", limits)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestChangesExpectARevision(t *testing.T) {
	b := newBucket(t, nats.Limits{})
	first, err := b.Create(t.Context(), "key", []byte("a"))
	if err != nil || first == 0 {
		t.Fatalf("Create returned %d, %v", first, err)
	}
	conflict := func(what string, err error) {
		t.Helper()
		if found := new(nats.Conflict); !errors.As(err, &found) || found.Key != "key" {
			t.Errorf("%s: %v; want a *nats.Conflict", what, err)
		}
	}
	_, err = b.Create(t.Context(), "key", []byte("b"))
	conflict("a second Create", err)
	second, err := b.Update(t.Context(), "key", []byte("b"), first)
	if err != nil || second <= first {
		t.Errorf("Update returned %d, %v", second, err)
	}
	_, err = b.Update(t.Context(), "key", []byte("c"), first)
	conflict("an Update of an old revision", err)
	conflict("DeleteAt an old revision", b.DeleteAt(t.Context(), "key", first))
	if got, err := b.Get(t.Context(), "key"); err != nil || string(got.Value) != "b" || got.Revision != second ||
		got.Key != "key" || got.Time.IsZero() {
		t.Errorf("Get returned %+v, %v", got, err)
	}
	if err := b.DeleteAt(t.Context(), "key", second); err != nil {
		t.Error(err)
	}
	_, err = b.Update(t.Context(), "key", []byte("c"), second)
	conflict("an Update of a deleted key", err)
	if _, err := b.Create(t.Context(), "key", []byte("d")); err != nil {
		t.Errorf("Create after Delete: %v", err)
	}
}

func TestStoredDataSurvivesARestart(t *testing.T) {
	dir := t.TempDir()
	for i := range 2 {
		s, err := embedded.Start(dir)
		if err != nil {
			t.Fatal(err)
		}
		c := connect(t, s.URL())
		b := bucketOf(t, c, nats.Limits{})
		if i == 0 {
			_, err = b.Put(t.Context(), "key", []byte("value"))
		} else {
			var e nats.Entry
			if e, err = b.Get(t.Context(), "key"); string(e.Value) != "value" {
				t.Errorf("the value is %q", e.Value)
			}
		}
		if err = errors.Join(err, c.Close(), s.Close()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestConnectRefusesAMissingServer(t *testing.T) {
	for _, url := range []string{"embedded:/nowhere", "nats://user:secret@127.0.0.1:1", "nats://user:secret@192.0.2.1:1"} {
		_, err := nats.Connect(url, nats.Timeout(time.Second))
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("Connect to %s: %v", url, err)
		}
	}
}

func TestMissingKeysAreNotFound(t *testing.T) {
	b := newBucket(t, nats.Limits{})
	_, err := b.Get(t.Context(), "a")
	if found := new(agent.NotFound); !errors.As(err, &found) || found.Key != "a" {
		t.Errorf("Get: %v; want a *agent.NotFound", err)
	}
}

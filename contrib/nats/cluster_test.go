package nats_test

import (
	"fmt"
	"testing"

	"github.com/hookgen/hookgen/builtin/memory"
	"github.com/hookgen/hookgen/builtin/memory/memorytest"
	"github.com/hookgen/hookgen/builtin/session"
	"github.com/hookgen/hookgen/contrib/nats"
	"github.com/hookgen/hookgen/contrib/nats/internal/servertest"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop/looptest"
)

// TestACluster runs the conformance suites on a cluster, all of whose servers keep each bucket. Each bucket has a
// connection to another server than the one before.
func TestACluster(t *testing.T) {
	cluster := servertest.StartCluster(t)
	var conns []*nats.Conn
	for i := range cluster {
		conns = append(conns, servertest.Connect(t, cluster, i))
	}
	limits := nats.Limits{MaxBytes: 64 << 20, Replicas: servertest.Size}
	n := 0
	open := func(t *testing.T) *nats.Bucket {
		t.Helper()
		n++
		b, err := conns[n%len(conns)].Bucket(t.Context(), fmt.Sprint("b", n), limits)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	t.Run("Store", func(t *testing.T) {
		looptest.CheckStore(t, func(t *testing.T) agent.Store { return nats.Store{Bucket: open(t)} })
	})
	t.Run("Sessions", func(t *testing.T) {
		looptest.CheckSessionStore(t, func(t *testing.T) agent.SessionStore {
			return session.Sessions{Store: nats.Store{Bucket: open(t)}}
		})
	})
	t.Run("Memory", func(t *testing.T) {
		if !*servertest.Long {
			t.Skip("it takes ten seconds; set -cluster.long")
		}
		memorytest.Check(t, func(t *testing.T, clock agent.Clock) memory.Store {
			return &memory.Facts{In: nats.Store{Bucket: open(t)}, Clock: clock}
		})
	})
	t.Run("ReadsSeeTheLastChange", func(t *testing.T) {
		for i, conn := range conns {
			b, err := conn.Bucket(t.Context(), "values", limits)
			if err != nil {
				t.Fatal(err)
			}
			for n := range 200 {
				if _, err := b.Put(t.Context(), "key", []byte(fmt.Sprint(n))); err != nil {
					t.Fatal(err)
				}
				if e, err := b.Get(t.Context(), "key"); err != nil || string(e.Value) != fmt.Sprint(n) {
					t.Fatalf("server %d: got %q, %v after the change %d", i, e.Value, err, n)
				}
			}
		}
		// Only sometimes is a server so late that it would answer with an earlier value.
		stream, err := conns[0].JetStream().Stream(t.Context(), "KV_values")
		if err != nil || stream.CachedInfo().Config.AllowDirect {
			t.Errorf("servers may answer that do not have the last change, %v", err)
		}
	})
}

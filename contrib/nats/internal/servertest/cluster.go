package servertest

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/hookgen/hookgen/contrib/nats"
)

// Size is the number of servers of a cluster, and of the replicas of its streams. It works without one of them.
const Size = 3

// Long is the flag for tests of a cluster that take long.
var Long = flag.Bool("cluster.long", false, "run the long tests of a cluster, too")

// The user of a cluster.
const (
	user     = "ann"
	password = "secret"
)

// StartCluster starts a cluster, and waits until it makes streams.
func StartCluster(t testing.TB) []*Process {
	t.Helper()
	dir := t.TempDir()
	var addresses, routes []string
	for range Size {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		addresses = append(addresses, l.Addr().String())
		routes = append(routes, fmt.Sprintf("nats://%s:%s@%s", user, password, l.Addr()))
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	var all []*Process
	for i, address := range addresses {
		config := filepath.Join(dir, fmt.Sprintf("server%d.conf", i))
		text := fmt.Sprintf(`
server_name: server%d
listen: "127.0.0.1:-1"
authorization { user: %s, password: %s }
jetstream { sync_interval: "1m" }
cluster {
  name: test
  listen: %q
  authorization { user: %s, password: %s }
  routes: [ %s ]
}`, i, user, password, address, user, password, strings.Join(routes, ", "))
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		all = append(all, Start(t, filepath.Join(dir, fmt.Sprint(i)), config))
	}
	await(t, Connect(t, all, 0))
	return all
}

// Connect connects to a server of a cluster, and to another one when it is gone, until the end of the test. All servers
// must be there. The connection has no TLS and a password, so it uses only the servers in its URL.
func Connect(t testing.TB, cluster []*Process, first int) *nats.Conn {
	t.Helper()
	var urls []string
	for _, p := range cluster {
		urls = append(urls, p.URL)
	}
	for {
		conn, err := nats.Connect(strings.Join(urls, ","), nats.Password(user, password), nats.OnError(func(error) {}))
		if err != nil {
			t.Fatal(err)
		}
		if conn.Client().ConnectedUrl() == urls[first] { // it takes one of them by chance
			t.Cleanup(func() { _ = conn.Close() }) // it returns nil
			return conn
		}
		_ = conn.Close()
	}
}

// await waits until the cluster makes a stream. Before that it has no leader, so requests get no answer, or it does not
// know all of its servers.
func await(t testing.TB, conn *nats.Conn) {
	t.Helper()
	for {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		_, err := conn.JetStream().CreateOrUpdateStream(ctx, jetstream.StreamConfig{Name: "ready", Replicas: Size})
		cancel()
		if err == nil {
			return
		}
		if t.Context().Err() != nil {
			t.Fatal("the cluster has made no stream: ", err)
		}
	}
}

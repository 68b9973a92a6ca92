package nats_test

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"

	"github.com/hookgen/hookgen/contrib/nats"
)

// TestOtherServersAreErrors: a server is older than the package needs, or keeps no streams. The error names the remedy.
func TestOtherServersAreErrors(t *testing.T) {
	for name, c := range map[string]struct {
		server func(*testing.T) string
		want   []string
	}{
		"Old":      {func(t *testing.T) string { return announces(t, "2.10.29") }, []string{"2.10.29", "use 2.11 or newer"}},
		"Older":    {func(t *testing.T) string { return announces(t, "1.4.1") }, []string{"1.4.1", "use 2.11 or newer"}},
		"NoStream": {withoutStreams, []string{"switch JetStream on"}},
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := nats.Connect(c.server(t), nats.Timeout(2*time.Second), nats.OnError(func(error) {}))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = conn.Close() })
			_, err = conn.Bucket(t.Context(), "a", nats.Limits{})
			for _, part := range c.want {
				if err == nil || !strings.Contains(err.Error(), part) {
					t.Errorf("%v does not say %q", err, part)
				}
			}
		})
	}
}

func TestMissingServersAreErrors(t *testing.T) {
	_, err := nats.Connect("nats://127.0.0.1:1")
	if err == nil || !strings.Contains(err.Error(), "start one, or check the URL") {
		t.Errorf("%v", err)
	}
}

// announces starts a server that announces a version and answers nothing but pings.
func announces(t *testing.T, version string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	t.Cleanup(func() {
		_ = listener.Close()
		<-ended
	})
	go func() {
		defer close(ended)
		c, err := listener.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		fmt.Fprintf(c, "INFO {\"server_id\":\"a\",\"version\":%q,\"headers\":true,\"max_payload\":1000}\r\n", version)
		for lines := bufio.NewScanner(c); lines.Scan(); {
			if lines.Text() == "PING" {
				fmt.Fprint(c, "PONG\r\n")
			}
		}
	}()
	return "nats://" + listener.Addr().String()
}

func withoutStreams(t *testing.T) string {
	t.Helper()
	server, err := natsserver.NewServer(&natsserver.Options{Host: "127.0.0.1", Port: natsserver.RANDOM_PORT, NoSigs: true})
	if err != nil {
		t.Fatal(err)
	}
	server.Start()
	t.Cleanup(func() {
		server.Shutdown()
		server.WaitForShutdown()
	})
	if !server.ReadyForConnections(10 * time.Second) {
		t.Fatal("the server does not start")
	}
	return server.ClientURL()
}

package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"
)

// The rights of docs/fleet.md.
var (
	workerMayPublish = []string{
		"fleet.log.v1.*", "fleet.queue.v1.*", "$KV.fleet-accounts.>", "$JS.API.>", "$JS.ACK.fleet-queue.>",
	}
	clientMayPublish = []string{
		"fleet.log.v1.*", "fleet.queue.v1.*", "$JS.API.STREAM.INFO.*", "$JS.API.CONSUMER.CREATE.fleet-queue.workers",
		"$JS.API.DIRECT.GET.fleet-log", "$JS.API.DIRECT.GET.fleet-log.>", "$JS.API.DIRECT.GET.KV_fleet-accounts.>",
	}
	bothMaySubscribe = []string{"_INBOX.>", "fleet.log.v1.*"}
)

// TestRights runs a worker and a client with TLS and only the rights of the documentation.
func TestRights(t *testing.T) {
	page, err := os.ReadFile("../../docs/fleet.md")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(string(page)), " ")
	for _, subjects := range [][]string{workerMayPublish, clientMayPublish, bothMaySubscribe} {
		if list := "`" + strings.Join(subjects, "`, `") + "`"; !strings.Contains(text, list) {
			t.Errorf("docs/fleet.md does not have %s", list)
		}
	}
	cert, key, err := selfSigned(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	tls, err := natsserver.GenTLSConfig(&natsserver.TLSConfigOpts{CertFile: cert, KeyFile: key})
	if err != nil {
		t.Fatal(err)
	}
	user := func(name string, publish []string) *natsserver.User {
		return &natsserver.User{Username: name, Password: "secret", Permissions: &natsserver.Permissions{
			Publish:   &natsserver.SubjectPermission{Allow: publish},
			Subscribe: &natsserver.SubjectPermission{Allow: bothMaySubscribe},
		}}
	}
	server, err := natsserver.NewServer(&natsserver.Options{
		Host: "127.0.0.1", Port: natsserver.RANDOM_PORT, NoLog: true, NoSigs: true, JetStream: true, StoreDir: t.TempDir(),
		TLS: true, TLSConfig: tls, SyncInterval: time.Minute, JetStreamMaxStore: 16 << 30,
		Users: []*natsserver.User{user("worker", workerMayPublish), user("client", clientMayPublish)},
	})
	if err != nil {
		t.Fatal(err)
	}
	go server.Start()
	defer func() {
		server.Shutdown()
		server.WaitForShutdown()
	}()
	if !server.ReadyForConnections(time.Minute) {
		t.Fatal("the server is not ready")
	}
	as := func(user string) func(string) string {
		return func(name string) string {
			return map[string]string{
				"FLEET_SERVER": "tls://" + server.Addr().String(), "FLEET_USER": user, "FLEET_PASSWORD": "secret",
				"FLEET_TLS_CA": cert,
			}[name]
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	started, done := lines{make(chan string, 1)}, make(chan int)
	var problems bytes.Buffer
	go func() { done <- run(ctx, []string{"worker", "-tenant-calls", "100"}, as("worker"), started, &problems) }()
	select {
	case <-started.first:
	case code := <-done:
		t.Fatalf("the worker: code %d: %s", code, problems.String())
	}
	for _, args := range [][]string{
		{"submit", "a", "pay 4 orders, 2 at a time"}, {"list"}, {"history", "a"}, {"cancel", "a"},
	} {
		var out, problems bytes.Buffer
		if code := run(ctx, args, as("client"), &out, &problems); code != 0 {
			t.Errorf("%v: code %d: %s", args, code, problems.String())
		}
	}
	stop()
	if code := <-done; code != 0 || strings.Contains(problems.String(), "ermission") {
		t.Errorf("the worker: code %d: %s", code, problems.String())
	}
}

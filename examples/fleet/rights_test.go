package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nkeys"

	"github.com/hookgen/hookgen/contrib/nats/embedded"
)

// TestRights runs a worker and a client with TLS and the rights that server.conf gives them.
func TestRights(t *testing.T) {
	dir := t.TempDir()
	cert, key, err := selfSigned(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("NATS_CERT", cert)
	t.Setenv("NATS_KEY", key)
	t.Setenv("NATS_LISTEN", "127.0.0.1:-1")
	for _, role := range []string{"admin", "hooks", "worker", "client", "reader", "fleet_worker", "fleet_client"} {
		pair, err := nkeys.CreateUser()
		if err != nil {
			t.Fatal(err)
		}
		seed, err := pair.Seed()
		if err != nil {
			t.Fatal(err)
		}
		public, err := pair.PublicKey()
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, role+".nk"), seed, 0o600); err != nil {
			t.Fatal(err)
		}
		t.Setenv("NATS_"+strings.ToUpper(role), public)
	}
	server, err := embedded.Start(t.TempDir(), embedded.Config("../../contrib/nats/server.conf"),
		embedded.SyncEvery(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	as := func(role string) func(string) string {
		return func(name string) string {
			return map[string]string{
				"FLEET_SERVER": server.ListenURL(), "FLEET_NKEY": filepath.Join(dir, role+".nk"),
				"FLEET_INBOX": "_INBOX_" + role, "FLEET_TLS_CA": cert,
			}[name]
		}
	}
	var made, problems bytes.Buffer
	if code := run(t.Context(), []string{"list"}, as("admin"), &made, &problems); code != 0 { // makes the fleet
		t.Fatalf("the administrator: code %d: %s", code, problems.String())
	}
	ctx, stop := context.WithCancel(t.Context())
	started, done := lines{make(chan string, 1)}, make(chan int)
	go func() {
		done <- run(ctx, []string{"worker", "-tenant-calls", "100"}, as("fleet_worker"), started, &problems)
	}()
	select {
	case <-started.first:
	case code := <-done:
		t.Fatalf("the worker: code %d: %s", code, problems.String())
	}
	for _, args := range [][]string{
		{"submit", "a", "pay 4 orders, 2 at a time"}, {"list"}, {"history", "a"}, {"cancel", "a"},
	} {
		var out, problems bytes.Buffer
		if code := run(ctx, args, as("fleet_client"), &out, &problems); code != 0 {
			t.Errorf("%v: code %d: %s", args, code, problems.String())
		}
	}
	stop()
	if code := <-done; code != 0 || strings.Contains(problems.String(), "ermission") {
		t.Errorf("the worker: code %d: %s", code, problems.String())
	}
}

package pagetest

import (
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"testing"
)

// TestServerRefusesOthers checks the server that hooklog starts, without a browser.
func TestServerRefusesOthers(t *testing.T) {
	hooklog := build(t)
	record := filepath.Join(t.TempDir(), "run.jsonl")
	(&tab{t: t, ctx: t.Context(), record: record}).write(event(1, "a", "BeforeSend"))
	address, err := url.Parse(serve(t, hooklog, record))
	if err != nil {
		t.Fatal(err)
	}
	if host, _, err := net.SplitHostPort(address.Host); err != nil || host != "127.0.0.1" {
		t.Errorf("the address is %s", address)
	}
	reply, err := http.Get("http://" + address.Host + "/api/runs")
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusForbidden {
		t.Errorf("a request without the token got %s", reply.Status)
	}
}

package wirehttp_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hookgen/hookgen/hookkit/wire"
	"github.com/hookgen/hookgen/hookkit/wire/wirehttp"
)

// A gate answers when it is opened.
type gate struct {
	echo
	open    chan struct{}
	running atomic.Int64
}

func (g *gate) Call(context.Context, wire.Request) (wire.Reply, error) {
	g.running.Add(1)
	defer g.running.Add(-1)
	<-g.open
	return wire.Reply{Decision: wire.Continue}, nil
}

// A client that sends many requests gets half of the turns, and another client is answered.
func TestClientsShareTheTurns(t *testing.T) {
	g := &gate{open: make(chan struct{})}
	server := httptest.NewServer(wirehttp.NewHandler(g, wirehttp.MaxCalls(4),
		wirehttp.Client(func(r *http.Request) string { return r.Header.Get("Client") })))
	defer server.Close()
	call := func(client string) error {
		_, err := wirehttp.NewCaller(server.URL, wirehttp.Header("Client", client)).Call(t.Context(), wire.Request{})
		return err
	}
	results := make(chan error, 6)
	for range 6 {
		go func() { results <- call("loud") }()
	}
	refused := 0
	for refused < 2 { // two run, and two wait
		if err := <-results; err == nil || !strings.Contains(err.Error(), "503") {
			t.Fatalf("a request returned %v", err)
		}
		refused++
	}
	quiet := make(chan error, 1)
	go func() { quiet <- call("quiet") }()
	for g.running.Load() < 3 {
		time.Sleep(time.Millisecond)
	}
	close(g.open)
	if err := <-quiet; err != nil {
		t.Error(err)
	}
	for range 4 {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
}

// As many requests wait as are answered, however many clients send them.
func TestManyClientsDoNotWaitWithoutEnd(t *testing.T) {
	g := &gate{open: make(chan struct{})}
	server := httptest.NewServer(wirehttp.NewHandler(g, wirehttp.MaxCalls(4),
		wirehttp.Client(func(r *http.Request) string { return r.Header.Get("Client") })))
	defer server.Close()
	results := make(chan error, 30)
	for i := range cap(results) {
		go func() {
			caller := wirehttp.NewCaller(server.URL, wirehttp.Header("Client", strconv.Itoa(i)))
			_, err := caller.Call(t.Context(), wire.Request{})
			results <- err
		}()
	}
	for range cap(results) - 8 { // four run, and four wait
		if err := <-results; err == nil || !strings.Contains(err.Error(), "503") {
			t.Fatalf("a request returned %v", err)
		}
	}
	close(g.open)
	for range 8 {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
}

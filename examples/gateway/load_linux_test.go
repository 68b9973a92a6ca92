package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

var (
	requests = flag.Int("requests", 3000, "how many requests the load test sends")
	reloads  = flag.Int("reloads", 3, "how often it reloads")
	kills    = flag.Int("kills", 5, "how many plug-ins it kills")
)

// TestNothingIsLost: while plug-ins are killed and the configuration is reloaded, each request is answered, or refused
// by the name of a plug-in at a FailClosed point.
func TestNothingIsLost(t *testing.T) {
	installed(t, "python3", "node")
	file := filepath.Join(directory(t, newUpstream(t).URL), "gateway.json")
	g := newGateway(t, file)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- g.serve(ctx, listener, file) }()
	l := &load{url: "http://" + listener.Addr().String(), gateway: g, refused: map[string]int{}}
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() { l.run(t) })
	}
	clients.Wait()
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	t.Logf("%d requests, %d reloads, %d kills: %d answered, refused %v", l.sent.Load(), l.reloaded, l.killed,
		l.answered, l.refused)
	if l.reloaded != *reloads || l.killed != *kills {
		t.Errorf("%d reloads and %d kills happened, want %d and %d", l.reloaded, l.killed, *reloads, *kills)
	}
	if l.answered < *requests/2 {
		t.Errorf("%d of %d requests were answered", l.answered, *requests)
	}
}

type load struct {
	url     string
	gateway *Gateway
	sent    atomic.Int64

	mu               sync.Mutex
	reloaded, killed int
	answered         int
	refused          map[string]int
}

// run sends requests until enough are sent, and disturbs the gateway in between.
func (l *load) run(t *testing.T) {
	client := &http.Client{Timeout: time.Minute}
	for {
		n := int(l.sent.Add(1))
		if n > *requests {
			l.sent.Add(-1)
			return
		}
		l.disturb(t, n)
		path := "/page"
		if n%2 == 0 {
			path = "/api/orders"
		}
		r, _ := http.NewRequest("GET", l.url+path, nil)
		r.Header.Set("X-Key", "secret")
		response, err := client.Do(r)
		if err != nil {
			t.Errorf("request %d is lost: %v", n, err)
			continue
		}
		body, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		l.count(t, response, fmt.Sprintf("GET %s ", path), string(body), err)
	}
}

func (l *load) count(t *testing.T, r *http.Response, want, body string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	by := r.Header.Get("Gateway-Refused")
	switch {
	case err == nil && r.StatusCode == 200 && body == want:
		l.answered++
	case err == nil && r.StatusCode == 503 && by != "":
		l.refused[by]++
		if by != "keys failed at Authenticate" && by != "headers failed at OnResponse" {
			t.Errorf("refused by %q", by)
		}
	default:
		t.Errorf("the response is %d %q, %v", r.StatusCode, body, err)
	}
}

// disturb reloads or kills if it is time. The other clients continue.
func (l *load) disturb(t *testing.T, n int) {
	l.mu.Lock()
	reload := l.reloaded < *reloads && n >= (l.reloaded+1)**requests/(*reloads+1)
	if reload {
		l.reloaded++
	}
	name := []string{"keys.py", "headers.mjs"}[l.killed%2]
	if l.killed < *kills && n >= (l.killed+1)**requests/(*kills+1) && kill(name) {
		l.killed++
	}
	l.mu.Unlock()
	if !reload {
		return
	}
	before := l.gateway.current.Load()
	if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
		t.Error(err)
	}
	for l.gateway.current.Load() == before && t.Context().Err() == nil {
		runtime.Gosched()
	}
}

// kill kills a child of this process with an argument, if there is one.
func kill(argument string) bool {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		command, _ := os.ReadFile(file)
		stat, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "stat"))
		_, rest, _ := strings.Cut(string(stat), ") ")
		fields := strings.Fields(rest)
		if !bytes.Contains(command, []byte(argument)) || len(fields) < 2 || fields[1] != strconv.Itoa(os.Getpid()) {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		return syscall.Kill(pid, syscall.SIGKILL) == nil
	}
	return false
}

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A served is a hooklog serve that runs, and a browser that shows its page.
type served struct {
	t       *testing.T
	browser http.Client
	address string        // with the token
	again   chan struct{} // lets the command look at its input again
	stop    context.CancelFunc
	stderr  bytes.Buffer
	ended   chan int // gets the exit code
}

// startServe starts hooklog serve.
func startServe(t *testing.T, args ...string) *served {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &served{t: t, browser: http.Client{Jar: jar}, again: make(chan struct{}), ended: make(chan int, 1)}
	out, printed := io.Pipe()
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	s.stop = stop
	i := &invocation{stdout: printed, stderr: &s.stderr, pause: func(ctx context.Context) bool {
		select {
		case <-s.again:
			return true
		case <-ctx.Done():
			return false
		}
	}}
	go func() {
		s.ended <- i.run(ctx, append([]string{"serve"}, args...))
		_ = printed.Close() // so that a command that prints no address ends the test
	}()
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	s.address = strings.TrimSpace(address)
	return s
}

// get returns the answer of the command.
func (s *served) get(url string) []byte {
	s.t.Helper()
	reply, err := s.browser.Get(url)
	if err != nil {
		s.t.Fatal(err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil || reply.StatusCode != http.StatusOK {
		s.t.Fatalf("%s, %v", reply.Status, err)
	}
	return text
}

// wait lets the command look at its input until it has so many events.
func (s *served) wait(events int) {
	s.t.Helper()
	base, _, _ := strings.Cut(s.address, "?")
	for {
		s.again <- struct{}{}
		var status struct{ Events int }
		if err := json.Unmarshal(s.get(base+"api/status"), &status); err != nil {
			s.t.Fatal(err)
		}
		if status.Events >= events {
			return
		}
	}
}

// end stops the command and reports its output.
func (s *served) end() {
	s.t.Helper()
	s.stop()
	if code := <-s.ended; code != fine || s.stderr.Len() > 0 {
		s.t.Errorf("the exit code is %d: %s", code, s.stderr.String())
	}
}

// appendTo appends texts to a file, which it makes if needed.
func appendTo(t *testing.T, path string, texts ...string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(strings.Join(texts, "")); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func rename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Skip(err) // Windows does not rename a file that is open
	}
}

// TestTwoServersShowOneFile follows a file twice while it grows and is rotated.
func TestTwoServersShowOneFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.jsonl")
	appendTo(t, path, lineOf(event(1)))
	servers := []*served{startServe(t, path), startServe(t, path)}
	for _, s := range servers {
		s.get(s.address)
		s.wait(1)
	}
	if servers[0].address == servers[1].address {
		t.Errorf("both have the address %s", servers[0].address)
	}
	address, _, _ := strings.Cut(strings.TrimPrefix(servers[0].address, "http://"), "/")
	var stderr bytes.Buffer
	third := &invocation{stdout: io.Discard, stderr: &stderr, pause: pause}
	if code := third.run(t.Context(), []string{"serve", "-addr", address, path}); code != trouble ||
		!strings.Contains(stderr.String(), "choose another port") {
		t.Errorf("a third one at %s: the exit code is %d: %s", address, code, &stderr)
	}
	appendTo(t, path, lineOf(event(2)))
	servers[0].wait(2)
	appendTo(t, path, lineOf(event(3)))
	rename(t, path, path+".1")
	appendTo(t, path, lineOf(event(4)))
	for _, s := range servers {
		s.wait(4)
		s.end()
	}
}

// TestServeHasAnotherName reads a record as a browser does through a proxy, with a token from a file.
func TestServeHasAnotherName(t *testing.T) {
	dir := t.TempDir()
	path, token := filepath.Join(dir, "run.jsonl"), filepath.Join(dir, "token")
	appendTo(t, path, lineOf(event(1)))
	appendTo(t, token, "abcdefghij-0123456789\n")
	s := startServe(t, "-addr", "127.0.0.1:0", "-host", "https://logs.example", "-token", token,
		"-name", "BeforeSend.To", path)
	if want := "https://logs.example/?token=abcdefghij-0123456789"; s.address != want {
		t.Errorf("the address is %s, want %s", s.address, want)
	}
	s.stop()
	if code := <-s.ended; code != fine {
		t.Errorf("the exit code is %d: %s", code, s.stderr.String())
	}
	for name, args := range map[string][]string{
		"no token": {"-token", path + ".none"}, "a name without a field": {"-name", "BeforeSend"},
		"a host with a path": {"-host", "logs.example/x"}, "another machine without a host": {"-addr", "0.0.0.0:0"},
	} {
		t.Run(name, func(t *testing.T) {
			var stderr bytes.Buffer
			i := &invocation{stdout: io.Discard, stderr: &stderr, pause: pause}
			if code := i.run(t.Context(), append([]string{"serve", path}, args...)); code != trouble {
				t.Errorf("the exit code is %d: %s", code, &stderr)
			}
		})
	}
	appendTo(t, path+".short", "abc")
	if token, err := tokenOf(path + ".short"); err == nil {
		t.Errorf("the token is %q", token)
	}
	if err := os.Chmod(token, 0o640); err != nil {
		t.Fatal(err)
	}
	_, err := tokenOf(token)
	if runtime.GOOS != "windows" && (err == nil || !strings.Contains(err.Error(), "chmod 600")) {
		t.Errorf("a file that others can read is refused with %v", err)
	}
}

// TestServeSaysWhoReachesIt gives the page a name that browsers of other machines cannot use.
func TestServeSaysWhoReachesIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.jsonl")
	appendTo(t, path, lineOf(event(1)))
	for host, hint := range map[string]bool{
		"http://logs.example": true, "logs.example": true, "https://logs.example": false,
	} {
		s := startServe(t, "-host", host, path)
		s.stop()
		<-s.ended
		if strings.Contains(s.stderr.String(), "for browsers of other machines add -addr :8080") != hint {
			t.Errorf("-host %s: printed %q", host, s.stderr.String())
		}
	}
}

// A pipeListener accepts one connection within this process.
type pipeListener struct {
	net.Listener
	connections chan net.Conn
}

func (l pipeListener) Accept() (net.Conn, error) {
	if c, ok := <-l.connections; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (l pipeListener) Close() error { return nil }

func TestIdleConnectionsAreClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		browser, connection := net.Pipe()
		listener := pipeListener{connections: make(chan net.Conn, 1)}
		listener.connections <- connection
		close(listener.connections)
		page := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
		served := make(chan error)
		go func() { served <- newServer(t.Context(), page).Serve(listener) }()
		if err := <-served; !errors.Is(err, net.ErrClosed) { // there are no more connections
			t.Fatal(err)
		}
		if _, err := io.WriteString(browser, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		in := bufio.NewReader(browser)
		if reply, err := http.ReadResponse(in, nil); err != nil || reply.StatusCode != http.StatusNoContent {
			t.Fatal(reply, err)
		}
		begin := time.Now() // of the time of this test
		if _, err := in.ReadByte(); !errors.Is(err, io.EOF) || time.Since(begin) != idleTimeout {
			t.Errorf("after %v, the connection has the error %v", time.Since(begin), err)
		}
	})
}

package modelhttp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A listener accepts connections in memory, so that a test in a bubble of synctest can have a real server.
type listener struct {
	conns chan net.Conn
	done  chan struct{}
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error {
	close(l.done)
	return nil
}

func (*listener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

// inMemory returns a client of a server that runs in the bubble of the test.
func inMemory(t *testing.T, handler http.HandlerFunc) *http.Client {
	t.Helper()
	l := &listener{make(chan net.Conn), make(chan struct{})}
	server := &http.Server{Handler: handler}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(l)
	}()
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		client, other := net.Pipe()
		select {
		case l.conns <- other:
			return client, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		_ = server.Close()
		<-ended
	})
	return &http.Client{Transport: transport}
}

// read posts a call and reads all events of its answer.
func read(ctx context.Context, c *Call) ([]string, error) {
	r, err := c.Post(ctx)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var got []string
	for {
		e, err := r.Next()
		if err == io.EOF {
			return got, nil
		}
		if err != nil {
			return got, err
		}
		got = append(got, e.Type+":"+string(e.Data))
	}
}

func TestASilentServerEndsTheCall(t *testing.T) {
	stream := func(w http.ResponseWriter) func(string) {
		w.Header().Set("Content-Type", "text/event-stream")
		return func(text string) {
			_, _ = io.WriteString(w, text)
			_ = http.NewResponseController(w).Flush()
		}
	}
	wait := func(r *http.Request, d time.Duration) bool {
		select {
		case <-time.After(d):
			return true
		case <-r.Context().Done():
			return false
		}
	}
	for name, c := range map[string]struct {
		serve http.HandlerFunc
		after time.Duration // of the failure; 0: none
		limit time.Duration // in the error; 0: it is the one of the server
	}{
		"no answer": {func(w http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
		}, 60 * time.Second, 60 * time.Second},
		"no event": {func(w http.ResponseWriter, r *http.Request) {
			stream(w)(": hello\n")
			<-r.Context().Done()
		}, 10 * time.Second, 10 * time.Second},
		"silence after an event": {func(w http.ResponseWriter, r *http.Request) {
			send := stream(w)
			wait(r, 5*time.Second)
			send("data: 1\n\n")
			<-r.Context().Done()
		}, 15 * time.Second, 10 * time.Second},
		"one byte at a time": {func(w http.ResponseWriter, r *http.Request) {
			send := stream(w)
			send("data: 1\n\ndata: ")
			for wait(r, time.Second) {
				send("x")
			}
		}, 10 * time.Second, 10 * time.Second},
		"an error without an end": {func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(500)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}, 10 * time.Second, 0},
		"slow and alive": {func(w http.ResponseWriter, r *http.Request) {
			send := stream(w)
			for range 3 {
				for range 5 {
					wait(r, 9*time.Second)
					send(": still thinking\n")
				}
				send("data: 1\n\n")
			}
		}, 0, 0},
		"comments for ever": {func(w http.ResponseWriter, r *http.Request) {
			send := stream(w)
			for wait(r, 9*time.Second) {
				send(": still thinking\n")
			}
		}, 60 * time.Second, 60 * time.Second},
		"comments for ever after an event": {func(w http.ResponseWriter, r *http.Request) {
			send := stream(w)
			wait(r, 5*time.Second)
			send("data: 1\n\n")
			for wait(r, 9*time.Second) {
				send(": still thinking\n")
			}
		}, 65 * time.Second, 60 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				call := &Call{
					API: "test", URL: "http://server/", Client: inMemory(t, c.serve),
					Wait: time.Minute, Idle: 10 * time.Second,
				}
				begun := time.Now()
				_, err := read(t.Context(), call)
				took := time.Since(begun)
				if c.after == 0 {
					if err != nil {
						t.Errorf("failed: %v", err)
					}
					return
				}
				var silence *SilenceError
				var e *Error
				if !errors.As(err, &e) || !e.Temporary() || errors.As(err, &silence) != (c.limit > 0) ||
					silence != nil && silence.After != c.limit {
					t.Errorf("got %v", err)
				}
				if took < c.after || took > c.after+time.Second {
					t.Errorf("failed after %v, want %v", took, c.after)
				}
			})
		})
	}
}

// A program shows each event for a while before it reads the next one, which has arrived already.
func TestSlowProgramDoesNotEndTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := inMemory(t, func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, strings.Repeat("data: 1\n\n", 5))
		})
		r, err := (&Call{API: "test", URL: "http://server/", Client: client, Idle: 10 * time.Second}).Post(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		for range 5 {
			if e, err := r.Next(); err != nil || string(e.Data) != "1" {
				t.Fatalf("got %s, %v", e.Data, err)
			}
			time.Sleep(9 * time.Second) // of the bubble
		}
	})
}

func TestCancelledCallReturnsTheContextsError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reason := errors.New("the user left")
		client := inMemory(t, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, "data: 1\n\n")
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		})
		for _, after := range []time.Duration{0, time.Second} {
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(after, func() { cancel(reason) })
			if after == 0 {
				cancel(reason)
			}
			_, err := read(ctx, &Call{API: "test", URL: "http://server/", Client: client})
			if !errors.Is(err, context.Canceled) || !errors.Is(err, reason) {
				t.Errorf("after %v: got %v", after, err)
			}
		}
	})
}

func TestAnAnswerHasALimit(t *testing.T) {
	const limit = 1000
	long := strings.Repeat("x", limit)
	for name, c := range map[string]struct {
		body string
		want bool // too long
	}{
		"a long line":  {"data: " + long, true},
		"many lines":   {strings.Repeat("data: 1\n\n", limit/8), true},
		"within limit": {"data: 1\n\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				_, _ = io.WriteString(w, c.body)
			}))
			defer server.Close()
			call := &Call{API: "test", URL: server.URL, Limit: limit}
			_, err := read(t.Context(), call)
			var tooLong *TooLongError
			if errors.As(err, &tooLong) != c.want || err != nil && err.(*Error).Temporary() {
				t.Errorf("stream: got %v", err)
			}
			r, err := call.Post(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			var into any
			if err := r.JSON(&into); errors.As(err, &tooLong) != c.want {
				t.Errorf("JSON: got %v", err)
			}
		})
	}
}

// An endless body gives a text again and again and counts the bytes that were read.
type endlessBody struct {
	text string
	read *int64
}

func (b endlessBody) Read(p []byte) (int, error) {
	n := copy(p, b.text)
	*b.read += int64(n)
	return n, nil
}

func (endlessBody) Close() error { return nil }

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A server that is broken or hostile sends without an end. The call fails after a bounded number of bytes.
func TestAnEndlessAnswerIsCut(t *testing.T) {
	const limit = 4 << 20
	for name, c := range map[string]struct {
		status int
		text   string
		most   int64
	}{
		"one line":   {200, strings.Repeat("x", 4096), limit + 8<<10},
		"empty":      {200, strings.Repeat("\n", 4096), limit + 8<<10},
		"comments":   {200, strings.Repeat(": x\n", 1024), limit + 8<<10},
		"an error":   {500, strings.Repeat("x", 4096), maxErrorBody + 8<<10},
		"a redirect": {307, strings.Repeat("x", 4096), maxErrorBody + 8<<10},
	} {
		t.Run(name, func(t *testing.T) {
			var got int64
			client := &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: c.status, Header: http.Header{}, Body: endlessBody{c.text, &got}}, nil
			})}
			_, err := read(t.Context(), &Call{API: "test", URL: "http://server/", Client: client, Limit: limit})
			var e *Error
			if !errors.As(err, &e) || errors.As(err, new(*TooLongError)) != (c.status == 200) || got > c.most {
				t.Errorf("after %d bytes: %v", got, err)
			}
		})
	}
}

func TestErrorsOfServers(t *testing.T) {
	const key = "sk-verysecret"
	for name, c := range map[string]struct {
		status int
		header http.Header
		body   string
		want   string
		retry  bool
		after  time.Duration
	}{
		"openai": {429, http.Header{"Retry-After": {"20"}, "X-Request-Id": {"req_1"}},
			`{"error":{"message":"Rate limit reached","type":"requests","param":null,"code":"rate_limit_exceeded"}}`,
			"test: status 429 Too Many Requests: Rate limit reached (requests, rate_limit_exceeded) [request req_1]",
			true, 20 * time.Second},
		"milliseconds": {503, http.Header{"Retry-After-Ms": {"1500"}, "Retry-After": {"20"}}, ``,
			"test: status 503 Service Unavailable", true, 1500 * time.Millisecond},
		"a number as code": {400, nil, `{"error":{"message":"bad","type":"BadRequestError","code":400}}`,
			"test: status 400 Bad Request: bad (BadRequestError, 400)", false, 0},
		"in a list":        {400, nil, `[{"error":{"message":"bad"}}]`, "test: status 400 Bad Request: bad", false, 0},
		"at the top":       {500, nil, `{"message":"crashed"}`, "test: status 500 Internal Server Error: crashed", true, 0},
		"a text":           {404, nil, `{"error":"no such model"}`, "test: status 404 Not Found: no such model", false, 0},
		"a detail":         {422, nil, `{"detail":"no"}`, "test: status 422 Unprocessable Entity: no", false, 0},
		"quotes the input": {422, nil, `{"detail":[{"input":"secret"}]}`, "test: status 422 Unprocessable Entity", false, 0},
		"a page": {502, http.Header{"Content-Type": {"text/html"}}, "<html>",
			"test: status 502 Bad Gateway", true, 0},
		"a page instead of an answer": {200, http.Header{"Content-Type": {"text/html; charset=utf-8"}}, "<html>",
			"test: status 200 OK: the answer is a page of HTML; set the URL of the API itself", false, 0},
		"plain": {404, http.Header{"Content-Type": {"text/plain"}}, "404 page not found\n",
			"test: status 404 Not Found: 404 page not found", false, 0},
		"the server says retry": {400, http.Header{"X-Should-Retry": {"true"}}, ``, "test: status 400 Bad Request", true, 0},
		"the server says no": {500, http.Header{"X-Should-Retry": {"false"}}, ``,
			"test: status 500 Internal Server Error", false, 0},
		"unknown status":  {529, nil, `{"error":{"message":"Overloaded"}}`, "test: status 529: Overloaded", true, 0},
		"not implemented": {501, nil, ``, "test: status 501 Not Implemented", false, 0},
		"a redirect": {307, http.Header{"Location": {"http://127.0.0.1:1/elsewhere"}}, ``,
			"test: status 307 Temporary Redirect: the server redirects the call; set the URL of the API itself", false, 0},
		"the key": {401, nil, `{"error":{"message":"Incorrect key ` + key + `.","type":"Bearer ` + key + `"}}`,
			"test: status 401 Unauthorized: Incorrect key [removed]. ([removed])", false, 0},
		"lines": {400, nil, `{"error":{"message":"a\nb\u001b[31mc"}}`, "test: status 400 Bad Request: a b [31mc", false, 0},
		"long": {400, nil, `{"error":{"message":"` + strings.Repeat("é", 600) + `"}}`,
			"test: status 400 Bad Request: " + strings.Repeat("é", 250) + "...", false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				for name, values := range c.header {
					w.Header()[name] = values
				}
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			}))
			defer server.Close()
			_, err := read(t.Context(), &Call{
				API: "test", URL: server.URL, Header: http.Header{"Authorization": {"Bearer " + key}},
			})
			e, ok := err.(*Error)
			if !ok {
				t.Fatalf("got %v", err)
			}
			if e.Error() != c.want {
				t.Errorf("got  %s\nwant %s", e, c.want)
			}
			if e.Temporary() != c.retry || e.RetryAfter() != c.after {
				t.Errorf("temporary %v after %v, want %v after %v", e.Temporary(), e.RetryAfter(), c.retry, c.after)
			}
		})
	}
}

func TestRefusedCalls(t *testing.T) {
	for status, want := range map[int]bool{
		307: true, 400: true, 401: true, 404: true, 413: true, 429: true, 529: true,
		408: false, 499: false, 500: false, 502: false, 503: false, 504: false,
	} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/before" {
					w.WriteHeader(status)
				}
			}))
			defer server.Close()
			_, err := read(t.Context(), &Call{URL: server.URL + "/before"})
			if e, ok := err.(*Error); !ok || e.Refused() != want {
				t.Errorf("got %v", err)
			}
			answer, err := (&Call{URL: server.URL}).Post(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Close()
			if answer.Failed(status, "", "", "").Refused() {
				t.Error("a failure in an answer counts as refused")
			}
		})
	}
}

func TestFailuresOfTheNetwork(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/dies":
			panic(http.ErrAbortHandler)
		case "/cut":
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "data: 1\n\n")
		}
	}))
	defer server.Close()
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	secure.Config.ErrorLog = nil
	defer secure.Close()
	for name, c := range map[string]struct {
		url  string
		want bool // temporary
	}{
		"dies":         {server.URL + "/dies", true},
		"cut":          {server.URL + "/cut", true},
		"nobody there": {"http://127.0.0.1:1/?key=sk-verysecret", true},
		"wrong scheme": {strings.Replace(server.URL, "http", "https", 1), false},
		"unknown name": {"http://no-such-host.invalid/", false},
	} {
		t.Run(name, func(t *testing.T) {
			client := &http.Client{Transport: &http.Transport{DialContext: func(
				ctx context.Context, network, address string,
			) (net.Conn, error) {
				if strings.Contains(address, "invalid") {
					return nil, &net.OpError{Op: "dial", Err: &net.DNSError{Name: "no-such-host.invalid", IsNotFound: true}}
				}
				return new(net.Dialer).DialContext(ctx, network, address)
			}}}
			defer client.CloseIdleConnections()
			_, err := read(t.Context(), &Call{API: "test", URL: c.url, Client: client})
			e, ok := err.(*Error)
			if !ok || e.Temporary() != c.want || e.Err == nil {
				t.Fatalf("got %#v", err)
			}
			if text := fmt.Sprintf("%v %+v %#v", err, err, err); strings.Contains(text, "verysecret") {
				t.Errorf("the error has the key: %s", text)
			}
		})
	}
}

func TestAConnectionServesTheNextCall(t *testing.T) {
	addresses := make(map[string]bool)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		addresses[r.RemoteAddr] = true
		_, _ = io.WriteString(w, "data: 1\n\ndata: 2\n\n")
		_ = http.NewResponseController(w).Flush()
	}))
	defer server.Close()
	for range 3 {
		r, err := (&Call{API: "test", URL: server.URL}).Post(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if e, err := r.Next(); err != nil || string(e.Data) != "1" {
			t.Errorf("got %s, %v", e.Data, err)
		}
		r.Close()
	}
	if len(addresses) != 1 {
		t.Errorf("three calls took %d connections", len(addresses))
	}
}

package wirehttp_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hookgen/hookgen/hookkit/internal/testdata/testpoints"
	"github.com/hookgen/hookgen/hookkit/wire"
	"github.com/hookgen/hookgen/hookkit/wire/wirehttp"
)

// echo replies with the point and the payload of the request.
type echo struct{}

func (echo) Describe(context.Context) (wire.Description, error) {
	return wire.Description{Protocol: wire.Protocol, Spec: "s", Points: []string{"A"}}, nil
}

func (echo) Call(_ context.Context, q wire.Request) (wire.Reply, error) {
	return wire.Reply{Decision: q.Point, Value: q.Payload}, nil
}

// versions start a server for each version of HTTP, and return a caller for it. The server checks the version.
var versions = map[string]func(*testing.T, http.Handler) *wirehttp.Caller{
	"HTTP/1.1": func(t *testing.T, h http.Handler) *wirehttp.Caller {
		server := httptest.NewServer(only(t, "HTTP/1.1", h))
		t.Cleanup(server.Close)
		return wirehttp.NewCaller(server.URL)
	},
	"HTTP/2.0": func(t *testing.T, h http.Handler) *wirehttp.Caller {
		server := httptest.NewUnstartedServer(only(t, "HTTP/2.0", h))
		server.EnableHTTP2 = true
		server.StartTLS()
		t.Cleanup(server.Close)
		return wirehttp.NewCaller(server.URL, wirehttp.Transport(server.Client().Transport))
	},
}

// only reports requests of another version of HTTP.
func only(t *testing.T, version string, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Proto != version {
			t.Errorf("a request of %s, want %s", r.Proto, version)
		}
		h.ServeHTTP(w, r)
	})
}

func TestMessagesTravelBothWays(t *testing.T) {
	for version, start := range versions {
		t.Run(version, func(t *testing.T) {
			c := start(t, wirehttp.NewHandler(echo{}))
			d, err := c.Describe(t.Context())
			if err != nil || d.Spec != "s" || len(d.Points) != 1 {
				t.Errorf("Describe returned %+v, %v", d, err)
			}
			r, err := c.Call(t.Context(), wire.Request{
				Protocol: 1,
				Point:    "Stop",
				Payload:  json.RawMessage(`{"Text":"</script>\u2028"}`),
			})
			if err != nil || r.Decision != "Stop" || string(r.Value) != `{"Text":"\u003c/script\u003e\u2028"}` {
				t.Errorf("Call returned %+v, %v", r, err)
			}
		})
	}
}

// A server that does not reply as the protocol says is an error of the call, and no reply.
func TestWrongServersAreErrors(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("a redirect was followed")
	}))
	defer elsewhere.Close()
	answer := func(kind, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", kind)
			_, _ = io.WriteString(w, text)
		}
	}
	for _, c := range []struct {
		name    string
		handler http.HandlerFunc
		want    string
	}{
		{
			"a redirect",
			func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
			},
			"307",
		},
		{
			"a status",
			func(w http.ResponseWriter, r *http.Request) { http.Error(w, "no such page", 404) },
			`404 Not Found: "no such page`,
		},
		{"a status with a text of its own", func(w http.ResponseWriter, r *http.Request) {
			c, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			_, _ = io.WriteString(c, "HTTP/1.1 500 \x1b[31m"+strings.Repeat("x", 100_000)+"\r\nContent-Length: 0\r\n\r\n")
		}, "HTTP status 500 Internal Server Error"},
		{"another type", answer("text/html", "<html>"), `"text/html"`},
		{"a long type", answer("text/"+strings.Repeat("x", 100_000), "<html>"), `"text/xxx`},
		{"no JSON", answer("application/json", "hello"), "not JSON"},
		{"an unknown field", answer("application/json", `{"permit":true}`), "$.permit: unknown field"},
		{"too large", answer("application/json", `"`+strings.Repeat("x", 2000)+`"`), "more than 1000 bytes"},
		{"a bomb", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			_, _ = z.Write(bytes.Repeat([]byte(" "), 10<<20))
			_ = z.Close()
		}, "more than 1000 bytes"},
		{"a body that stalls", func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.ReadAll(r.Body)
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"decision":`)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}, "no reply within 300ms"},
		{"a cut body", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "{")
		}, "unexpected EOF"},
		{"silence", func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.ReadAll(r.Body) // so that the server notices the end of the connection
			<-r.Context().Done()
		}, "no reply within 300ms"},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := httptest.NewServer(c.handler)
			defer server.Close()
			limit := time.Minute // the other servers reply, perhaps slowly
			if c.want == "no reply within 300ms" {
				limit = 300 * time.Millisecond
			}
			caller := wirehttp.NewCaller(server.URL, wirehttp.MaxBytes(1000), wirehttp.Timeout(limit))
			r, err := caller.Call(t.Context(), wire.Request{})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Call returned %+v, %v; want an error with %q", r, err, c.want)
			}
			if err != nil && (len(err.Error()) > 1000 || strings.Contains(err.Error(), "\x1b")) {
				t.Errorf("the error has %d bytes: %.100q", len(err.Error()), err)
			}
		})
	}
}

// A server that writes anything but a response of HTTP is an error of the call. The error quotes little of it.
func TestBrokenResponsesAreErrors(t *testing.T) {
	const (
		head  = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
		reply = `{"decision":"continue"}`
		late  = "no reply within 300ms" // from servers that keep the connection open
	)
	for _, c := range []struct{ name, text, want string }{
		{"HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n" + reply, ""},
		{"HTTP/1.0 with a cut reply", "HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n" + reply[:9], "not JSON"},
		{"headers alone", head + "Content-Length: 10\r\n\r\n", late},
		{"headers without an end", head, late},
		{"headers of any length", head + "X: " + strings.Repeat("x", 11<<20) + "\r\n\r\n" + reply, "headers exceeded"},
		{"endless interim responses", strings.Repeat("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", 500_000),
			"headers exceeded"},
		{"chunks of garbage", head + "Transfer-Encoding: chunked\r\n\r\nzz\r\n", "invalid byte in chunk length"},
		{"a chunk of any size", head + "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n", "too large"},
		{"two lengths", head + "Content-Length: 5\r\nContent-Length: 23\r\n\r\n" + reply, "Content-Length"},
		{"gzip that is none", head + "Content-Encoding: gzip\r\nContent-Length: 23\r\n\r\n" + reply, "gzip: invalid header"},
		{"another encoding", head + "Content-Encoding: br\r\nContent-Length: 3\r\n\r\n\x8b\x00\x80", "not UTF-8"},
		{"a part of a reply", "HTTP/1.1 206 Partial Content\r\nContent-Length: 0\r\n\r\n", "HTTP status 206"},
		{"no content", "HTTP/1.1 204 No Content\r\n\r\n", "HTTP status 204"},
		{"a redirect to a file", "HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n", "302"},
		{"a change of protocol", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", "101"},
		{"another protocol", "SSH-2.0-\x1b[31m" + strings.Repeat("x", 100_000) + "\r\n", "malformed HTTP response"},
		{"nothing", "", "EOF"},
	} {
		t.Run(c.name, func(t *testing.T) {
			limit := time.Minute
			if c.want == late {
				limit = 300 * time.Millisecond
			}
			caller := wirehttp.NewCaller(rawServer(t, c.text, c.want == late), wirehttp.Timeout(limit))
			r, err := caller.Call(t.Context(), wire.Request{})
			if c.want == "" && (err != nil || r.Decision != wire.Continue) {
				t.Errorf("Call returned %+v, %v", r, err)
			}
			if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("Call returned %+v, %.500v; want an error with %q", r, err, c.want)
			}
			if err != nil && (len(err.Error()) > 1000 || strings.Contains(err.Error(), "\x1b")) {
				t.Errorf("the error has %d bytes: %.100q", len(err.Error()), err)
			}
		})
	}
}

// rawServer starts a server that answers each request with a text, and returns its URL.
func rawServer(t *testing.T, text string, keepOpen bool) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
		c, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		_, _ = io.WriteString(c, text)
		if keepOpen {
			_, _ = io.Copy(io.Discard, c) // until the caller hangs up
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// A service decides once, so a request is not sent again if the connection breaks.
func TestRequestsAreSentOnce(t *testing.T) {
	for version, start := range versions {
		t.Run(version, func(t *testing.T) {
			var requests atomic.Int64
			c := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.ReadAll(r.Body)
				if requests.Add(1) == 1 {
					w.Header().Set("Content-Type", "application/json")
					_, _ = io.WriteString(w, `{"decision":"continue"}`)
					return
				}
				panic(http.ErrAbortHandler) // closes the connection or the stream, which the client uses again
			}))
			if _, err := c.Call(t.Context(), wire.Request{}); err != nil {
				t.Fatal(err)
			}
			if _, err := c.Call(t.Context(), wire.Request{}); err == nil {
				t.Error("the second call had a reply")
			}
			if n := requests.Load(); n != 2 {
				t.Errorf("%d requests for two calls", n)
			}
		})
	}
}

func TestHeadersAreSentAndNamesHideSecrets(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer x" {
			http.Error(w, "", http.StatusUnauthorized)
			return
		}
		wirehttp.NewHandler(echo{}).ServeHTTP(w, r)
	}))
	defer server.Close()
	url := strings.Replace(server.URL, "http://", "http://user:pass@", 1) + "/hooks?token=t"
	c := wirehttp.NewCaller(url, wirehttp.Header("Authorization", "Bearer x"))
	if _, err := c.Call(t.Context(), wire.Request{Point: "p"}); err != nil {
		t.Error(err)
	}
	if got := c.String(); got != server.URL+"/hooks" {
		t.Errorf("the name is %q", got)
	}
	server.Close()
	if _, err := c.Call(t.Context(), wire.Request{}); err == nil || strings.Contains(err.Error(), "pass") ||
		strings.Contains(err.Error(), "token") {
		t.Errorf("the error of a closed server is %v", err)
	}
}

// A tagger gives each request an ID in place, as some transports for tracing do although they should not.
type tagger struct{ seen chan string }

func (t tagger) RoundTrip(r *http.Request) (*http.Response, error) {
	t.seen <- r.Header.Get("Request-Id")
	r.Header.Set("Request-Id", "of this request")
	header := http.Header{"Content-Type": {"application/json"}}
	return &http.Response{StatusCode: http.StatusOK, Header: header, Body: io.NopCloser(strings.NewReader("{}"))}, nil
}

func TestTransportsMayAddHeaders(t *testing.T) {
	transport := tagger{make(chan string, 2)}
	for name, opts := range map[string][]wirehttp.CallerOption{
		"of an option":   {wirehttp.Transport(transport)},
		"of the program": nil,
	} {
		t.Run(name, func(t *testing.T) {
			if opts == nil {
				defer func(was http.RoundTripper) { http.DefaultTransport = was }(http.DefaultTransport)
				http.DefaultTransport = transport
			}
			c := wirehttp.NewCaller("http://localhost", opts...)
			for range 2 {
				if _, err := c.Describe(t.Context()); err != nil {
					t.Error(err)
				}
				if id := <-transport.seen; id != "" {
					t.Errorf("a request has the ID %q", id)
				}
			}
		})
	}
}

func TestCancellationEndsACall(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("the run was stopped")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body) // so that the server notices the end of the connection
		cancel(stopped)
		<-r.Context().Done()
	}))
	defer server.Close()
	if _, err := wirehttp.NewCaller(server.URL).Call(ctx, wire.Request{}); !errors.Is(err, stopped) {
		t.Errorf("the error is %v, want the cause of the cancellation", err)
	}
}

func TestHandlerRefusesOtherRequests(t *testing.T) {
	h := wirehttp.NewHandler(echo{}, wirehttp.MaxBytes(100))
	for _, c := range []struct {
		name, method, kind, body string
		status                   int
	}{
		{"a form, which a web page can send", "POST", "text/plain", "{}", 415},
		{"another method", "PUT", "application/json", "{}", 405},
		{"a large body", "POST", "application/json", `"` + strings.Repeat("x", 200) + `"`, 413},
		{"no JSON", "POST", "application/json", "{", 400},
		{"no content", "POST", "application/json", "", 400},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := httptest.NewRequest(c.method, "/", strings.NewReader(c.body))
			r.Header.Set("Content-Type", c.kind)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != c.status {
				t.Errorf("status %d, want %d", w.Code, c.status)
			}
		})
	}
}

// TestHandlersMayHangUp: the panic of a handler inside an around point reaches the server, in a program that imports
// this package.
func TestHandlersMayHangUp(t *testing.T) {
	defer func() {
		if v := recover(); v != http.ErrAbortHandler {
			t.Errorf("the panic is %v", v)
		}
	}()
	hooks := new(testpoints.Hooks)
	act := func(context.Context, int) (string, error) { panic(http.ErrAbortHandler) }
	_, err := hooks.Wrap.Fire(t.Context(), nil, 1, act)
	t.Errorf("the act returned %v", err)
}

package eventpage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookgen/hookgen/cmd/hooklog/internal/eventlog"
	"github.com/hookgen/hookgen/hookkit/hooklog"
)

const (
	host  = "127.0.0.1:4711"
	token = "the-token"
)

// ask sends a request to a handler. The changes alter it.
func ask(h http.Handler, path string, changes ...func(*http.Request)) *http.Response {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.Host = host
	r.AddCookie(&http.Cookie{Name: "hooklog-4711", Value: token})
	for _, change := range changes {
		change(r)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func header(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

// TestHandlerShowsExtremeTimes has an event that ends after the last year that JSON can have.
func TestHandlerShowsExtremeTimes(t *testing.T) {
	late, early := event(1, "a", "P", "1"), event(2, "b", "P", "2")
	late.Time, late.Elapsed = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC), math.MaxInt64
	early.Time, early.Elapsed = time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC), math.MinInt64
	h := NewHandler(indexOf(t, late, early), "name", token, host)
	for _, path := range []string{"status", "runs", "run?number=0", "items?run=0", "items?run=1", "fire?event=1", "find",
		"numbers", "runs?order=duration", "runs?order=duration&key=1e300&number=7", "items?run=0&kind=conversation"} {
		var value map[string]any
		got := ask(h, "/api/"+path)
		if err := json.NewDecoder(got.Body).Decode(&value); err != nil || got.StatusCode != http.StatusOK {
			t.Errorf("%s: %s, %v", path, got.Status, err)
		}
	}
}

func TestHandlerRefusesOthers(t *testing.T) {
	h := NewHandler(indexOf(t, event(1, "a", "P", "1")), "name", token, host, "localhost:4711")
	noCookie := func(r *http.Request) { r.Header.Del("Cookie") }
	otherHost := func(r *http.Request) { r.Host = "evil.example:4711" }
	for _, c := range []struct {
		name, path string
		change     func(*http.Request)
		want       int
	}{
		{"the page", "/", header("X", "x"), http.StatusOK},
		{"data", "/api/status", header("X", "x"), http.StatusOK},
		{"the other name of this machine", "/api/status", func(r *http.Request) { r.Host = "LOCALHOST:4711" }, http.StatusOK},
		{"no cookie", "/", noCookie, http.StatusForbidden},
		{"no cookie for data", "/api/status", noCookie, http.StatusForbidden},
		{"another token", "/", header("Cookie", "hooklog-4711=other"), http.StatusForbidden},
		{"the cookie of another port", "/", header("Cookie", "hooklog-80="+token), http.StatusForbidden},
		{"a name that was rebound", "/", otherHost, http.StatusForbidden},
		{"a name that was rebound, with the token", "/?token=" + token, otherHost, http.StatusForbidden},
		{"no host", "/", func(r *http.Request) { r.Host = "" }, http.StatusForbidden},
		{"a request of another site", "/api/status", header("Sec-Fetch-Site", "cross-site"), http.StatusForbidden},
		{"a request of another port", "/api/status", header("Sec-Fetch-Site", "same-site"), http.StatusForbidden},
		{"a request of the page", "/api/status", header("Sec-Fetch-Site", "same-origin"), http.StatusOK},
		{"a token in another path", "/api/status?token=" + token, noCookie, http.StatusForbidden},
		{"a page of another origin", "/api/status", header("Origin", "https://evil.example"), http.StatusOK},
		{"a change", "/api/status", func(r *http.Request) { r.Method = http.MethodPost }, http.StatusMethodNotAllowed},
		{"another path", "/etc/passwd", header("X", "x"), http.StatusNotFound},
		{"an unknown event", "/api/fire?event=7", header("X", "x"), http.StatusNotFound},
		{"an unknown run", "/api/run?id=b", header("X", "x"), http.StatusNotFound},
		{"an unknown number of a run", "/api/run?number=7", header("X", "x"), http.StatusNotFound},
		{"a run of another generation", "/api/run?number=7&generation=2", header("X", "x"), http.StatusOK},
		{"an unknown fire", "/api/event?run=a&seq=7", header("X", "x"), http.StatusOK},
		{"a fire without a number", "/api/event?run=a&seq=x", header("X", "x"), http.StatusBadRequest},
		{"a number that is none", "/api/fire?event=x", header("X", "x"), http.StatusBadRequest},
		{"a cost that is not a number", "/api/runs?cost=x", header("X", "x"), http.StatusBadRequest},
		{"a time that is not a number", "/api/find?duration=NaN", header("X", "x"), http.StatusBadRequest},
		{"an endless time", "/api/find?duration=Inf", header("X", "x"), http.StatusOK},
		{"a negative number", "/api/items?run=-1", header("X", "x"), http.StatusBadRequest},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := ask(h, c.path, c.change)
			if got.StatusCode != c.want {
				t.Errorf("got %s", got.Status)
			}
			if name := got.Header.Get("Access-Control-Allow-Origin"); name != "" {
				t.Errorf("pages of %s may read it", name)
			}
			for name, want := range map[string]string{
				"Content-Security-Policy": "default-src 'none'", "X-Content-Type-Options": "nosniff",
				"Referrer-Policy": "no-referrer", "Cache-Control": "no-store", "Cross-Origin-Resource-Policy": "same-origin",
			} {
				if !strings.HasPrefix(got.Header.Get(name), want) {
					t.Errorf("%s is %q", name, got.Header.Get(name))
				}
			}
		})
	}
}

func TestTokenBecomesACookie(t *testing.T) {
	h := NewHandler(indexOf(t, event(1, "a", "P", "1")), "name", token, host)
	got := ask(h, "/?token="+token, func(r *http.Request) { r.Header.Del("Cookie") })
	cookies := got.Cookies()
	if got.StatusCode != http.StatusSeeOther || got.Header.Get("Location") != "/" || len(cookies) != 1 {
		t.Fatalf("got %s to %q with %d cookies", got.Status, got.Header.Get("Location"), len(cookies))
	}
	c := cookies[0]
	if c.Secure {
		t.Error("the cookie needs TLS")
	}
	if c.Name != "hooklog-4711" || c.Value != token || !c.HttpOnly || c.SameSite != http.SameSiteStrictMode ||
		c.Domain != "" {
		t.Errorf("got the cookie %v", c)
	}
}

func TestProxiedHostNeedsTLS(t *testing.T) {
	h := NewHandler(indexOf(t, event(1, "a", "P", "1")), "name", token, host, "https://Logs.Example")
	got := ask(h, "/?token="+token, func(r *http.Request) { r.Host = "logs.example" })
	c := got.Cookies()
	if got.StatusCode != http.StatusSeeOther || len(c) != 1 || !c[0].Secure || c[0].Name != "hooklog-" {
		t.Errorf("got %s and the cookies %v", got.Status, c)
	}
	with := func(value, host string) int {
		return ask(h, "/", header("Cookie", "hooklog-="+value), func(r *http.Request) { r.Host = host }).StatusCode
	}
	if with(token, "logs.example") != http.StatusOK || with("other", "logs.example") != http.StatusForbidden ||
		with(token, "other.example") != http.StatusForbidden {
		t.Error("the host or the token is not checked")
	}
}

// A lockedRecorder may be read while a handler writes.
type lockedRecorder struct {
	*httptest.ResponseRecorder
	mu sync.Mutex
}

func (r *lockedRecorder) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ResponseRecorder.Write(p)
}

func (r *lockedRecorder) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.Body.String()
}

func TestChangesAreSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "run.jsonl")
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		x, err := eventlog.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer x.Close()
		written := int64(0)
		write := func() {
			written++
			f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			err = hooklog.Lines(f).WriteEvent(t.Context(), event(written, "a", "P", "1"))
			if err := errors.Join(err, f.Close(), x.Update(t.Context())); err != nil {
				t.Fatal(err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		w := &lockedRecorder{ResponseRecorder: httptest.NewRecorder()}
		done := make(chan struct{})
		go func() {
			defer close(done)
			r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/api/changes", nil)
			r.Host = host
			r.AddCookie(&http.Cookie{Name: "hooklog-4711", Value: token})
			NewHandler(x, "name", token, host).ServeHTTP(w, r)
		}()
		want := func(messages, events int) {
			t.Helper()
			synctest.Wait()
			parts := strings.Split(strings.TrimSuffix(w.text(), "\n\n"), "\n\n")
			var last statusView
			if err := json.Unmarshal([]byte(strings.TrimPrefix(parts[len(parts)-1], "data: ")), &last); err != nil {
				t.Fatal(err)
			}
			if len(parts) != messages || last.Events != events {
				t.Errorf("%d messages, the last one with %d events; want %d and %d", len(parts), last.Events, messages, events)
			}
		}
		want(1, 0)
		write()
		write()
		want(1, 0)
		time.Sleep(changesApart) // in the time of this test
		want(2, 2)
		time.Sleep(time.Hour)
		want(2, 2)
		cancel()
		<-done
	})
}

// TestAFireIsFoundByWhatItIs asks for fires by their run, number and time, which an address has.
func TestAFireIsFoundByWhatItIs(t *testing.T) {
	again := event(1, "a", "P", "3")
	again.Time = again.Time.Add(time.Hour)
	h := NewHandler(indexOf(t, event(1, "", "P", "0"), event(1, "a", "P", "1"), event(2, "a", "P", "2"), again), "name",
		token, host)
	for _, c := range []struct{ query, want string }{
		{"run=&seq=1", "0"}, {"run=a&seq=1", "1"}, {"run=a&seq=2", "2"}, {"run=a&seq=1&time=1970-01-01T01:16:41Z", "3"},
		{"run=a&seq=1&time=1970-01-01T02:16:41%2B01:00", "3"}, {"run=a&seq=3", "-1"}, {"run=b&seq=1", "-1"},
		{"run=a&seq=2&time=1970-01-01T01:16:41Z", "-1"},
	} {
		text, err := io.ReadAll(ask(h, "/api/event?"+c.query).Body)
		if want := `{"event":` + c.want + "}\n"; err != nil || string(text) != want {
			t.Errorf("%s: got %s, want %s", c.query, text, want)
		}
	}
}

// TestNumbersOfAnotherGenerationAreRefused asks with the numbers of an index of the same record, which is read again.
func TestNumbersOfAnotherGenerationAreRefused(t *testing.T) {
	first, second := indexOf(t, event(1, "a", "P", "1")), indexOf(t, event(1, "a", "P", "1"))
	h := NewHandler(second, "name", token, host)
	for _, path := range []string{
		"run?number=0", "items?run=0", "fire?event=0", "text?event=0&what=payload", "find?before=1",
	} {
		for x, stale := range map[*eventlog.Index]bool{first: true, second: false} {
			got := ask(h, fmt.Sprintf("/api/%s&generation=%d", path, x.Status().Generation))
			text, err := io.ReadAll(got.Body)
			if err != nil || got.StatusCode != http.StatusOK || (string(text) == "null\n") != stale {
				t.Errorf("%s: %s, %s", path, got.Status, text)
			}
		}
	}
}

// A goneContext is the context of a client that goes away after some looks at the context.
type goneContext struct {
	context.Context
	left, looks atomic.Int64
}

func (c *goneContext) Err() error {
	c.looks.Add(1)
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

func TestLongSearchesEndWithTheirClients(t *testing.T) {
	var events []hooklog.Event
	for n := range int64(5000) {
		events = append(events, event(n, "a", "P", "1"))
	}
	h := NewHandler(indexOf(t, events...), "name", token, host)
	for _, path := range []string{"runs?text=missing", "event?run=a&seq=9999"} {
		gone := &goneContext{Context: t.Context()}
		gone.left.Store(100)
		got := ask(h, "/api/"+path, func(r *http.Request) { *r = *r.WithContext(gone) })
		if looks := gone.looks.Load(); got.StatusCode != http.StatusOK || looks < 100 || looks > 200 {
			t.Errorf("%s: %s after %d looks at the context", path, got.Status, looks)
		}
	}
}

package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/hookgen/hookgen/hookkit"

	"example.com/gateway/points"
)

// installed skips a test without a program.
func installed(t *testing.T, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			t.Skip(p, "is not installed")
		}
	}
}

// guest builds the plug-in in WebAssembly.
var guest = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "guest")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "guard.wasm")
	build := exec.Command("go", "build", "-buildmode=c-shared", "-ldflags=-s -w", "-o", file, "./plugins/guard")
	build.Env = append(os.Environ(), "GOWORK=off", "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	return os.ReadFile(file)
})

// directory returns a directory with the plug-ins, and a configuration whose upstreams are the server of the test.
func directory(t *testing.T, upstream string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "plugins"), os.DirFS("plugins")); err != nil {
		t.Fatal(err)
	}
	guard, err := guest()
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "plugins/guard.wasm"), guard, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("gateway.json")
	if err != nil {
		t.Fatal(err)
	}
	config := strings.NewReplacer("http://127.0.0.1:9000", upstream, "http://127.0.0.1:9001", upstream,
		"http://127.0.0.1:9002", upstream, "\t\t{\"name\": \"log\", \"go\": \"access-log\"},\n", "").Replace(string(text))
	write(t, dir, config)
	return dir
}

func write(t *testing.T, dir, config string) string {
	t.Helper()
	file := filepath.Join(dir, "gateway.json")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// newUpstream starts a server that responds with the request.
func newUpstream(t *testing.T) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Server", "secret/1.0")
		w.Header().Set("Asked-Id", r.Header.Get("X-Request-Id"))
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s %s", r.Method, r.URL, body)
	}))
	t.Cleanup(s.Close)
	return s
}

func newGateway(t *testing.T, file string) *Gateway {
	t.Helper()
	g := NewGateway(http.DefaultTransport)
	if err := g.Reload(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	return g
}

// ask sends a request without a network.
func ask(g http.Handler, method, path, key string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader("body"))
	r.Header.Set("X-Key", key)
	w := httptest.NewRecorder()
	g.ServeHTTP(w, r)
	return w
}

func TestPluginsDecidePerRoute(t *testing.T) {
	installed(t, "python3", "node")
	g := newGateway(t, filepath.Join(directory(t, newUpstream(t).URL), "gateway.json"))
	for _, c := range []struct {
		path, key string
		status    int
		body      string
		asked     bool // the upstream got a request ID
	}{
		{"/page?x=1", "", 200, "POST /page?x=1 body", false},
		{"/api/orders", "secret", 200, "POST /api/orders body", true},
		{"/api/orders", "wrong", 401, "Unauthorized\n", false},
		{"/.env", "", 404, "not found\n", false},
		{"/api/.env", "secret", 200, "POST /api/.env body", true}, // the guard is not for this route
		{"/a//api/orders", "", 400, "the path is not clean\n", false},
		{"/x/../api/orders", "", 400, "the path is not clean\n", false},
	} {
		w := ask(g, "POST", c.path, c.key)
		if w.Code != c.status || w.Body.String() != c.body || (w.Header().Get("Asked-Id") != "") != c.asked {
			t.Errorf("%s: %d %q, request ID %q", c.path, w.Code, w.Body, w.Header().Get("Asked-Id"))
		}
		if w.Code == 200 && (w.Header().Get("Server") != "" || w.Header().Get("X-Content-Type-Options") != "nosniff") {
			t.Errorf("%s: the headers are %v", c.path, w.Header())
		}
	}
}

// TestBadConfigurationsAreRefused: each mistake has its place and a remedy, and the old version continues.
func TestBadConfigurationsAreRefused(t *testing.T) {
	upstream := newUpstream(t).URL
	good := fmt.Sprintf(`{"listen": ":0", "routes": {"/": [%q]}, "plugins": [{"name": "a", "go": "keep-routes"}]}`,
		upstream)
	dir := t.TempDir()
	g := newGateway(t, write(t, dir, good))
	for _, c := range []struct{ config, want string }{
		{"", "gateway.json:1:1: the file is not JSON: EOF; correct it here"},
		{"{\n  \"listen\": }", "gateway.json:2:13: the file is not JSON"},
		{"{}", "no route; add"},
		{`{"listen": 1}`, "gateway.json:1:12: Listen is a number; make it a string"},
		{`{"lisen": ":1"}`, `gateway.json:1:2: "lisen" is not known here; use listen, routes, plugins`},
		{`{"Listen": ":1"}`, `"Listen" is not known here`},
		{`{"routes": {"/": [], "/": []}}`, `gateway.json:1:22: "/" is given twice; remove one`},
		{`{"listen": ":1", "routes": {"api": ["http://x"]}}`, `gateway.json:1:36: the route "api" is not a prefix`},
		{`{"listen": ":1", "routes": {"/": ["x"]}}`, `gateway.json:1:35: the upstream "x" is not a URL`},
		{strings.Replace(good, "keep-routes", "kep-routes", 1), `no plug-in in Go with the name "kep-routes"; use acc`},
		{strings.Replace(good, `"go"`, `"routes": ["/api/"], "go"`, 1), `there is no route "/api/"; add it to routes`},
		{strings.Replace(good, `"go"`, `"routes": [], "go"`, 1), "has no route; name one"},
		{strings.Replace(good, `"go"`, `"timeout": "1s", "go"`, 1), `a plug-in in Go has no timeout; remove it`},
		{strings.Replace(good, `"go": "keep-routes"`, `"wasm": "x", "timeout": "1"`, 1),
			`the timeout "1" is not a positive duration`},
		{strings.Replace(good, `"go"`, `"wasm": "x", "go"`, 1), "needs one of go, process and wasm"},
		{strings.Replace(good, `"go": "keep-routes"`, `"wasm": "x"`, 1), `the plug-in "a" does not start: open`},
		{strings.Replace(good, `"go": "keep-routes"`, `"wasm": "gateway.json"`, 1), "not a WebAssembly module"},
		{strings.Replace(good, `"go": "keep-routes"`, `"process": ["/nothing"]`, 1), "/nothing"},
		{strings.Replace(good, `"go"`, `"routes": ["/"], "go"`, 1), "CheckReload"},
		{strings.Replace(good, `"/":`, `"/api/":`, 1), `has no route "/"; add one, or remove the plug-in keep-routes`},
		{good + "x", "text after the configuration; remove it"},
	} {
		before := g.current.Load()
		err := g.Reload(t.Context(), write(t, dir, c.config))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\n%v, want %q", c.config, err, c.want)
		}
		if g.current.Load() != before || ask(g, "GET", "/", "").Code != 200 {
			t.Errorf("%s: the old version does not continue", c.config)
		}
	}
	if run(t.Context(), write(t, dir, "{"), true) == nil {
		t.Error("-check accepts a bad configuration")
	}
}

// TestAReloadReportsEveryRefusal: all present plug-ins are asked.
func TestAReloadReportsEveryRefusal(t *testing.T) {
	dir := t.TempDir()
	config := fmt.Sprintf(`{"listen": ":0", "routes": {"/": [%q]},
		"plugins": [{"name": "a", "go": "keep-routes"}, {"name": "b", "go": "keep-routes"}]}`, newUpstream(t).URL)
	g := newGateway(t, write(t, dir, config))
	err := g.Reload(t.Context(), write(t, dir, strings.Replace(config, `"/":`, `"/api/":`, 1)))
	if err == nil || !strings.Contains(err.Error(), "hook a (") || !strings.Contains(err.Error(), "hook b (") {
		t.Errorf("the error is %v", err)
	}
}

// TestFailuresNameThePlugin: at a FailClosed point the request is refused.
func TestFailuresNameThePlugin(t *testing.T) {
	installed(t, "sh")
	dir := t.TempDir()
	script := `read l; echo '{"id":1,"protocol":1,"spec":"example.com/gateway/points","points":["OnRequest","LimitRate"]}'`
	config := fmt.Sprintf(`{"listen": ":0", "routes": {"/": [%q]},
		"plugins": [{"name": "ends", "process": ["sh", "-c", %q]}]}`, newUpstream(t).URL, script)
	g := newGateway(t, write(t, dir, config))
	w := ask(g, "GET", "/", "")
	if w.Code != 503 || w.Header().Get("Gateway-Refused") != "ends failed at OnRequest" {
		t.Errorf("the response is %d %q", w.Code, w.Header())
	}
}

// TestUpstreamsThatHangUp: the gateway says so, and the next request is answered.
func TestUpstreamsThatHangUp(t *testing.T) {
	hang := true
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if hang {
			hang = false
			panic(http.ErrAbortHandler)
		}
		fmt.Fprint(w, "ok")
	}))
	defer upstream.Close()
	config := fmt.Sprintf(`{"listen": ":0", "routes": {"/": [%q]}}`, upstream.URL)
	g := newGateway(t, write(t, t.TempDir(), config))
	for _, want := range []int{502, 200} {
		if w := ask(g, "POST", "/", ""); w.Code != want {
			t.Errorf("the response is %d %q, want %d", w.Code, w.Body, want)
		}
	}
}

// TestUpstreamsTakeTurns: each gets its share, and a plug-in that tries again reaches the ones that are left.
func TestUpstreamsTakeTurns(t *testing.T) {
	var counts [3]atomic.Int64
	var urls []string
	for i := range counts {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			counts[i].Add(1)
			fmt.Fprint(w, r.URL)
		}))
		defer s.Close()
		urls = append(urls, fmt.Sprintf("%s/v%d/", s.URL, i))
		if i == 2 {
			s.Close() // it does not respond
		}
	}
	for plugins, want := range map[string]int{"": 20, `{"name": "retry", "go": "retry"}`: 30} {
		config := fmt.Sprintf(`{"listen": ":0", "routes": {"/": [%q, %q, %q]}, "plugins": [%s]}`, urls[0], urls[1], urls[2],
			plugins)
		g := newGateway(t, write(t, t.TempDir(), config))
		good, before := 0, counts[0].Load()
		for range 30 {
			w := httptest.NewRecorder()
			g.ServeHTTP(w, httptest.NewRequest("GET", "/a%2Fb?c=1", nil))
			if w.Code == 200 && strings.HasSuffix(w.Body.String(), "/a%2Fb?c=1") {
				good++
			}
		}
		if first := counts[0].Load() - before; good != want || first < 10 {
			t.Errorf("with the plug-ins %q, %d of 30 requests are answered, want %d; the first upstream has %d", plugins, good,
				want, first)
		}
	}
}

// TestStrangeDecisions: a plug-in that decides something impossible costs the request, and nothing else.
func TestStrangeDecisions(t *testing.T) {
	type hooks = points.Hooks
	request := func(change func(*points.Request)) func(*hooks) {
		return func(h *hooks) {
			h.OnRequest.AddFunc(func(
				_ context.Context, _ *points.Run, r points.Request,
			) (points.OnRequestOutcome, error) {
				change(&r)
				return points.ReplaceOnRequest(r, ""), nil
			}, hookkit.Named("strange"))
		}
	}
	respond := func(status int) func(*hooks) {
		return func(h *hooks) {
			h.OnResponse.AddFunc(func(
				context.Context, *points.Run, points.Response,
			) (points.OnResponseOutcome, error) {
				return points.Respond{Status: status, Body: "instead"}, nil
			}, hookkit.Named("strange"))
		}
	}
	for name, c := range map[string]struct {
		register func(*hooks)
		status   int
		refused  string
	}{
		"no header":        {request(func(r *points.Request) { r.Header = nil }), 200, ""},
		"no method":        {request(func(r *points.Request) { r.Method = " " }), 502, ""},
		"a path elsewhere": {request(func(r *points.Request) { r.Target.Path = "http://elsewhere/" }), 200, ""},
		"another route":    {request(func(r *points.Request) { r.Route = "/api/" }), 503, "strange failed at OnRequest"},
		"the status 0":     {respond(0), 503, "strange failed at OnResponse"},
		"another response": {respond(418), 418, ""},
		"no response header": {func(h *hooks) {
			h.OnResponse.AddFunc(func(
				_ context.Context, _ *points.Run, r points.Response,
			) (points.OnResponseOutcome, error) {
				return points.ReplaceOnResponse(points.Response{Route: r.Route, Status: 200}, ""), nil
			})
			h.ResponseHeaders.AddFunc(func(context.Context, *points.Run, points.Response) ([]points.Header, error) {
				return []points.Header{{Name: "A", Value: "b"}}, nil
			})
		}, 200, ""},
		"an upstream that does not exist": {func(h *hooks) {
			h.PickUpstream.AddFunc(func(
				context.Context, *points.Run, points.Choice,
			) (points.PickUpstreamOutcome, error) {
				return points.EditPickUpstream(7, ""), nil
			}, hookkit.Named("strange"))
		}, 503, "strange failed at PickUpstream"},
	} {
		t.Run(name, func(t *testing.T) {
			config := fmt.Sprintf(`{"listen": ":0", "routes": {"/": [%q]}}`, newUpstream(t).URL)
			g := newGateway(t, write(t, t.TempDir(), config))
			c.register(&g.hooks)
			g.current.Load().hooks = g.hooks.Pinned()
			w := ask(g, "GET", "/", "")
			if w.Code != c.status || w.Header().Get("Gateway-Refused") != c.refused {
				t.Errorf("the response is %d %q %v", w.Code, w.Body, w.Header())
			}
		})
	}
}

func TestReadmeHasTheConfiguration(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"gateway.json", "plugins/keys.py"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(readme), string(text)) {
			t.Errorf("README.md does not have %s", file)
		}
	}
	for _, name := range nativeNames() {
		if !slices.Contains(strings.FieldsFunc(string(readme), func(r rune) bool { return r == '`' }), name) {
			t.Errorf("README.md does not have %s", name)
		}
	}
}

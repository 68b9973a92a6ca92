package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.com/gateway/points"
)

var cost = flag.Int("cost", 0, "compare the gateway with middleware, by so many requests in each of 101 rounds")

// The upstream and the client are processes of their own, so that the time of this process is that of the server.
const roleOf = "GATEWAY_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(roleOf) {
	case "upstream":
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "hello") }))
		fmt.Println(s.URL)
		_, _ = io.Copy(io.Discard, os.Stdin)
		return
	case "client":
		client(os.Args[1], os.Args[2])
		return
	}
	os.Exit(m.Run())
}

func client(url, count string) {
	n := 0
	_, _ = fmt.Sscan(count, &n)
	for range n {
		r, _ := http.NewRequest("GET", url+"/api/orders", nil)
		r.Header.Set("X-Key", "secret")
		response, err := http.DefaultClient.Do(r)
		if err != nil || response.StatusCode != 200 {
			panic(fmt.Sprint(response, err))
		}
		_, _ = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
	}
}

func role(name string, args ...string) *exec.Cmd {
	c := exec.Command(os.Args[0], args...)
	c.Env, c.Stderr = append(os.Environ(), roleOf+"="+name), os.Stderr
	return c
}

// middleware does the work of the plug-ins of TestCost by hand.
func middleware(upstream *url.URL) http.Handler {
	proxy := &httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(upstream)
			p.SetXForwarded()
			p.Out.Header.Add("X-Request-Id", "1")
		},
		ModifyResponse: func(r *http.Response) error {
			r.Header.Add("X-Content-Type-Options", "nosniff")
			return nil
		},
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Key") != "secret" {
			http.Error(w, "unauthorized", http.StatusUnauthorized)
			return
		}
		proxy.ServeHTTP(w, r)
	})
}

// plugged is the gateway with plug-ins in Go for the same.
func plugged(upstream *url.URL) http.Handler {
	g := NewGateway(http.DefaultTransport)
	g.hooks.Authenticate.AddFunc(func(
		_ context.Context, _ *points.Run, r points.Request,
	) (points.AuthenticateOutcome, error) {
		if http.Header(r.Header).Get("X-Key") != "secret" {
			return points.Reject{Reason: "no key"}, nil
		}
		return nil, nil
	}, points.ForRoute("/api/"))
	g.hooks.UpstreamHeaders.AddFunc(func(context.Context, *points.Run, points.Request) ([]points.Header, error) {
		return []points.Header{{Name: "X-Request-Id", Value: "1"}}, nil
	}, points.ForRoute("/api/"))
	g.hooks.ResponseHeaders.AddFunc(func(context.Context, *points.Run, points.Response) ([]points.Header, error) {
		return []points.Header{{Name: "X-Content-Type-Options", Value: "nosniff"}}, nil
	}, points.ForRoute("/api/"))
	v := newVersion(&Config{Routes: map[points.Route][]string{"/api/": {upstream.String()}, "/": {upstream.String()}}})
	v.hooks = g.hooks.Pinned()
	g.current.Store(v)
	return g
}

// TestCost compares the gateway with plain middleware: processor time and allocations of the server per request.
func TestCost(t *testing.T) {
	if *cost == 0 {
		t.Skip("needs an idle machine; pass -cost 300")
	}
	upstream := role("upstream")
	stdin, _ := upstream.StdinPipe()
	stdout, _ := upstream.StdoutPipe()
	if err := upstream.Start(); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(stdout).ReadString('\n')
	to, _ := url.Parse(strings.TrimSpace(line))
	handlers := []http.Handler{middleware(to), plugged(to)}
	var took [2]time.Duration
	var allocations [2]float64
	var ratios []float64 // of each round
	var all [2][]time.Duration
	for round := range 101 {
		for n := range handlers {
			i := (n + round) % 2 // each begins a round in turn
			s := httptest.NewServer(handlers[i])
			begun, before := processorTime(), mallocs()
			if out, err := role("client", s.URL, fmt.Sprint(*cost)).Output(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			took[i] = (processorTime() - begun) / time.Duration(*cost)
			allocations[i] = float64(mallocs()-before) / float64(*cost)
			all[i] = append(all[i], took[i])
			s.Close()
		}
		ratios = append(ratios, float64(took[1])/float64(took[0]))
	}
	slices.Sort(ratios)
	slices.Sort(all[0])
	slices.Sort(all[1])
	middle := len(ratios) / 2
	_ = stdin.Close()
	_ = upstream.Wait()
	t.Logf("medians: middleware %v, %.1f allocations; gateway %v, %.1f allocations; ratio %.2f", all[0][middle],
		allocations[0], all[1][middle], allocations[1], ratios[middle])
	if ratios[middle] > 1.10 || allocations[1] > allocations[0]+20 {
		t.Error("the gateway costs too much")
	}
}

func processorTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func mallocs() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs
}

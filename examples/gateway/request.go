package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"path"
	"strconv"
	"sync"
	"time"

	"github.com/hookgen/hookgen/hookkit"

	"example.com/gateway/points"
)

// A request is a request under way.
type request struct {
	*version
	route    *route
	run      *points.Run
	payload  points.Request
	upstream int             // of the route
	headers  []points.Header // for the upstream
	in       *http.Request   // as the plug-ins left it
	out      writer
	act      act
	began    time.Time
	by       string // the plug-in that answered
}

// A writer counts the bytes sent to the client.
type writer struct {
	http.ResponseWriter
	status int
	bytes  int64
}

func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *writer) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

func (w *writer) Write(p []byte) (int, error) {
	n, err := w.ResponseWriter.Write(p)
	w.bytes += int64(n)
	return n, err
}

type requestKey struct{}

func requestOf(ctx context.Context) *request { return ctx.Value(requestKey{}).(*request) }

// ServeHTTP sends a request to the upstream of its route, unless a plug-in answers it.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	v := g.current.Load()
	// A path with "//" or ".." could have another route in the upstream than here.
	if clean := path.Clean(r.URL.Path); clean != r.URL.Path && clean+"/" != r.URL.Path {
		http.Error(w, "the path is not clean", http.StatusBadRequest)
		return
	}
	route := v.route(r.URL.Path)
	if route == nil {
		http.NotFound(w, r)
		return
	}
	q := &request{version: v, route: route, run: points.NewRun(struct{}{}), began: time.Now()}
	q.out = writer{ResponseWriter: w, status: http.StatusOK}
	client, _, _ := net.SplitHostPort(r.RemoteAddr)
	q.payload = points.Request{Route: route.prefix, Method: r.Method, Host: r.Host, Header: r.Header, Client: client,
		Target: points.Target{Path: r.URL.Path, Query: r.URL.RawQuery}}
	ctx := r.Context()
	defer func() {
		q.hooks.OnDone.Fire(context.WithoutCancel(ctx), q.run, points.Done{Request: q.payload, Status: q.out.status,
			Bytes: q.out.bytes, Elapsed: time.Since(q.began), DecidedBy: q.by})
	}()
	if err := q.decide(ctx); err != nil {
		q.refuse(err)
	} else if q.by == "" {
		g.proxy.ServeHTTP(&q.out, q.changed(r.WithContext(context.WithValue(ctx, requestKey{}, q))))
	}
}

// decide fires the points before the request is sent to the upstream.
func (q *request) decide(ctx context.Context) error {
	exit, by, err := q.hooks.OnRequest.FireBy(ctx, q.run, &q.payload)
	if err != nil || exit != nil {
		return q.answered(exit, by, err)
	}
	rejected, by, err := q.hooks.Authenticate.FireBy(ctx, q.run, q.payload)
	if err != nil || rejected != nil {
		return q.answered(rejected, by, err)
	}
	limited, by, err := q.hooks.LimitRate.FireBy(ctx, q.run, q.payload)
	if err != nil || limited != nil {
		return q.answered(limited, by, err)
	}
	if err := q.hooks.RewriteTarget.Fire(ctx, q.run, &q.payload); err != nil {
		return err
	}
	turn := (q.route.turns.Add(1) - 1) % uint32(len(q.route.upstreams))
	choice := points.Choice{Request: q.payload, Upstreams: q.route.names, Upstream: points.Upstream(turn)}
	by, err = q.hooks.PickUpstream.FireBy(ctx, q.run, &choice)
	if err != nil {
		return err
	}
	if i := int(choice.Upstream); i < 0 || i >= len(q.route.upstreams) {
		return &hookkit.Failure{Point: "PickUpstream", Hook: by.Hook, Cause: fmt.Errorf("there is no upstream %d", i)}
	}
	q.upstream = int(choice.Upstream)
	q.headers = q.hooks.UpstreamHeaders.Fire(ctx, q.run, q.payload)
	return nil
}

// answered sends the answer of a plug-in, if there is no error.
func (q *request) answered(exit any, by hookkit.By, err error) error {
	if err != nil {
		return err
	}
	q.by = by.Hook
	switch exit := exit.(type) {
	case points.Respond:
		if err := checkStatus(exit.Status, "Respond", by); err != nil {
			return err
		}
		q.out.WriteHeader(exit.Status)
		_, _ = io.WriteString(&q.out, exit.Body)
	case points.Reject:
		http.Error(&q.out, http.StatusText(http.StatusUnauthorized), http.StatusUnauthorized)
	}
	return nil
}

// checkStatus returns a failure of a plug-in that wants an impossible status.
func checkStatus(status int, point string, by hookkit.By) error {
	if status >= 200 && status <= 599 {
		return nil
	}
	return &hookkit.Failure{Point: point, Hook: by.Hook, Cause: fmt.Errorf("the status %d is not in 200 to 599", status)}
}

// refuse tells the client which plug-in failed. The reason can be confidential, so it goes to the log only.
func (q *request) refuse(err error) {
	slog.Error("a request is refused", "route", q.route.prefix, "error", err)
	status, what := http.StatusBadGateway, "the upstream does not respond"
	if f, ok := errors.AsType[*hookkit.Failure](err); ok {
		status, what, q.by = http.StatusServiceUnavailable, fmt.Sprintf("%s failed at %s", f.Hook, f.Point), f.Hook
		q.out.Header().Set("Gateway-Refused", what)
	}
	http.Error(&q.out, what, status)
}

// changed returns the request as the plug-ins left it.
func (q *request) changed(r *http.Request) *http.Request {
	p := &q.payload
	r.Method, r.Host, r.Header = p.Method, p.Host, headerOf(p.Header)
	if p.Target.Path != r.URL.Path || p.Target.Query != r.URL.RawQuery {
		r.URL = &url.URL{Path: p.Target.Path, RawQuery: p.Target.Query}
	}
	return r
}

// headerOf returns the header that a plug-in left, which can be nil.
func headerOf(h map[string][]string) http.Header {
	if h == nil {
		return http.Header{}
	}
	return h
}

// rewrite makes the request for the upstream.
func rewrite(p *httputil.ProxyRequest) {
	q := requestOf(p.In.Context())
	q.in = p.In
	p.SetURL(q.route.upstreams[q.upstream])
	p.SetXForwarded()
	for _, h := range q.headers {
		p.Out.Header.Add(h.Name, h.Value)
	}
}

// around fires AroundUpstream around the exchange with the upstream.
type around struct{ http.RoundTripper }

func (a around) RoundTrip(r *http.Request) (*http.Response, error) {
	q := requestOf(r.Context())
	q.act.transport, q.act.first = a.RoundTripper, r
	result, err := q.hooks.AroundUpstream.Fire(r.Context(), q.run, points.Exchange{Route: q.route.prefix, Request: r},
		q.roundTrip)
	q.act.end(result)
	return result, err
}

// An act is the exchanges of a request with upstreams. It closes the responses that nobody receives.
type act struct {
	transport http.RoundTripper
	first     *http.Request

	mu    sync.Mutex
	tries int
	ended bool
	made  []*http.Response
}

// roundTrip exchanges a request with the upstream. If a plug-in tries the same request again, it goes to the next one.
func (q *request) roundTrip(_ context.Context, e points.Exchange) (*http.Response, error) {
	a := &q.act
	a.mu.Lock()
	tries := a.tries
	a.tries++
	a.mu.Unlock()
	out := e.Request
	if n := len(q.route.upstreams); tries > 0 && n > 1 && out == a.first {
		target := *q.in.URL
		out = out.Clone(out.Context())
		out.URL = &target
		(&httputil.ProxyRequest{In: q.in, Out: out}).SetURL(q.route.upstreams[(q.upstream+tries)%n])
	}
	response, err := a.transport.RoundTrip(out)
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case err == nil && a.ended: // the plug-in that asked is late
		_ = response.Body.Close()
	case err == nil:
		a.made = append(a.made, response)
	}
	return response, err
}

// end closes all responses but one, which can be nil.
func (a *act) end(result *http.Response) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended = true
	for _, response := range a.made {
		if response != result {
			_ = response.Body.Close()
		}
	}
}

// modifyResponse fires the points of the response.
func modifyResponse(r *http.Response) error {
	q, ctx := requestOf(r.Request.Context()), r.Request.Context()
	payload := points.Response{Route: q.route.prefix, Status: r.StatusCode, Header: r.Header}
	exit, by, err := q.hooks.OnResponse.FireBy(ctx, q.run, &payload)
	if err != nil {
		return err
	}
	answer, answered := exit.(points.Respond)
	if answered {
		payload.Status = answer.Status
	}
	if err := checkStatus(payload.Status, "OnResponse", by); err != nil {
		return err
	}
	r.StatusCode, r.Header = payload.Status, headerOf(payload.Header)
	if answered {
		q.by = by.Hook
		_ = r.Body.Close()
		r.Body = io.NopCloser(bytes.NewBufferString(answer.Body))
		r.Header = http.Header{"Content-Length": {strconv.Itoa(len(answer.Body))}}
	}
	for _, h := range q.hooks.ResponseHeaders.Fire(ctx, q.run, payload) {
		r.Header.Add(h.Name, h.Value)
	}
	return nil
}

// upstreamError answers if the upstream does not respond, or a plug-in failed meanwhile.
func upstreamError(_ http.ResponseWriter, r *http.Request, err error) {
	q := requestOf(r.Context())
	if _, failed := errors.AsType[*hookkit.Failure](err); !failed {
		exit, by, failed := q.hooks.OnUpstreamError.FireBy(r.Context(), q.run,
			points.UpstreamError{Request: q.payload, Error: err.Error()})
		switch {
		case failed != nil:
			err = failed
		case exit != nil:
			if err = q.answered(exit, by, nil); err == nil {
				return
			}
		}
	}
	q.refuse(err)
}

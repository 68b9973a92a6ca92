package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/hookgen/hookgen/hookkit"

	"example.com/gateway/points"
)

// A Gateway is an http.Handler that sends requests to upstreams, as its plug-ins decide.
type Gateway struct {
	hooks   points.Hooks
	proxy   httputil.ReverseProxy
	current atomic.Pointer[version]

	mu         sync.Mutex            // of a reload
	registered *hookkit.Registration // of the plug-ins; nil without any
	started    set                   // the same plug-ins

	closing chan struct{}
	pending sync.WaitGroup // sets that are not closed
}

// A version is a configuration with its plug-ins. Each request has one from its beginning to its end.
type version struct {
	routes map[points.Route]*route
	hooks  *points.Hooks // pinned
}

type route struct {
	prefix    points.Route
	upstreams []*url.URL
	names     []string
	turns     atomic.Uint32 // requests so far, because the upstreams take turns
}

func init() {
	// The reverse proxy panics with this value if the client or the upstream hangs up. The server expects it.
	hookkit.PassPanic(http.ErrAbortHandler)
}

// NewGateway returns a gateway without a configuration. Call Reload before it gets requests.
func NewGateway(transport http.RoundTripper) *Gateway {
	g := &Gateway{closing: make(chan struct{})}
	g.proxy = httputil.ReverseProxy{
		Rewrite:        rewrite,
		Transport:      around{transport},
		ModifyResponse: modifyResponse,
		ErrorHandler:   upstreamError,
	}
	return g
}

// Reload reads a configuration, starts its plug-ins, and uses both for the requests from now on. Requests under way
// keep theirs, and the old plug-ins are closed after the last of them. After an error, nothing has changed.
func (g *Gateway) Reload(ctx context.Context, file string) (err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	config, err := readConfig(file)
	if err != nil {
		return err
	}
	next := newVersion(config)
	plan := points.Reload{}
	for r := range config.Routes {
		plan.Routes = append(plan.Routes, string(r))
	}
	for _, p := range config.Plugins {
		plan.Plugins = append(plan.Plugins, p.Name)
	}
	if err := g.hooks.CheckReload.Fire(ctx, points.NewRun(struct{}{}), plan); err != nil {
		return fmt.Errorf("%s: the plug-ins refuse the configuration: %w", file, err)
	}
	plugins, err := openAll(ctx, config)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if err := g.exchange(next, plugins); err != nil {
		return errors.Join(fmt.Errorf("%s: %w", file, err), plugins.Close())
	}
	return nil
}

// exchange puts a version and its plug-ins in the place of the present ones. The order matters:
//
//  1. The plug-ins take the place of the old ones in one registration, so that no fire is without them. After an error
//     the old ones are still registered, and nothing has changed.
//  2. The version pins the new plug-ins before requests get it, so that none has routes of one version and plug-ins of
//     the other.
//  3. The old plug-ins are closed last, when the requests that pinned them have ended.
func (g *Gateway) exchange(next *version, plugins set) error {
	before, old := g.registered, g.started
	now, err := register(&g.hooks, plugins, before)
	if err != nil {
		return err
	}
	next.hooks = g.hooks.Pinned()
	g.current.Store(next)
	g.registered, g.started = now, plugins
	if before != nil {
		g.pending.Go(func() { g.retire(before, old) })
	}
	return nil
}

func newVersion(c *Config) *version {
	v := &version{routes: map[points.Route]*route{}}
	for prefix, upstreams := range c.Routes {
		r := &route{prefix: prefix, names: upstreams}
		for _, upstream := range upstreams {
			u, _ := url.Parse(upstream) // readConfig has checked it
			r.upstreams = append(r.upstreams, u)
		}
		v.routes[prefix] = r
	}
	return v
}

// register registers plug-ins in the place of others, whose registration is nil if there are none. A plug-in that does
// not fit the points panics there.
func register(hooks *points.Hooks, plugins set, before *hookkit.Registration) (r *hookkit.Registration, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("a plug-in cannot be registered: %v", v)
		}
	}()
	switch {
	case len(plugins) == 0:
		before.Remove() // nothing, if it is nil
		return nil, nil
	case before == nil:
		return hooks.Use(plugins), nil
	}
	return hooks.Use(plugins, hookkit.Replacing(before)), nil
}

// retire closes plug-ins when no request uses them any more.
func (g *Gateway) retire(registered *hookkit.Registration, plugins set) {
	select {
	case <-registered.Released():
	case <-g.closing:
	}
	if err := plugins.Close(); err != nil {
		slog.Error("a plug-in did not end well", "error", err)
	}
}

// Close ends all plug-ins. Call it after the last request.
func (g *Gateway) Close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	close(g.closing)
	g.pending.Wait()
	return g.started.Close()
}

// route returns the route with the longest prefix of a path, or nil.
func (v *version) route(path string) *route {
	for end := strings.LastIndexByte(path, '/'); end >= 0; end = strings.LastIndexByte(path[:end], '/') {
		if r := v.routes[points.Route(path[:end+1])]; r != nil {
			return r
		}
	}
	return nil
}

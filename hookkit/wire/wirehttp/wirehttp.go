// Package wirehttp carries the messages of package wire over HTTP: a program asks a hook service by POST requests with
// a JSON body.
//
// The service:
//
//	http.Handle("/hooks", wirehttp.NewHandler(agent.Serve(&hooks, nil)))
//
// The program:
//
//	caller := wirehttp.NewCaller("https://hooks.example.com/hooks", wirehttp.Header("Authorization", token))
//	remote, err := agent.Remote(ctx, caller)
//
// The package does not authenticate: use TLS, and check a header of your choice before the handler.
package wirehttp

import (
	"mime"
	"net/http"
	"time"

	"github.com/hookgen/hookgen/hookkit"
)

// The defaults of the options.
const (
	DefaultTimeout  = 30 * time.Second
	DefaultMaxBytes = 16 << 20
	DefaultMaxCalls = 128
)

// A handler of package net/http panics with this value to hang up, and its server expects it. An act of an around point
// may be such a handler.
func init() { hookkit.PassPanic(http.ErrAbortHandler) }

const contentType = "application/json"

// mediaType returns the type of a body without its parameters, in lower case.
func mediaType(header http.Header) string {
	kind, _, _ := mime.ParseMediaType(header.Get("Content-Type"))
	return kind
}

// A CallerOption is an option of [NewCaller].
type CallerOption interface{ applyCaller(*Caller) }

// A HandlerOption is an option of [NewHandler].
type HandlerOption interface{ applyHandler(*handler) }

type callerOption func(*Caller)

func (o callerOption) applyCaller(c *Caller) { o(c) }

// Timeout limits one call, from the connection to the last byte of the reply. The default is [DefaultTimeout]. It
// panics unless d is positive.
func Timeout(d time.Duration) CallerOption {
	if d <= 0 {
		panic("wirehttp: Timeout needs a positive duration")
	}
	return callerOption(func(c *Caller) { c.timeout = d })
}

// Header adds a header to every request, for example Authorization. Given twice for one name, both values are sent.
func Header(name, value string) CallerOption {
	return callerOption(func(c *Caller) { c.header.Add(name, value) })
}

// Transport sends the requests with rt, for example one with a client certificate. The default is
// [http.DefaultTransport].
func Transport(rt http.RoundTripper) CallerOption {
	return callerOption(func(c *Caller) { c.client.Transport = rt })
}

// MaxBytes limits the body of a request at a handler, and of a reply at a caller. The default is [DefaultMaxBytes]. It
// panics unless n is positive.
func MaxBytes(n int64) interface {
	CallerOption
	HandlerOption
} {
	if n <= 0 {
		panic("wirehttp: MaxBytes needs a positive number")
	}
	return maxBytes(n)
}

type maxBytes int64

func (m maxBytes) applyCaller(c *Caller)   { c.maxBytes = int64(m) }
func (m maxBytes) applyHandler(h *handler) { h.maxBytes = int64(m) }

type handlerOption func(*handler)

func (o handlerOption) applyHandler(h *handler) { o(h) }

// MaxCalls limits the requests that a handler answers at a time, those of one client to half of n. The default is
// [DefaultMaxCalls]. Further requests wait for their turn; if n wait already, or half of n of one client, they get the
// status 503. It panics unless n is at least 2.
func MaxCalls(n int) HandlerOption {
	if n < 2 {
		panic("wirehttp: MaxCalls needs a number of at least 2")
	}
	return handlerOption(func(h *handler) { h.maxCalls = n })
}

// Client sets the function that names the client of a request, for example by its certificate or its token. The
// default is the address without the port, which behind a proxy is that of the proxy. What the service keeps is
// bounded for each client, see [wire.WithClient].
func Client(of func(*http.Request) string) HandlerOption {
	if of == nil {
		panic("wirehttp: the function of Client is nil")
	}
	return handlerOption(func(h *handler) { h.client = of })
}

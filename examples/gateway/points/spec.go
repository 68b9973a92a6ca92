// Package points declares what plug-ins of the gateway may decide, and generated code turns that into registries.
package points

import (
	"net/http"
	"time"

	"github.com/hookgen/hookgen/spec"
)

//go:generate go tool hookgen

// Points are the fire points of a request, in the order in which they fire.
//
//hookgen:points
//hookgen:wire
type Points interface {
	// OnRequest fires for each request that has a route. Hooks may change it, or answer it.
	//
	//hookgen:key Route Route
	OnRequest(Request) (spec.Replace, Respond, spec.FailClosed)
	// Authenticate asks who sent the request. One vote to reject it is enough.
	//
	//hookgen:key Route Route
	Authenticate(Request) (spec.Vote, Reject, spec.FailClosed)
	// LimitRate may answer a client that asks too often. If it fails, the request continues.
	//
	//hookgen:key Route Route
	LimitRate(Request) (Respond, spec.FailOpen)
	// RewriteTarget may change the address of the request, and nothing else of it.
	//
	//hookgen:key Route Route
	RewriteTarget(Request) (spec.Edit[Target], spec.FailClosed)
	// PickUpstream may change which upstream of the route gets the request.
	//
	//hookgen:key Route Request.Route
	PickUpstream(Choice) (spec.Edit[Upstream], spec.FailOpen)
	// UpstreamHeaders collects headers for the upstream.
	//
	//hookgen:key Route Route
	UpstreamHeaders(Request) spec.Collect[Header]
	// AroundUpstream wraps the exchange with the upstream, for example to measure it or to try again.
	//
	//hookgen:key Route Route
	AroundUpstream(Exchange) spec.Around[*http.Response]
	// OnUpstreamError fires if the upstream did not respond. Hooks may answer instead.
	//
	//hookgen:key Route Request.Route
	OnUpstreamError(UpstreamError) (Respond, spec.FailOpen)
	// OnResponse fires before the response is sent. Hooks may change the status and the headers, or answer instead.
	//
	//hookgen:key Route Route
	OnResponse(Response) (spec.Replace, Respond, spec.FailClosed)
	// ResponseHeaders collects headers for the client.
	//
	//hookgen:key Route Route
	ResponseHeaders(Response) spec.Collect[Header]
	// OnDone fires once for each request, whatever ended it.
	//
	//hookgen:key Route Request.Route
	OnDone(Done)
	// CheckReload fires at the present plug-ins before a new configuration is used. Each may refuse it, and the operator
	// sees all errors. One keeps the present configuration.
	//
	//hookgen:local
	CheckReload(Reload) spec.CheckAll
}

// A Route is the prefix of the paths of a route, for example "/api/".
type Route string

// A Request is a request as the client sent it, without its body.
type Request struct {
	Route  Route
	Method string
	Host   string
	Target Target
	Header map[string][]string // not to be changed in place
	Client string              // its address without the port
}

// A Target is the address of a request.
type Target struct{ Path, Query string }

// A Choice is a request with the upstreams that could answer it.
type Choice struct {
	Request
	Upstreams []string // URLs, as the configuration has them
	Upstream  Upstream
}

// An Upstream is the index of one of the upstreams.
type Upstream int

// An Exchange is the request that goes to the upstream, with its body.
type Exchange struct {
	Route   Route
	Request *http.Request
}

// An UpstreamError says why the upstream did not respond.
type UpstreamError struct {
	Request
	Error string
}

// A Response is the response of the upstream, without its body.
type Response struct {
	Route  Route
	Status int
	Header map[string][]string // not to be changed in place
}

// A Header is a header to add.
type Header struct{ Name, Value string }

// Done describes a request that has ended.
type Done struct {
	Request
	Status    int
	Bytes     int64
	Elapsed   time.Duration
	DecidedBy string // the plug-in that answered; "" if the upstream did
}

// A Reload is a new configuration.
type Reload struct{ Routes, Plugins []string }

// Respond answers a request.
type Respond struct {
	Status int
	Body   string
	Reason string // for records
}

// Reject refuses a request whose sender is not known.
type Reject struct{ Reason string }

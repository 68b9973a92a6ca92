package mcp

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// An HTTP is a server that is reached by the streamable HTTP transport of the protocol.
type HTTP struct {
	URL    string
	Header http.Header  // of each request, for example Authorization. It never goes to another host than that of URL
	Client *http.Client // nil: one with the settings of http.DefaultClient
}

// String returns the host of the server, without the rest of the URL, which may have keys.
func (h HTTP) String() string {
	u, err := url.Parse(h.URL)
	if err != nil {
		return "an invalid URL"
	}
	return u.Scheme + "://" + u.Host
}

// Format writes String for every verb.
func (h HTTP) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, h.String()) }

// LogValue returns String.
func (h HTTP) LogValue() slog.Value { return slog.StringValue(h.String()) }

// MarshalJSON encodes String.
func (h HTTP) MarshalJSON() ([]byte, error) { return json.Marshal(h.String()) }

func (h HTTP) secrets() (all []string) {
	for _, values := range h.Header {
		for _, value := range values {
			all = append(all, value)
			if _, token, ok := strings.Cut(value, " "); ok { // of "Bearer <token>"
				all = append(all, token)
			}
		}
	}
	return append(all, secretsOfURL(h.URL)...)
}

func (h HTTP) open() (*link, error) {
	to, err := url.Parse(h.URL)
	if err != nil || to.Host == "" || to.Scheme != "http" && to.Scheme != "https" {
		return nil, errors.New("the URL of the server is not one of http or https") // the URL may have keys
	}
	var client http.Client
	if h.Client != nil {
		client = *h.Client
	} else if own, ok := http.DefaultTransport.(*http.Transport); ok { // a program may have replaced it
		client.Transport = own.Clone()
	}
	client.Transport = &guard{to: to, header: h.Header, next: cmp.Or(client.Transport, http.DefaultTransport)}
	check := client.CheckRedirect
	client.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		switch {
		case req.URL.Host != to.Host || req.URL.Scheme != to.Scheme:
			return errors.New("the MCP server redirects to another host, which would get the arguments of the calls")
		case check != nil:
			return check(req, via)
		case len(via) >= 10:
			return errors.New("the MCP server redirects more than 10 times")
		}
		return nil
	}
	l := &link{transport: &sdk.StreamableClientTransport{Endpoint: h.URL, HTTPClient: &client, MaxEventSize: maxMessage}}
	if h.Client == nil {
		l.released = client.CloseIdleConnections
	}
	return l, nil
}

// A guard sends the header to the host of the server only, and bounds the bodies of answers.
type guard struct {
	to     *url.URL
	header http.Header
	next   http.RoundTripper
}

func (g *guard) RoundTrip(req *http.Request) (*http.Response, error) {
	if len(g.header) > 0 && req.URL.Host == g.to.Host && req.URL.Scheme == g.to.Scheme {
		req = req.Clone(req.Context())
		for name, values := range g.header {
			req.Header[http.CanonicalHeaderKey(name)] = values
		}
	}
	resp, err := g.next.RoundTrip(req)
	if err == nil && !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		resp.Body = &boundedBody{ReadCloser: resp.Body, left: maxMessage + 1}
	}
	return resp, err
}

// CloseIdleConnections closes the unused connections of the inner transport.
func (g *guard) CloseIdleConnections() {
	if closer, ok := g.next.(interface{ CloseIdleConnections() }); ok {
		closer.CloseIdleConnections()
	}
}

// A boundedBody is a body that fails after the given bytes. The library reads the body of an answer as a whole.
type boundedBody struct {
	io.ReadCloser
	left int
}

func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, fmt.Errorf("the answer of the MCP server has more than %d bytes", maxMessage)
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

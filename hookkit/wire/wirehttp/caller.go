package wirehttp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/hookgen/hookgen/hookkit/wire"
)

// A Caller is a [wire.Caller] that sends each request to one URL.
type Caller struct {
	url      string
	client   http.Client
	header   http.Header // of each request
	timeout  time.Duration
	maxBytes int64
}

// NewCaller returns a Caller for the URL of a handler that [NewHandler] made. It does not connect.
//
// A Caller follows no redirect, because the payload would go to a server that nobody named. It sends no request twice.
func NewCaller(url string, opts ...CallerOption) *Caller {
	c := &Caller{url: url, header: http.Header{}, timeout: DefaultTimeout, maxBytes: DefaultMaxBytes}
	c.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	for _, o := range opts {
		o.applyCaller(c)
	}
	c.header.Set("Accept", contentType)
	return c
}

// String returns the URL without its user information and its query, which may be secret.
func (c *Caller) String() string {
	u, err := url.Parse(c.url)
	if err != nil {
		return "an invalid URL"
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// Describe implements [wire.Caller] by a GET request.
func (c *Caller) Describe(ctx context.Context) (wire.Description, error) {
	var d wire.Description
	err := c.within(ctx, func(ctx context.Context) error {
		text, err := c.send(ctx, http.MethodGet, nil)
		if err != nil {
			return err
		}
		return json.Unmarshal(text, &d)
	})
	return d, err
}

// Call implements [wire.Caller] by a POST request.
func (c *Caller) Call(ctx context.Context, request wire.Request) (wire.Reply, error) {
	var reply wire.Reply
	err := c.within(ctx, func(ctx context.Context) error {
		request.SetWait(ctx)
		body, err := json.Marshal(&request)
		if err != nil {
			return err
		}
		text, err := c.send(ctx, http.MethodPost, body)
		if err != nil {
			return err
		}
		return wire.UnmarshalReply(ctx, text, &reply)
	})
	if err != nil {
		return wire.Reply{}, err
	}
	return reply, nil
}

// within calls f with the time limit. An error after the limit is the limit.
func (c *Caller) within(ctx context.Context, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, c.timeout, fmt.Errorf("no reply within %v", c.timeout))
	defer cancel()
	err := f(ctx)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return err
}

// send sends a request and returns the JSON of the response.
func (c *Caller) send(ctx context.Context, method string, body []byte) ([]byte, error) {
	q, err := http.NewRequestWithContext(ctx, method, c.url, bytes.NewReader(body))
	if err != nil {
		return nil, plain(err)
	}
	q.Header = c.header.Clone()
	if body != nil {
		q.Header.Set("Content-Type", contentType)
		q.GetBody = nil // so that the transport cannot send the request again
	}
	response, err := c.client.Do(q)
	if err != nil {
		return nil, plain(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, c.maxBytes+1))
	if err != nil {
		return nil, plain(err)
	}
	if response.StatusCode != http.StatusOK {
		err := fmt.Errorf("HTTP status %s%s", status(response.StatusCode), excerpt(text))
		if c := response.StatusCode; c == http.StatusBadRequest || c == http.StatusRequestEntityTooLarge {
			err = fmt.Errorf("%w: %w", wire.ErrRefused, err)
		}
		return nil, err
	}
	if int64(len(text)) > c.maxBytes {
		return nil, fmt.Errorf("the reply has more than %d bytes", c.maxBytes)
	}
	if kind := mediaType(response.Header); kind != contentType {
		return nil, fmt.Errorf("the reply is of type %.100q, not application/json%s", kind, excerpt(text))
	}
	return text, nil
}

// plain returns an error of package net/http without the URL, which may contain a password. The text is short: package
// net/http quotes any line that a server of another protocol writes.
func plain(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	return fmt.Errorf("%.300w", err)
}

// status names an HTTP status by its number. The text of the server has any length, and may command a terminal.
func status(code int) string { return strings.TrimSpace(fmt.Sprint(code, " ", http.StatusText(code))) }

// excerpt quotes the beginning of a response that is not a reply.
func excerpt(text []byte) string {
	const limit = 200
	if len(text) == 0 {
		return ""
	}
	return fmt.Sprintf(": %.*q", limit, text)
}

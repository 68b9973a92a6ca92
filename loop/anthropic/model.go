package anthropic

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/internal/modelhttp"
)

// DefaultURL is the address of the API of Anthropic.
const DefaultURL = "https://api.anthropic.com/v1"

// DefaultMaxTokens is the limit of a reply for requests that set none, because the API wants one.
const DefaultMaxTokens = 16384

// version is the version of the API.
const version = "2023-06-01"

// A Model is a model of the Messages API. Only Name is required. It is safe for concurrent use, and its fields must
// not change after the first call.
//
// LLMRequest.Extra is sent as fields of the request, by the names of the API, for example thinking. It replaces the
// field of the same name that this package sends. Two objects are merged, and null removes the field. The key
// cache_control replaces the marks for the prompt cache that this package sets; with null, nothing is cached.
type Model struct {
	// URL is the address of the API up to the version. Empty: DefaultURL.
	URL string

	// Name is the model of requests that name none, for example claude-sonnet-4-5.
	Name string

	// Key returns the API key, before each call. Nil or an empty text: none is sent. It is a function so that keys can
	// change, and so that a Model can be printed without its key.
	Key func() string

	// Header adds headers to each call, for example anthropic-beta. Nil: none.
	Header func(http.Header)

	// Window is the context window of the model in tokens. 0: unknown.
	Window int

	// Wait limits the time until a streamed reply begins, and the time of a reply that is not streamed. 0: 10 minutes.
	// Idle limits the silence within a streamed reply. 0: 5 minutes. Negative: no limit.
	Wait, Idle time.Duration

	// Client sends the requests. Nil: http.DefaultClient. Redirects are never followed.
	Client *http.Client
}

var (
	_ agent.StreamingModel = (*Model)(nil)
	_ agent.ContextWindow  = (*Model)(nil)
	_ agent.NamedModel     = (*Model)(nil)
)

// An Error is a failure of a call. It has the fields Status (of HTTP; 0 without a complete answer), Type, Message and
// RequestID as the server sent them, and Err (the cause, for example of the network). Temporary reports whether the
// same call may succeed later, and RetryAfter returns the time that the server asked to wait. Refused reports whether
// the server has answered with an error status instead of asking the model. Texts of the server are shortened, and the
// key is removed from them.
type Error = modelhttp.Error

// ModelName returns the name of the model that answers a request.
func (m *Model) ModelName(requested string) string { return cmp.Or(requested, m.Name) }

// ContextWindow returns Window.
func (m *Model) ContextWindow() int { return m.Window }

// Generate sends a request and returns the reply. The API recommends Stream for replies that take many minutes.
func (m *Model) Generate(ctx context.Context, req agent.LLMRequest) (agent.LLMResponse, error) {
	return m.call(ctx, req, false, func(agent.Delta) {})
}

// Stream is like Generate and emits the pieces of the reply as they arrive.
func (m *Model) Stream(ctx context.Context, req agent.LLMRequest, emit func(agent.Delta)) (agent.LLMResponse, error) {
	return m.call(ctx, req, true, emit)
}

func (m *Model) call(
	ctx context.Context, req agent.LLMRequest, stream bool, emit func(agent.Delta),
) (agent.LLMResponse, error) {
	call, err := m.post(req, stream)
	if err != nil {
		return agent.LLMResponse{}, fmt.Errorf("anthropic: %w", err)
	}
	d := &decoder{emit: emit}
	if err := call.Do(ctx, stream, d); err != nil {
		return agent.LLMResponse{}, classified(err)
	}
	return d.reply(), nil
}

// post returns the HTTP call for a request.
func (m *Model) post(req agent.LLMRequest, stream bool) (*modelhttp.Call, error) {
	req.Model = m.ModelName(req.Model)
	if req.Model == "" {
		return nil, errors.New("the model has no name; set Name")
	}
	at, err := modelhttp.Endpoint(m.URL, DefaultURL, "messages")
	if err != nil {
		return nil, err
	}
	body, err := encode(req, stream)
	if err != nil {
		return nil, err
	}
	header := http.Header{"Anthropic-Version": {version}}
	if m.Key != nil {
		if key := m.Key(); key != "" {
			header.Set("X-Api-Key", key)
		}
	}
	if m.Header != nil {
		m.Header(header)
	}
	return &modelhttp.Call{
		API: "anthropic", URL: at.String(), Header: header, Body: body,
		Client: m.Client, Wait: m.Wait, Idle: m.Idle,
	}, nil
}

// Whole decodes an answer that is not a stream.
func (d *decoder) Whole(answer *modelhttp.Reply) error {
	d.answer = answer
	var m wholeMessage
	if err := d.answer.JSON(&m); err != nil {
		return err
	}
	if m.Type == "error" {
		return d.failure(m.Error)
	}
	if m.Type != "message" {
		return d.answer.Invalid("it is not a message")
	}
	d.start(m.start)
	for _, raw := range m.Content {
		b, err := d.begin(raw)
		if err != nil {
			return err
		}
		d.end(b)
	}
	d.stop(m.StopReason, m.StopDetails)
	return nil
}

// Stream decodes a stream. It is complete with the event message_stop.
func (d *decoder) Stream(answer *modelhttp.Reply) error {
	d.answer = answer
	for {
		next, err := d.answer.Next()
		if errors.Is(err, io.EOF) {
			return d.answer.Cut()
		}
		if err != nil {
			return err
		}
		var e event
		if err := d.answer.Decode(next.Data, &e); err != nil {
			return err
		}
		if e.Type == "message_stop" {
			return d.complete()
		}
		if err := d.add(&e); err != nil {
			return err
		}
	}
}

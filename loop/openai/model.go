package openai

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/internal/modelhttp"
)

// DefaultURL is the address of the API of OpenAI.
const DefaultURL = "https://api.openai.com/v1"

// A Model is a model on a server that speaks chat completions or the Responses API. Only Name is required. It is safe
// for concurrent use, and its fields must not change after the first call.
//
// LLMRequest.Extra and Message.Extra are sent as fields of the request and of the message, by the names of the API. An
// Extra of the request replaces the field of the same name that this package sends. Two objects are merged, and null
// removes the field, for servers that reject it. For example, {"seed": null} sends no seed.
type Model struct {
	// URL is the address of the API up to the version, for example http://localhost:11434/v1. Empty: the environment
	// variable OPENAI_BASE_URL, or else DefaultURL.
	URL string

	// Name is the model of requests that name none, for example gpt-5-mini.
	Name string

	// Key returns the API key, before each call. An empty text: none is sent. Nil: the environment variable
	// OPENAI_API_KEY if URL is empty, or else none, so that the key never goes to the server of somebody else. It is a
	// function so that keys can change, and so that a Model can be printed without its key.
	Key func() string

	// Header adds headers to each call, for example the key of a gateway. Nil: none.
	Header func(http.Header)

	// Responses uses the Responses API instead of chat completions. The server stores nothing (store is false). The
	// reasoning of earlier replies goes back to it encrypted, so that a model that thinks continues its thoughts after a
	// call of a tool.
	Responses bool

	// Window is the context window of the model in tokens. 0: unknown.
	Window int

	// Wait limits the time until a streamed reply begins, and the time of a reply that is not streamed. 0: 10 minutes.
	// Idle limits the silence within a streamed reply. 0: 5 minutes, because some models think without sending
	// anything. Negative: no limit.
	Wait, Idle time.Duration

	// Client sends the requests. Nil: http.DefaultClient. Redirects are never followed.
	Client *http.Client
}

var (
	_ agent.StreamingModel = (*Model)(nil)
	_ agent.ContextWindow  = (*Model)(nil)
	_ agent.NamedModel     = (*Model)(nil)
)

// An Error is a failure of a call. It has the fields Status (of HTTP; 0 without a complete answer), Type, Code, Message
// and RequestID as the server sent them, and Err (the cause, for example of the network). Temporary reports whether the
// same call may succeed later, and RetryAfter returns the time that the server asked to wait. Refused reports whether
// the server has answered with an error status instead of asking the model. Texts of the server are shortened, and the
// key is removed from them.
type Error = modelhttp.Error

// ModelName returns the name of the model that answers a request.
func (m *Model) ModelName(requested string) string { return cmp.Or(requested, m.Name) }

// ContextWindow returns Window.
func (m *Model) ContextWindow() int { return m.Window }

// Generate sends a request and returns the reply.
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
		return agent.LLMResponse{}, fmt.Errorf("openai: %w", err)
	}
	var d interface {
		modelhttp.Decoder
		reply() agent.LLMResponse
	} = &decoder{emit: emit}
	if m.Responses {
		d = &responder{emit: emit}
	}
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
	url, key := m.URL, m.Key
	if url == "" {
		url = os.Getenv("OPENAI_BASE_URL")
		if key == nil {
			key = func() string { return os.Getenv("OPENAI_API_KEY") }
		}
	}
	method := "chat/completions"
	if m.Responses {
		method = "responses"
	}
	at, err := modelhttp.Endpoint(url, DefaultURL, method)
	if err != nil {
		return nil, err
	}
	var body []byte
	if m.Responses {
		body, err = encodeResponses(req, stream)
	} else {
		body, err = encode(req, stream, at.Hostname())
	}
	if err != nil {
		return nil, err
	}
	header := make(http.Header)
	if key != nil {
		if text := key(); text != "" {
			header.Set("Authorization", "Bearer "+text)
		}
	}
	if m.Header != nil {
		m.Header(header)
	}
	return &modelhttp.Call{
		API: "openai", URL: at.String(), Header: header, Body: body,
		Client: m.Client, Wait: m.Wait, Idle: m.Idle,
	}, nil
}

// Whole decodes an answer that is not a stream.
func (d *decoder) Whole(answer *modelhttp.Reply) error {
	d.answer = answer
	var c chunk
	if err := d.answer.JSON(&c); err != nil {
		return err
	}
	if err := d.add(c); err != nil {
		return err
	}
	if !d.chosen {
		return d.answer.Invalid("it has no choice")
	}
	return nil
}

// Stream decodes a stream. It is complete with the event [DONE]. Servers that send no such event are done when they
// end the stream after a finish reason.
func (d *decoder) Stream(answer *modelhttp.Reply) error {
	d.answer = answer
	for {
		event, err := d.answer.Next()
		switch {
		case errors.Is(err, io.EOF) && d.finish != "":
			return nil
		case errors.Is(err, io.EOF):
			return d.answer.Cut()
		case err != nil:
			return err
		case string(event.Data) == "[DONE]" && d.chosen:
			return nil
		case string(event.Data) == "[DONE]":
			return d.answer.Invalid("it has no choice")
		}
		var c chunk
		if err := d.answer.Decode(event.Data, &c); err != nil {
			return err
		}
		if len(c.Error) == 0 && (event.Type == "error" || c.Object == "error") {
			c.Error = event.Data
		}
		if err := d.add(c); err != nil {
			return err
		}
	}
}

package redact

import (
	"encoding/json"
	"unicode/utf8"

	"github.com/hookgen/hookgen/builtin/internal/jsonx"
	"github.com/hookgen/hookgen/generated/agent"
)

// raw redacts data that should be JSON but can be invalid. about describes its key. It returns nil for empty data.
func (r *Redactor) raw(data json.RawMessage, about nameInfo) json.RawMessage {
	switch {
	case len(data) == 0:
		return nil
	case !json.Valid(data):
		return json.RawMessage(r.Text(string(data)))
	}
	w := walk{redact: r, text: r.Text, nodes: -1, depth: maxLevels}
	return jsonx.Encode(w.value(data, 0, about))
}

func (r *Redactor) extra(extra map[string]json.RawMessage) map[string]json.RawMessage {
	if extra == nil {
		return nil
	}
	out := make(map[string]json.RawMessage, len(extra))
	for k, v := range extra {
		out[r.Text(k)] = r.raw(v, r.about(k))
	}
	return out
}

// part redacts a part that is a text, and the description of another one.
func (r *Redactor) part(p *agent.Part) {
	p.MediaType, p.URL, p.Name = r.Text(p.MediaType), r.Text(p.URL), r.Text(p.Name)
	if utf8.Valid(p.Data) {
		if s := r.Text(string(p.Data)); s != string(p.Data) {
			p.Data = []byte(s)
		}
	}
}

// Message returns a redacted copy of a message, including its names and IDs. Images and other binary data remain.
func (r *Redactor) Message(m agent.Message) agent.Message {
	m = m.Clone()
	m.Role, m.Name, m.ToolCallID = agent.Role(r.Text(string(m.Role))), r.Text(m.Name), r.Text(m.ToolCallID)
	m.Content, m.Reasoning = r.Text(m.Content), r.Text(m.Reasoning)
	m.Extra = r.extra(m.Extra)
	for i, c := range m.ToolCalls {
		c.ID, c.Name, c.Args = r.Text(c.ID), r.Text(c.Name), r.raw(c.Args, nameInfo{})
		m.ToolCalls[i] = c
	}
	for i := range m.Parts {
		r.part(&m.Parts[i])
	}
	return m
}

// Response returns a redacted copy of a reply of a model.
func (r *Redactor) Response(reply agent.LLMResponse) agent.LLMResponse {
	m := r.Message(reply.Message())
	reply.Content, reply.Reasoning, reply.Parts = m.Content, m.Reasoning, m.Parts
	reply.ToolCalls, reply.Extra = m.ToolCalls, m.Extra
	reply.FinishReason, reply.Model, reply.ID = r.Text(reply.FinishReason), r.Text(reply.Model), r.Text(reply.ID)
	return reply
}

// Request returns a copy of a request to a model with redacted messages.
func (r *Redactor) Request(req agent.LLMRequest) agent.LLMRequest {
	req = req.Clone()
	for i := range req.Messages {
		req.Messages[i] = r.Message(req.Messages[i])
	}
	return req
}

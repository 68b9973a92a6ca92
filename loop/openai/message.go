package openai

import (
	"cmp"
	"encoding/json"
	"strings"
)

// empty reports whether a delta has no content.
func (d *delta) empty() bool {
	return d.Content == content{} && d.Refusal == "" && d.ReasoningContent == "" && d.Reasoning == "" &&
		len(d.ToolCalls) == 0 && len(d.Images) == 0 && len(d.unknown) == 0
}

// addMessage adds the parts of a message that the reply does not have yet. In a stream, a message repeats the deltas:
// each event of Perplexity has a delta and the message so far, and the last event of some gateways has the whole
// message. Servers without deltas send the message so far, or each piece of text as a message. The calls and images are
// those of the deltas, or else those of the last message that has some.
func (d *decoder) addMessage(m *delta) {
	rest := delta{Content: content{text: d.missing(m.Content.text+m.Refusal, d.text.String())}}
	thoughts := m.Content.thoughts + cmp.Or(m.ReasoningContent, m.Reasoning)
	if thoughts = d.missing(thoughts, d.reasoning.String()); m.ReasoningContent != "" {
		rest.ReasoningContent = thoughts
	} else {
		rest.Reasoning = thoughts
	}
	d.refused = d.refused || m.Refusal != ""
	d.addDelta(&rest, true)
	if len(m.ToolCalls) > 0 {
		d.last.ToolCalls = m.ToolCalls
	}
	if len(m.Images) > 0 {
		d.last.Images = m.Images
	}
	for name, value := range m.unknown {
		if d.unknown == nil {
			d.unknown = make(map[string][]json.RawMessage)
		}
		if d.unknown[name] == nil || !d.pieces {
			d.unknown[name] = []json.RawMessage{value}
		}
	}
}

// missing returns the part of a message's text that the reply does not have yet.
func (d *decoder) missing(text, have string) string {
	switch rest, continues := strings.CutPrefix(text, have); {
	case continues:
		return rest
	case d.pieces:
		return "" // the deltas count
	}
	return text
}

// addLast adds the calls and images of the last message, unless there were deltas with some.
func (d *decoder) addLast() {
	if len(d.calls) > 0 {
		d.last.ToolCalls = nil
	}
	if len(d.parts) > 0 {
		d.last.Images = nil
	}
	d.addDelta(&d.last, true)
}

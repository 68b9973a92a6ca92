package openai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/generated/agent"
)

// empty reports whether a delta has no content.
func (d *delta) empty() bool {
	return d.Content == content{} && d.Refusal == "" && d.ReasoningContent == "" && d.Reasoning == "" &&
		len(d.ToolCalls) == 0 && len(d.Images) == 0 && len(d.unknown) == 0
}

// addMessage adds the parts of a message that the reply does not have yet. In a stream, a message repeats the deltas:
// each event of Perplexity has a delta and the message so far, and the last event of some gateways has the whole
// message. Servers without deltas send the message so far, or each piece as a message.
func (d *decoder) addMessage(m *delta) {
	rest := delta{
		Content: content{text: d.missing(m.Content.text+m.Refusal, d.text.String())},
		Images:  d.missingImages(m.Images),
	}
	thoughts := m.Content.thoughts + cmp.Or(m.ReasoningContent, m.Reasoning)
	if thoughts = d.missing(thoughts, d.reasoning.String()); m.ReasoningContent != "" {
		rest.ReasoningContent = thoughts
	} else {
		rest.Reasoning = thoughts
	}
	rest.ToolCalls = d.missingCalls(m.ToolCalls)
	d.refused = d.refused || m.Refusal != ""
	d.addDelta(&rest, true)
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

func (d *decoder) missingImages(all []part) []part {
	return slices.DeleteFunc(slices.Clone(all), func(p part) bool {
		return p.ImageURL != nil && slices.ContainsFunc(d.parts, func(have agent.Part) bool {
			one := image(p.ImageURL.URL)
			return have.URL == one.URL && have.MediaType == one.MediaType && bytes.Equal(have.Data, one.Data)
		})
	})
}

// missingCalls returns the calls of a message that the reply does not have yet. It completes the arguments of calls
// that the reply has in part.
func (d *decoder) missingCalls(all []callDelta) (missing []callDelta) {
	have := d.calls
	for i := range all {
		in := &all[i]
		at := slices.IndexFunc(have, func(c *call) bool { return c.id != "" && c.id == in.ID })
		if at < 0 && i < len(have) && (d.pieces || have[i].begins(in)) {
			at = i // servers may make another id for the message
		}
		if at < 0 {
			missing = append(missing, *in)
			continue
		}
		if args := d.missing(in.arguments(), have[at].args.String()); args != "" {
			have[at].args.WriteString(args)
			have[at].object.add(args)
			d.emit(agent.Delta{ToolCall: &agent.ToolCallDelta{Index: at, Args: args}})
		}
	}
	return missing
}

// begins reports whether the call of a message can be c with more arguments.
func (c *call) begins(in *callDelta) bool {
	return c.id == in.ID && c.name == in.Function.Name && strings.HasPrefix(in.arguments(), c.args.String())
}

package openai

import (
	"reflect"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
)

// Servers that send messages in a stream, alone or with deltas, repeat content. Nothing is doubled and nothing is lost.
func TestMessagesInStreams(t *testing.T) {
	both := func(delta, message string) string {
		return `{"choices":[{"index":0,"delta":{` + delta + `},"message":{` + message + `}}]}`
	}
	piece := func(delta string) string { return `{"choices":[{"index":0,"delta":{` + delta + `}}]}` }
	message := func(message string) string { return `{"choices":[{"index":0,"message":{` + message + `}}]}` }
	call := func(id, args string) string {
		return `{"id":"` + id + `","type":"function","function":{"name":"look","arguments":"` + args + `"}}`
	}
	const whole = `"content":"Hi there.","tool_calls":[]`
	look := func(ids ...string) (calls []agent.ToolCallRequest) {
		for _, id := range ids {
			calls = append(calls, agent.ToolCallRequest{ID: id, Name: "look", Args: []byte(`{}`)})
		}
		return calls
	}
	picture := `"images":[{"type":"image_url","image_url":{"url":"data:image/png;base64,cG5n"}}]`
	text := agent.LLMResponse{Content: "Hi there.", FinishReason: "stop"}
	for name, c := range map[string]struct {
		events []string
		want   agent.LLMResponse
	}{
		"the text so far with each piece": {[]string{
			both(`"content":"Hi"`, `"content":"Hi"`), both(`"content":" there."`, `"content":"Hi there."`),
			both(`"content":""`, whole),
		}, text},
		"a piece that repeats the text": {[]string{
			both(`"content":"ha"`, `"content":"ha"`), both(`"content":"ha"`, `"content":"haha"`),
		}, agent.LLMResponse{Content: "haha", FinishReason: "stop"}},
		"the whole message at the end": {[]string{
			piece(`"content":"Hi"`), piece(`"content":" there."`), message(whole),
		}, text},
		"another form at the end": {[]string{piece(`"content":"Hi there.\n"`), message(whole)},
			agent.LLMResponse{Content: "Hi there.\n", FinishReason: "stop"}},
		"more at the end":       {[]string{piece(`"content":"Hi"`), message(whole)}, text},
		"only the whole":        {[]string{message(whole)}, text},
		"messages that grow":    {[]string{message(`"content":"Hi"`), message(whole), message(whole)}, text},
		"pieces as messages":    {[]string{message(`"content":"Hi"`), message(`"content":" there."`)}, text},
		"a role before":         {[]string{piece(`"role":"assistant"`), message(`"content":"Hi"`), message(whole)}, text},
		"an empty message":      {[]string{both(`"content":"Hi"`, ``), both(`"content":" there."`, `"content":null`)}, text},
		"an empty delta before": {[]string{both(`"content":""`, `"content":"Hi"`), both(``, whole)}, text},
		"thoughts": {[]string{
			both(`"reasoning":"H"`, `"reasoning":"H"`), both(`"reasoning":"m."`, `"reasoning":"Hm."`),
			message(`"reasoning":"Hm."`),
		}, agent.LLMResponse{Reasoning: "Hm.", FinishReason: "stop"}},
		"a refusal": {[]string{piece(`"refusal":"No."`), message(`"content":null,"refusal":"No."`)},
			agent.LLMResponse{Content: "No.", FinishReason: "refusal"}},
		"calls again at the end": {[]string{
			piece(`"tool_calls":[` + call("a", "{}") + `]`), piece(`"tool_calls":[` + call("b", "{}") + `]`),
			message(`"tool_calls":[` + call("a", "{}") + `,` + call("b", "{}") + `]`),
		}, agent.LLMResponse{FinishReason: "tool_calls", ToolCalls: look("a", "b")}},
		"calls again with other ids": {[]string{
			piece(`"tool_calls":[` + call("a", "{}") + `]`), message(`"tool_calls":[` + call("x", "{}") + `]`),
		}, agent.LLMResponse{FinishReason: "tool_calls", ToolCalls: look("a")}},
		"calls only at the end": {[]string{
			piece(`"content":"Hi there."`), message(`"tool_calls":[` + call("a", "{}") + `,` + call("b", "{}") + `]`),
		}, agent.LLMResponse{Content: "Hi there.", FinishReason: "tool_calls", ToolCalls: look("a", "b")}},
		"calls that grow": {[]string{
			message(`"tool_calls":[` + call("a", "{") + `]`),
			message(`"tool_calls":[` + call("a", "{}") + `,` + call("b", "{}") + `]`),
		}, agent.LLMResponse{FinishReason: "tool_calls", ToolCalls: look("a", "b")}},
		"an image again": {[]string{piece(picture), message(picture)}, agent.LLMResponse{
			FinishReason: "stop", Parts: []agent.Part{{MediaType: "image/png", Data: []byte("png")}},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			events := append(c.events, piece(``), "[DONE]")
			got, err := streamed(t, "data: "+strings.Join(events, "\n\ndata: ")+"\n\n")
			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("got  %+v, %v\nwant %+v", got, err, c.want)
			}
		})
	}
}

package mcp

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hookgen/hookgen/generated/agent"
)

func TestContentOfResults(t *testing.T) {
	for name, c := range map[string]struct {
		json string
		want agent.ToolOutput
	}{
		"empty": {`{"content":[]}`, agent.ToolOutput{}},
		"texts": {
			`{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`, agent.ToolOutput{Text: "a\nb"},
		},
		"structured": {`{"content":[],"structuredContent":{"a":[1]}}`, agent.ToolOutput{Text: `{"a":[1]}`}},
		"structured with other text": {
			`{"content":[{"type":"text","text":"a"}],"structuredContent":1}`, agent.ToolOutput{Text: "a\n1"},
		},
		"structured with same text": {
			`{"content":[{"type":"text","text":"{ \"b\":2, \"a\":1 }"}],"structuredContent":{"a":1,"b":2}}`,
			agent.ToolOutput{Text: `{ "b":2, "a":1 }`},
		},
		"structured with only the text": {
			`{"content":[{"type":"text","text":"a"}],"structuredContent":{"content":"a"}}`, agent.ToolOutput{Text: "a"},
		},
		"structured with more than the text": {
			`{"content":[{"type":"text","text":"a"}],"structuredContent":{"content":"a","size":1}}`,
			agent.ToolOutput{Text: "a\n" + `{"content":"a","size":1}`},
		},
		"image": {
			`{"content":[{"type":"text","text":"see"},{"type":"image","mimeType":"image/PNG; a=b","data":"AQI="}]}`,
			agent.ToolOutput{Text: "see", Parts: []agent.Part{{MediaType: "image/png", Data: []byte{1, 2}}}},
		},
		"sound": {
			`{"content":[{"type":"audio","mimeType":"audio/wav","data":"AQI="}]}`,
			agent.ToolOutput{Parts: []agent.Part{{MediaType: "audio/wav", Data: []byte{1, 2}}}},
		},
		"media type that is none": {
			`{"content":[{"type":"image","mimeType":"image\r\nX: y","data":"AQI="}]}`,
			agent.ToolOutput{Warnings: []string{`content of the media type "image\r\nX: y" is left out`}},
		},
		"link": {
			`{"content":[{"type":"resource_link","uri":"http://a/b","name":"page","description":"about"}]}`,
			agent.ToolOutput{Text: "resource http://a/b: page about"},
		},
		"resource": {
			`{"content":[{"type":"resource","resource":{"uri":"file:///a","text":"one"}}]}`,
			agent.ToolOutput{Text: "resource file:///a:\none"},
		},
		"binary resource": {
			`{"content":[{"type":"resource","resource":{"uri":"file:///a","blob":"AQI="}}]}`,
			agent.ToolOutput{Parts: []agent.Part{
				{MediaType: "application/octet-stream", Data: []byte{1, 2}, Name: "file:///a"},
			}},
		},
		"no resource": {`{"content":[{"type":"resource"}]}`, agent.ToolOutput{}},
	} {
		t.Run(name, func(t *testing.T) {
			var result sdk.CallToolResult
			if err := json.Unmarshal([]byte(c.json), &result); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, outputOf(&result)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func FuzzContentOfResults(f *testing.F) {
	f.Add(`{"content":[{"type":"text","text":"a"}],"structuredContent":{"a":1},"isError":true}`)
	f.Add(`{"content":[{"type":"image","mimeType":"image/png","data":"AQI="},{"type":"resource_link","uri":"\ud800"}]}`)
	f.Add(`{"content":[{"type":"resource","resource":{"uri":"a","blob":"AQI=","mimeType":"a/b"}},{"type":"resource"}]}`)
	f.Add(`{"content":null,"structuredContent":[1e400]}`)
	f.Fuzz(func(t *testing.T, text string) {
		var result sdk.CallToolResult
		if json.Unmarshal([]byte(text), &result) != nil {
			return
		}
		out := outputOf(&result)
		cut, parts, warnings := fitted(out, 10, 3)
		if !utf8.ValidString(cut) || len(cut) > 10 || !strings.HasPrefix(out.Text, cut) {
			t.Errorf("%q was cut to %q", out.Text, cut)
		}
		size := 0
		for _, p := range parts {
			size += len(p.Data)
		}
		if size > 3 || (len(parts) < len(out.Parts) || len(cut) < len(out.Text)) != (len(warnings) > len(out.Warnings)) {
			t.Errorf("%d bytes of parts, %q", size, warnings)
		}
		resultOf(agent.ToolCallResult{Output: cut, Parts: parts})
	})
}

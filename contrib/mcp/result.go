package mcp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"mime"
	"reflect"
	"strings"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hookgen/hookgen/generated/agent"
)

// outputOf returns the content of a result. Texts are joined by newlines; images, sounds and binary resources are
// parts. Structured content is added as JSON unless the texts have it, as JSON or as the only property of the object. A
// link is text, because nothing should fetch an address that a server chose.
func outputOf(result *sdk.CallToolResult) (out agent.ToolOutput) {
	var texts []string
	part := func(mediaType string, data []byte, name string) {
		kind, _, err := mime.ParseMediaType(mediaType)
		if err != nil {
			out.Warnings = append(out.Warnings, fmt.Sprintf("content of the media type %q is left out", bounded(mediaType, 100)))
			return
		}
		out.Parts = append(out.Parts, agent.Part{MediaType: kind, Data: data, Name: bounded(name, maxProblem)})
	}
	for _, content := range result.Content {
		switch c := content.(type) {
		case *sdk.TextContent:
			texts = append(texts, c.Text)
		case *sdk.ImageContent:
			part(c.MIMEType, c.Data, "")
		case *sdk.AudioContent:
			part(c.MIMEType, c.Data, "")
		case *sdk.ResourceLink:
			texts = append(texts, "resource "+bounded(c.URI, maxProblem)+": "+bounded(c.Name+" "+c.Description, maxProblem))
		case *sdk.EmbeddedResource:
			switch r := c.Resource; {
			case r == nil:
			case r.Blob != nil:
				part(cmp.Or(r.MIMEType, "application/octet-stream"), r.Blob, r.URI)
			default:
				texts = append(texts, "resource "+bounded(r.URI, maxProblem)+":\n"+r.Text)
			}
		default:
			out.Warnings = append(out.Warnings, fmt.Sprintf("content of the type %T is left out", content))
		}
	}
	if structured, err := json.Marshal(result.StructuredContent); err == nil && result.StructuredContent != nil &&
		!contains(texts, structured) && onlyProperty(structured, strings.Join(texts, "\n")) == "" {
		texts = append(texts, string(structured))
	}
	out.Text = strings.ToValidUTF8(strings.Join(texts, "\n"), "\uFFFD")
	return out
}

// contains reports whether one of the texts is JSON of the same value.
func contains(texts []string, encoded []byte) bool {
	var value any
	if json.Unmarshal(encoded, &value) != nil {
		return false
	}
	for _, text := range texts {
		var same any
		if json.Unmarshal([]byte(text), &same) == nil && reflect.DeepEqual(same, value) {
			return true
		}
	}
	return false
}

// onlyProperty returns the name of the property if the structured content is an object that has only the text. For
// example, a server sends the text of a file and {"content": "the text of the file"}.
func onlyProperty(structured []byte, text string) string {
	var object map[string]any
	if json.Unmarshal(structured, &object) != nil || len(object) != 1 {
		return ""
	}
	for name, value := range object {
		if value == text {
			return name
		}
	}
	return ""
}

// maxParts is the most parts of one result.
const maxParts = 100

// fitted returns the output within the limits in bytes, with a warning for each cut. A negative limit means no
// limit.
func fitted(out agent.ToolOutput, textLimit, partsLimit int) (text string, parts []agent.Part, warnings []string) {
	text, warnings = out.Text, out.Warnings
	if textLimit >= 0 && len(text) > textLimit {
		end := textLimit
		for end > 0 && !utf8.RuneStart(text[end]) {
			end--
		}
		warnings = append(warnings, fmt.Sprintf("the text was cut from %d to %d bytes", len(text), end))
		text = text[:end]
	}
	size, dropped := 0, 0
	for _, p := range out.Parts {
		if len(parts) == maxParts || partsLimit >= 0 && size+len(p.Data) > partsLimit {
			dropped++
			continue
		}
		size += len(p.Data)
		parts = append(parts, p)
	}
	if dropped > 0 {
		warnings = append(warnings, fmt.Sprintf("%d of %d parts were left out because they are too large", dropped,
			len(out.Parts)))
	}
	return text, parts, warnings
}

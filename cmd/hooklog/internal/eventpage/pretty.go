package eventpage

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/hookgen/hookgen/cmd/hooklog/internal/eventlog"
)

// maxIndent bounds the indentation. A payload of ten thousand nested arrays would need a hundred million blanks.
const maxIndent = 40

// Pretty returns a JSON value for people: one value per line, in the order of the text. Characters that encoding/json
// escapes only for HTML appear as themselves. A string with line breaks continues after each of them on a new line:
//
//	"content": "first\n
//	  second"
//
// The text ends with a line break. A text that is not JSON is returned as it is. A nil value has no lines.
func Pretty(value json.RawMessage) string {
	if value == nil {
		return ""
	}
	if !json.Valid(value) {
		return strings.ToValidUTF8(string(value), "\uFFFD") + "\n"
	}
	var flat bytes.Buffer
	_ = json.Indent(&flat, eventlog.Readable(value), "", "") // it is valid
	var b strings.Builder
	depth := 0
	for line := range strings.Lines(strings.ToValidUTF8(flat.String(), "\uFFFD") + "\n") {
		if strings.HasPrefix(line, "}") || strings.HasPrefix(line, "]") {
			depth--
		}
		indent := strings.Repeat("  ", min(depth, maxIndent))
		b.WriteString(indent)
		b.WriteString(strings.NewReplacer(`\\`, `\\`, `\n"`, `\n"`, `\n`, "\\n\n  "+indent).Replace(line))
		if strings.HasSuffix(line, "{\n") || strings.HasSuffix(line, "[\n") {
			depth++
		}
	}
	return b.String()
}

package permission

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/internal/terminal"
	"github.com/hookgen/hookgen/builtin/internal/toolname"
	"github.com/hookgen/hookgen/generated/agent"
)

const (
	maxShownArgs  = 4000    // characters of arguments that a person is shown
	maxDecodeArgs = 1 << 20 // bytes of arguments that are decoded to be shown
)

// callText words a call for a person who decides about it: the tool, and its arguments decoded, one below the
// other in the order in which they were written. Arguments that are no JSON object are shown as they are. What a
// terminal would not show, or would obey, is written as an escape. Long arguments are cut in the middle, and the
// text says by how much.
func callText(call agent.ToolCallRequest) string {
	name := terminal.Escape(shorten.To(call.Name, toolname.MaxDisplay))
	args := bytes.TrimSpace(call.Args)
	if len(args) == 0 || string(args) == "{}" {
		return fmt.Sprintf("Run %s without arguments?", name)
	}
	return fmt.Sprintf("Run %s with these arguments?\n%s", name, shorten.Middle(argsText(args), maxShownArgs))
}

// argsText lays out arguments line by line.
func argsText(args []byte) string {
	var b strings.Builder
	keys, values, ok := argMembers(args)
	if !ok {
		layOut(&b, "  ", string(args))
		return strings.TrimRight(b.String(), "\n")
	}
	for i, k := range keys {
		text, isText := values[i].(string)
		if !isText {
			text = oneLineJSON(values[i])
		}
		if strings.Contains(text, "\n") {
			fmt.Fprintf(&b, "  %s:\n", terminal.Escape(k))
			layOut(&b, "    | ", text)
		} else {
			fmt.Fprintf(&b, "  %s: %s\n", terminal.Escape(k), terminal.Escape(text))
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// argMembers returns what a JSON object holds, in the order in which it is written; a key that comes twice comes
// twice. It reports false for anything else.
func argMembers(data []byte) (keys []string, values []any, ok bool) {
	if len(data) > maxDecodeArgs || !json.Valid(data) {
		return nil, nil, false
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, nil, false
	}
	for d.More() {
		k, err := d.Token()
		if err != nil {
			return nil, nil, false
		}
		var v any
		if err := d.Decode(&v); err != nil {
			return nil, nil, false
		}
		keys, values = append(keys, k.(string)), append(values, v)
	}
	return keys, values, true
}

// oneLineJSON encodes a decoded value in one line, with letters as they are.
func oneLineJSON(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // it was decoded from JSON
	return strings.TrimRight(b.String(), "\n")
}

// layOut writes a text line by line, each behind a margin.
func layOut(b *strings.Builder, margin, text string) {
	for line := range strings.SplitSeq(text, "\n") {
		b.WriteString(margin)
		b.WriteString(terminal.Escape(line))
		b.WriteByte('\n')
	}
}

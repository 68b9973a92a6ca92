package permission

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/internal/toolname"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/internal/terminal"
)

const (
	maxShownArgs  = 4000    // characters of arguments that a person sees
	maxDecodeArgs = 1 << 20 // bytes of arguments that are decoded for a person
)

// callText describes a call for the person who decides about it. For example:
//
//	Run remove_file with these arguments?
//	  path: /tmp/old
//
// Arguments appear decoded and in their original order; arguments that are not a JSON object appear unchanged. Control
// characters and invisible characters are escaped, because a terminal would obey or hide them. Long arguments are
// truncated in the middle, with a note of the number of missing characters.
func callText(call agent.ToolCallRequest) string {
	name := terminal.Escape(shorten.To(call.Name, toolname.MaxDisplay))
	args := bytes.TrimSpace(call.Args)
	if len(args) == 0 || string(args) == "{}" {
		return fmt.Sprintf("Run %s without arguments?", name)
	}
	return fmt.Sprintf("Run %s with these arguments?\n%s", name, shorten.Middle(argsText(args), maxShownArgs))
}

// argsText formats arguments, one to a line. A text of several lines is indented below its name.
func argsText(args []byte) string {
	var b strings.Builder
	keys, values, ok := argMembers(args)
	if !ok {
		writeIndented(&b, "  ", string(args))
		return strings.TrimRight(b.String(), "\n")
	}
	for i, k := range keys {
		text, isText := values[i].(string)
		if !isText {
			text = oneLineJSON(values[i])
		}
		if strings.Contains(text, "\n") {
			fmt.Fprintf(&b, "  %s:\n", terminal.Escape(k))
			writeIndented(&b, "    | ", text)
		} else {
			fmt.Fprintf(&b, "  %s: %s\n", terminal.Escape(k), terminal.Escape(text))
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// argMembers returns the members of a JSON object in their original order, including duplicate keys. It reports false
// for other values.
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
		k, _ := d.Token() // cannot fail, nor can Decode: the data is valid
		var v any
		_ = d.Decode(&v)
		keys, values = append(keys, k.(string)), append(values, v)
	}
	return keys, values, true
}

// oneLineJSON encodes a value in one line, without escapes for <, > and &.
func oneLineJSON(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // cannot fail: v was decoded from JSON
	return strings.TrimRight(b.String(), "\n")
}

// writeIndented writes each line of a text with an indent.
func writeIndented(b *strings.Builder, indent, text string) {
	for line := range strings.SplitSeq(text, "\n") {
		b.WriteString(indent)
		b.WriteString(terminal.Escape(line))
		b.WriteByte('\n')
	}
}

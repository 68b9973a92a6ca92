package permission

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/jsonx"
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
	members, ok := argMembers(args)
	if !ok {
		writeIndented(&b, "  ", string(args))
	}
	for _, m := range members {
		value, _ := jsonx.Decode(m.Value) // cannot fail: the arguments are valid
		text, isText := value.(string)
		if !isText {
			text = string(jsonx.Encode(value))
		}
		if strings.Contains(text, "\n") {
			fmt.Fprintf(&b, "  %s:\n", terminal.Escape(m.Key))
			writeIndented(&b, "    | ", text)
		} else {
			fmt.Fprintf(&b, "  %s: %s\n", terminal.Escape(m.Key), terminal.Escape(text))
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// argMembers returns the members of a JSON object in their original order, including duplicate keys. It reports false
// for other values.
func argMembers(args []byte) ([]jsonx.Member, bool) {
	if len(args) > maxDecodeArgs || !json.Valid(args) {
		return nil, false
	}
	return jsonx.Members(args, -1)
}

// writeIndented writes each line of a text with an indent.
func writeIndented(b *strings.Builder, indent, text string) {
	for line := range strings.SplitSeq(text, "\n") {
		b.WriteString(indent)
		b.WriteString(terminal.Escape(line))
		b.WriteByte('\n')
	}
}

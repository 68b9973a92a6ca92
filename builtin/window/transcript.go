package window

import (
	"fmt"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/generated/agent"
)

// maxTurnShown bounds each message in a transcript, in characters.
const maxTurnShown = 4000

// transcript renders messages for a model in at most maxRunes characters. If the messages are longer, a third of the
// characters goes to the oldest messages and the rest to the newest. A line in between counts the messages left out.
func transcript(messages []agent.Message, maxRunes int) string {
	entries := make([]string, len(messages))
	for i, m := range messages {
		entries[i] = shorten.Middle(transcriptEntry(m), 2*maxTurnShown)
	}
	const between = len("\n\n")
	head, tail, room := 0, len(entries), maxRunes/3
	for ; head < tail && len(entries[head])+between <= room; head++ {
		room -= len(entries[head]) + between
	}
	for room += maxRunes - maxRunes/3; tail > head && len(entries[tail-1])+between <= room; tail-- {
		room -= len(entries[tail-1]) + between
	}
	left := entries[:head:head]
	if head < tail {
		left = append(left, fmt.Sprintf("(%d messages left out)", tail-head))
	}
	return strings.Join(append(left, entries[tail:]...), "\n\n")
}

func transcriptEntry(m agent.Message) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s", m.Role)
	if m.Role == agent.RoleTool {
		fmt.Fprintf(&b, " %s", shorten.Line(m.Name, shorten.KeyChars))
	}
	b.WriteString(": " + shorten.Middle(m.Content, maxTurnShown))
	for _, p := range m.Parts {
		fmt.Fprintf(&b, "\n(attached: %s)", shorten.Line(p.MediaType, shorten.KeyChars))
	}
	for _, c := range m.ToolCalls {
		fmt.Fprintf(&b, "\ncalls %s", callLine(c, maxTurnShown))
	}
	return b.String()
}

// callLine renders a call on one line with truncated arguments.
func callLine(c agent.ToolCallRequest, maxArgs int) string {
	return shorten.Line(c.Name, shorten.KeyChars) + "(" + shorten.Line(string(c.Args), maxArgs) + ")"
}

// messageLines renders the last 20 messages, each as one line with its role and first 80 characters.
func messageLines(messages []agent.Message) string {
	const most, length = 20, 80
	var b strings.Builder
	if over := len(messages) - most; over > 0 {
		fmt.Fprintf(&b, "(%d earlier messages left out)\n", over)
		messages = messages[over:]
	}
	for _, m := range messages {
		text := m.Content
		for _, c := range m.ToolCalls {
			text += " " + callLine(c, length)
		}
		fmt.Fprintf(&b, "%s: %s\n", m.Role, shorten.Line(text, length))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// callTrace renders the last 40 calls, each as one line with its result.
func callTrace(messages []agent.Message) string {
	const most, maxArgs, maxResult = 40, 60, 120
	var lines []string
	for _, n := range split(messages).Turns {
		results := messages[n.From+1 : n.To]
		for _, c := range messages[n.From].ToolCalls {
			line := callLine(c, maxArgs)
			for _, r := range results {
				if r.ToolCallID == c.ID {
					line += " → " + shorten.Line(r.Content, maxResult)
				}
			}
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return ""
	}
	left := ""
	if over := len(lines) - most; over > 0 {
		left, lines = fmt.Sprintf("(%d earlier calls left out)\n", over), lines[over:]
	}
	return "Calls so far:\n" + left + strings.Join(lines, "\n")
}

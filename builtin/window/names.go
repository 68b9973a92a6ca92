package window

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/generated/agent"
)

const (
	minHidden   = 3 // a note is added only if the compaction hid at least this many names
	maxHidden   = 8 // names listed in the note
	maxNames    = 500
	maxNameArgs = 64 << 10 // bytes; longer arguments are not searched for names
)

// argumentNames returns the strings in the arguments of calls that could be names: 3 to 80 characters, a letter, no
// spaces. It returns each once, in the order of first use.
func argumentNames(messages []agent.Message) []string {
	var names []string
	seen := make(map[string]bool)
	for _, m := range messages {
		for _, c := range m.ToolCalls {
			var args any
			if len(c.Args) > maxNameArgs || json.Unmarshal(c.Args, &args) != nil {
				continue
			}
			textsIn(args, func(text string) {
				if !seen[text] && couldBeName(text) && len(names) < maxNames {
					seen[text] = true
					names = append(names, text)
				}
			})
		}
	}
	return names
}

// textsIn calls f with each string in a JSON value, those of an object in the order of their keys.
func textsIn(value any, f func(string)) {
	switch v := value.(type) {
	case string:
		f(v)
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			textsIn(v[key], f)
		}
	case []any:
		for _, element := range v {
			textsIn(element, f)
		}
	}
}

func couldBeName(text string) bool {
	n := utf8.RuneCountInString(text)
	return n >= 3 && n <= 80 && strings.ContainsFunc(text, unicode.IsLetter) &&
		!strings.ContainsFunc(text, func(c rune) bool { return unicode.IsSpace(c) || unicode.IsControl(c) })
}

// hiddenNote lists the names that appear in none of the messages. It returns "" if there are fewer than minHidden.
func hiddenNote(known []string, messages []agent.Message) string {
	var remaining strings.Builder
	for _, m := range messages {
		remaining.WriteString(m.Content)
		remaining.WriteByte('\n')
		for _, c := range m.ToolCalls {
			remaining.Write(c.Args)
			remaining.WriteByte('\n')
		}
	}
	text := remaining.String()
	hidden := slices.DeleteFunc(slices.Clone(known), func(name string) bool { return strings.Contains(text, name) })
	if len(hidden) < minHidden {
		return ""
	}
	more := ""
	if over := len(hidden) - maxHidden; over > 0 {
		hidden, more = hidden[:maxHidden], fmt.Sprintf(" and %d more", over)
	}
	for i, name := range hidden {
		hidden[i] = shorten.Line(name, shorten.KeyChars)
	}
	return "[after compaction] You have worked with these before, though they are no longer shown: " + strings.Join(hidden,
		", ") + more
}

package main

import (
	"html"
	"os"
	"regexp"
	"strings"

	"github.com/charmbracelet/glamour"
)

// markup returns what shows Markdown on a screen of a width, or nil, with which the text is shown as it is. NO_COLOR is
// the convention of https://no-color.org.
func markup(width int) *glamour.TermRenderer {
	style := "dark"
	if os.Getenv("NO_COLOR") != "" {
		style = "notty"
	}
	r, err := glamour.NewTermRenderer(glamour.WithStandardStyle(style), glamour.WithWordWrap(min(width, 100)))
	if err != nil {
		return nil
	}
	return r
}

var (
	// In Markdown, &#27; is the character that begins the commands of a terminal, also as &amp;#27; in some places.
	references = regexp.MustCompile(`(?i)&(?:amp;)*#x?[0-9a-f]+;?`)
	// The library writes colours, and no other command.
	colours = regexp.MustCompile("\x1b\\[[0-9;]*m")
)

// rendered returns a text as its Markdown says, and whether that is possible. Commands in the text are dropped before,
// and those that a reference has become are dropped after it.
func (t *terminal) rendered(text string) (string, bool) {
	text = references.ReplaceAllStringFunc(clean(text), func(reference string) string {
		if clean(html.UnescapeString(strings.ReplaceAll(reference, "amp;", ""))) == "" {
			return ""
		}
		return reference
	})
	shown, err := t.markup.Render(text)
	var b strings.Builder
	last := 0
	for _, at := range colours.FindAllStringIndex(shown, -1) {
		b.WriteString(clean(shown[last:at[0]]))
		b.WriteString(shown[at[0]:at[1]])
		last = at[1]
	}
	b.WriteString(clean(shown[last:]))
	return strings.Trim(b.String(), "\n"), err == nil
}

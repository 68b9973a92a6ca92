package eventpage

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/hookgen/hookgen/internal/terminal"
)

// TestPageMarksWhatTerminalsEscape compares the expression in the script with the function for terminals.
func TestPageMarksWhatTerminalsEscape(t *testing.T) {
	_, rest, _ := strings.Cut(pageJS, "const invisible = /")
	script, _, found := strings.Cut(rest, "/gu;")
	if !found {
		t.Fatal("the script has no expression for invisible characters")
	}
	// Go has no class of this name. The characters of it that are missing here are of category Cf.
	var ignorable strings.Builder
	for r := range rune(unicode.MaxRune + 1) {
		if unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) {
			fmt.Fprintf(&ignorable, `\x{%x}`, r)
		}
	}
	expression := strings.ReplaceAll(script, `\p{Default_Ignorable_Code_Point}`, ignorable.String())
	expression = regexp.MustCompile(`\\u\{?([0-9A-F]+)\}?`).ReplaceAllString(expression, `\x{$1}`)
	invisible, err := regexp.Compile(expression)
	if err != nil {
		t.Fatal(err)
	}
	for r := range rune(unicode.MaxRune + 1) {
		if r >= 0xD800 && r < 0xE000 { // half of a pair is not a character
			continue
		}
		if marked := invisible.MatchString(string(r)); marked == terminal.IsVisible(r) {
			t.Errorf("the page marks %U: %v, and a terminal shows it: %v", r, marked, terminal.IsVisible(r))
		}
	}
}

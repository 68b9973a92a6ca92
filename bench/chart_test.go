package main

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

// read reads the text of a drawing, and fails the test if it is not well-formed.
func read(t *testing.T, svg string) []string {
	t.Helper()
	var words []string
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return words
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, svg)
		}
		if text, ok := token.(xml.CharData); ok && strings.TrimSpace(string(text)) != "" {
			words = append(words, string(text))
		}
	}
}

func TestChartIsWellFormedWhateverItsNames(t *testing.T) {
	hostile := `<b>&"'` + "`" + `</text>]]>`
	words := strings.Join(read(t, chart([]panel{{hostile, "ns", []bar{{hostile, 1, true}, {"other", 100, false}}}})), "\n")
	if strings.Count(words, hostile) != 2 {
		t.Errorf("%s", words)
	}
}

func TestChartWithoutDifferencesIsDrawn(t *testing.T) {
	for _, bars := range [][]bar{
		nil, {{"one", 5, true}}, {{"one", 5, true}, {"two", 5, false}}, {{"nothing", 0, true}, {"two", 5, false}},
	} {
		svg := chart([]panel{{"a", "ns", bars}})
		read(t, svg)
		for _, wrong := range []string{"NaN", "Inf", `width="-`} {
			if strings.Contains(svg, wrong) {
				t.Errorf("%v: %s in %s", bars, wrong, svg)
			}
		}
	}
}

func TestLargerFigureHasTheLongerBar(t *testing.T) {
	p := panel{bars: []bar{{"a", 10, false}, {"b", 20, false}, {"c", 1000, false}}}
	last := 0.0
	for _, w := range p.widths() {
		if w <= last || w > barRoom {
			t.Errorf("widths %v of at most %v", p.widths(), barRoom)
		}
		last = w
	}
}

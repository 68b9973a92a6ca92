package main

import (
	"strings"
	"testing"
)

const published = `Tides
The moon pulls harder than the sun.
-- the writer
[Tides: completed after 2 tool calls, "The moon pulls harder than the sun.\n-- the writer"]

[Rumours: completed after 0 tool calls, "Not published: 0 of 2 sources were read (newsroom.Sources)."]

[Weather: stop_requested after 3 tool calls, "Sorry, I couldn't complete that request."]

`

func TestOneArticleOfThreeIsPublished(t *testing.T) {
	var out strings.Builder
	if err := run(&out, false); err != nil {
		t.Fatal(err)
	}
	if out.String() != published {
		t.Errorf("got:\n%s\nwant:\n%s", &out, published)
	}
}

func TestExplainShowsThePointsOfBothPackages(t *testing.T) {
	var out strings.Builder
	if err := run(&out, true); err != nil {
		t.Fatal(err)
	}
	at := 0
	for _, want := range []string{
		"\nBeforeTool(", "repair.LoopDetector", "\nBeforeRunEnd(", "newsroom.Desk",
		"\nBeforePublish(", "1. newsroom.Sources", "2. newsroom.Byline", "\nOnPublished(",
	} {
		i := strings.Index(out.String()[at:], want)
		if i < 0 {
			t.Fatalf("no %q after the previous one:\n%s", want, &out)
		}
		at += i
	}
}

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/hookgen/hookgen/hookkit/hooklog"
	"github.com/hookgen/hookgen/hookkit/wire"
)

func TestLongTextsAreCut(t *testing.T) {
	forty := strings.Repeat("ä", 40)
	for _, c := range []struct{ name, text, visible, quoted string }{
		{"short", `a "b" \`, `a "b" \`, `"a \"b\" \\"`},
		{"hostile", "a\x1b[2J\xff", `a\x1b[2J\xff`, `"a\x1b[2J\xff"`},
		{"long", strings.Repeat("ä", 60), forty + "... (120 bytes)", `"` + forty + `... (120 bytes)"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := visible(c.text, 40); got != c.visible {
				t.Errorf("got %s, want %s", got, c.visible)
			}
			if got := quoted(c.text, 40); got != c.quoted {
				t.Errorf("quoted: got %s, want %s", got, c.quoted)
			}
		})
	}
}

func TestVisibleJSONKeepsItsMeaning(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"plain", `{"a":"ü\u001b"}`, `{"a":"ü\u001b"}`},
		{"C1 controls and overrides", "[\"\u009b2J\u202e\"]\n", `["\u009b2J\u202e"]` + "\n"},
		{"blanks between values", "{\t\"a\":\r1}", `{ "a": 1}`},
		{"tags", "\"\U000e0041\"", `"\udb40\udc41"`},
		{"bytes that are not UTF-8", "\"\xff\"", `"\ufffd"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := visibleJSON([]byte(c.text))
			if string(got) != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			var before, after any
			if err := errors.Join(json.Unmarshal([]byte(c.text), &before), json.Unmarshal(got, &after)); err != nil {
				t.Error(err)
			}
			if !reflect.DeepEqual(before, after) {
				t.Errorf("%q is now %q", before, after)
			}
		})
	}
}

// FuzzShow prints events that contain any text. Nothing in it may reach the terminal as a control or as an invisible
// character.
func FuzzShow(f *testing.F) {
	for _, s := range []string{
		"", "a", "\x1b[2J", "\u202e\u2066", "a\r\nb\tc", "\xff\xfe", "\u3164\ufe0f", `{"a":"b\nc"}`, `["\u001b[2J",1e99,{}]`,
		strings.Repeat("long ", 400), `{"Text":"` + strings.Repeat(`word\n`, 200) + `"}`, "\x00",
	} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, text, other string) {
		e := event(1)
		e.Payload, e.Final, e.Value = payload(text), payload(other), payload(text)
		e.Point, e.By, e.Site, e.Decision, e.Reason, e.Error, e.Spec = text, text, text, text, text, text, text
		e.Run = wire.RunInfo{ID: text, Parent: other, Root: text, Labels: map[string]string{text: other}}
		e.Ballots = []hooklog.Ballot{{By: text, Site: text, Decision: other, Reason: other}}
		e.Failures = []hooklog.Failure{{By: text, Site: text, Cause: other}}
		e.Collected = payload(other)
		var b bytes.Buffer
		p := newPrinter(&b, palette{}, true)
		p.print(e)
		if !utf8.Valid(b.Bytes()) {
			t.Errorf("the output is not UTF-8: %q", b.String())
		}
		for _, r := range b.String() {
			if r != '\n' && r != ' ' && unicode.In(r, unicode.C, unicode.Z, unicode.Bidi_Control, unicode.Variation_Selector,
				unicode.Other_Default_Ignorable_Code_Point) {
				t.Errorf("the output contains %U", r)
			}
		}
		if lines := strings.Count(b.String(), "\n"); lines > mostDiffLines+20 {
			t.Errorf("%d lines", lines)
		}
	})
}

// payload returns a text if it is JSON, and otherwise the text as a JSON string.
func payload(text string) json.RawMessage {
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return quoted
}

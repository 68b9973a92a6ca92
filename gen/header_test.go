package gen

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestHeaderIsReadAsItWasWritten(t *testing.T) {
	for name, want := range map[string]Origin{
		"nothing":     {},
		"source":      {Source: "example.com/post/mail"},
		"one parent":  {Source: "example.com/post/mail", Extends: []string{"example.com/agent"}},
		"two parents": {Source: "mail", Extends: []string{"example.com/agent", "example.com/v2"}},
	} {
		t.Run(name, func(t *testing.T) {
			text := HeaderFor(want.Source, want.Extends...) + "\n\n// Package p is p.\n// Source: elsewhere\npackage p\n\n" +
				"// Source: inside\n"
			for _, text := range []string{text, strings.ReplaceAll(text, "\n", "\r\n"), "\ufeff" + text,
				"// A license.\n// Source: there\n\n" + text} {
				got, generated := OriginOf([]byte(text))
				if diff := cmp.Diff(want, got); diff != "" || !generated {
					t.Errorf("generated: %v, want -, got +:\n%s\n%s", generated, diff, text)
				}
			}
		})
	}
}

func TestFileWithoutHeaderHasNoOrigin(t *testing.T) {
	for _, text := range []string{"", "package p\n", "package p\n\n" + HeaderFor("x") + "\n", "x " + Header,
		"// Source: x\n\npackage p\n"} {
		if origin, generated := OriginOf([]byte(text)); generated || origin.Source != "" {
			t.Errorf("%q: %+v, %v", text, origin, generated)
		}
	}
}

// The names of these directories contain characters that could end a comment.
func TestHeaderStaysOnItsLines(t *testing.T) {
	s := mustRead(t, oneSpec)
	for _, source := range []string{"a\npackage evil", "a\r\nb", "a\u2028b", "a\x00b", "a\u200bb"} {
		t.Run(fmt.Sprintf("%q", source), func(t *testing.T) {
			text, err := Emit(s, Output{Package: "p", Source: source})
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.SplitN(string(text), "\n", 4)
			if lines[0] != Header || !strings.HasPrefix(lines[1], "// Source: a_") || lines[2] != "" {
				t.Errorf("%q makes %q", source, lines[:3])
			}
		})
	}
}

func TestHeaderNamesTheParents(t *testing.T) {
	s := mustRead(t, "package p\n\nimport (\n\t\"example.com/agent\"\n\tother \"example.com/more\"\n)\n\n"+
		"//hookgen:points\ntype Points interface {\n\tagent.Points\n\tother.Points\n\tOnStart(int)\n}\n")
	text, err := Emit(s, Output{Package: "p", Source: "example.com/p"})
	if err != nil {
		t.Fatal(err)
	}
	want := Origin{Source: "example.com/p", Extends: []string{"example.com/agent", "example.com/more"}}
	if got, _ := OriginOf(text); cmp.Diff(want, got) != "" {
		t.Errorf("%+v", got)
	}
}

func TestHeaderMustBeginALine(t *testing.T) {
	if Generated([]byte("x " + Header)) {
		t.Error("it is taken for one")
	}
}

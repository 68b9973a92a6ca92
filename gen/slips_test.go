package gen

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// What names the tool and has a colon, or is like points, is taken for a slip; prose and long lines are not.
func TestProseIsNoDirective(t *testing.T) {
	slip := func(blanks int) string { return "//" + strings.Repeat(" ", blanks) + "hookgne:points" }
	for text, want := range map[string]bool{
		"// hookgen tool": false, "// hookgen: tool": false, "// hookgen:tool": true, "// hookgen: points": true, "// hookgen point": true,
		"/* hookgen:tool */": true, "/* hookgen tool */": false,
		slip(60 - 16): true, slip(61 - 16): false,
	} {
		if _, got := directiveOf(&ast.Comment{Text: text}); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestOnePlaceIsSaidOnceWhereverALineDirectivePutsIt(t *testing.T) {
	at := func(offset, column int) Diagnostic {
		return Diagnostic{token.Position{Filename: "x.go", Offset: offset, Line: 1, Column: column}, "message", "rule"}
	}
	if got := (Diagnostics{at(9, 2), at(7, 1), at(5, 1)}).sorted(); len(got) != 2 || got[0].Pos.Column != 1 || got[1].Pos.Column != 2 {
		t.Errorf("got %v", got)
	}
}

func TestMorePackageNames(t *testing.T) {
	for path, want := range map[string][]string{"/x": {"x"}, "x": {"x"}, "example.com/x/v0": {"v0"}, "example.com/x/v10": {"x", "v10"}, "x/v2": {"x", "v2"}} {
		if got := packageNames(path); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", path, got, want)
		}
	}
}

func TestImportsBehindOthersCount(t *testing.T) {
	s := mustRead(t, `package p

import (
	_ "example.com/blank"
	x "example.com/a"
	"example.com/x/v2"
	"time"
)

//hookgen:points
type Points interface {
	OnOne(x.T)
	OnTwo(v2.T)
	OnThree(time.Time)
}
`)
	var got []string
	for _, i := range s.Imports {
		got = append(got, i.Name+" "+i.Path)
	}
	if want := []string{"x example.com/a", "v2 example.com/x/v2", "time time"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestNearAtItsBounds(t *testing.T) {
	if d := distance("ba", "ab"); d != 1 {
		t.Errorf("two letters swapped are %d edits", d)
	}
	long := strings.Repeat("x", longestNear-1)
	for _, c := range []struct{ name, candidate, want string }{
		{long + "a", long + "b", long + "b"}, {long + "ab", long + "b", ""}, {long + "a", long + "ab", ""},
	} {
		if got := Near(c.name, []string{c.candidate}); got != c.want {
			t.Errorf("%d letters, and %d: %q", len(c.name), len(c.candidate), got)
		}
	}
	if got := Near("replace", []string{"Replace", "REPLACE", "replac"}); got != "Replace" {
		t.Errorf("of those that are equal but for case the first does not count: %s", got)
	}
	many := make([]string, mostNear+1)
	many[mostNear] = "Replace"
	if got := Near("Replce", many); got != "" {
		t.Errorf("the thousand and first is compared: %s", got)
	}
	if got := Near("Replce", many[1:]); got != "Replace" {
		t.Errorf("the thousandth is not compared: %s", got)
	}
}

package gen

import (
	"encoding/json"
	"go/token"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDiagnosticsAreSortedAndUnique(t *testing.T) {
	at := func(file string, line, col int) Diagnostic {
		return Diagnostic{Pos: token.Position{Filename: file, Line: line, Column: col}, Message: "wrong: right", Rule: "rule"}
	}
	got := Diagnostics{at("b.go", 1, 1), at("a.go", 10, 2), at("a.go", 9, 7), at("a.go", 9, 3), at("a.go", 9, 3),
		{Pos: token.Position{Filename: "."}, Message: "m", Rule: "r"}}.sorted()
	want := ".: m (r)\n" +
		"a.go:9:3: wrong: right (rule)\na.go:9:7: wrong: right (rule)\na.go:10:2: wrong: right (rule)\nb.go:1:1: wrong: " +
		"right (rule)"
	if diff := cmp.Diff(want, got.Error()); diff != "" {
		t.Error(diff)
	}
}

func TestDiagnosticsAsJSON(t *testing.T) {
	text, err := Diagnostics{{Pos: token.Position{Filename: "a.go", Line: 2, Column: 3}, Message: "<wrong>: \"right\"",
		Rule: "rule"}}.JSON()
	if err != nil {
		t.Fatal(err)
	}
	var got []struct {
		File          string
		Line, Col     int
		Message, Rule string
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || got[0].File != "a.go" || got[0].Line != 2 || got[0].Col != 3 || got[0].Message != "<wrong>: "+
		"\"right\"" || got[0].Rule != "rule" {
		t.Errorf("got %+v", got)
	}
	if none, _ := Diagnostics(nil).JSON(); string(none) != "[]\n" {
		t.Errorf("none is %q", none)
	}
}

// wholeFile are the rules about whole files and directories. Their diagnostics have no line.
var wholeFile = []string{ruleNoSpec, ruleSize, ruleNotRead, RuleIO}

// incomplete returns the part that a diagnostic lacks: its position, its rule, the message or the remedy. It returns ""
// if the diagnostic is complete.
func incomplete(d Diagnostic) string {
	listed := slices.ContainsFunc(Rules(), func(r Rule) bool { return r.ID == d.Rule })
	problem, remedy, _ := strings.Cut(d.Message, ": ")
	switch {
	case d.Pos.Filename == "":
		return "no file"
	case !slices.Contains(wholeFile, d.Rule) && d.Rule != ruleSyntax && (d.Pos.Line < 1 || d.Pos.Column < 1):
		return "no line" // a line directive can take the column from an error of the parser
	case !listed && !slices.Contains(wholeFile, d.Rule):
		return "no known rule"
	case problem == "":
		return "no problem"
	case remedy == "" && !strings.Contains(d.Message, "did you mean"):
		return "no remedy"
	}
	return ""
}

func TestIncompleteDiagnosticsAreFound(t *testing.T) {
	good := Diagnostic{Pos: token.Position{Filename: "a.go", Line: 2, Column: 3}, Message: "wrong: do right",
		Rule: "syntax"}
	for want, change := range map[string]func(*Diagnostic){
		"":              func(d *Diagnostic) {},
		"no file":       func(d *Diagnostic) { d.Pos.Filename = "" },
		"no line":       func(d *Diagnostic) { d.Pos.Line, d.Rule = 0, "cgo" },
		"no known rule": func(d *Diagnostic) { d.Rule = "cgoo" },
		"no problem":    func(d *Diagnostic) { d.Message = "" },
		"no remedy":     func(d *Diagnostic) { d.Message = "wrong" },
	} {
		t.Run(want, func(t *testing.T) {
			d := good
			change(&d)
			if got := incomplete(d); got != want {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestDuplicatesUnderLineDirectivesAreRemoved(t *testing.T) {
	at := func(offset, column int) Diagnostic {
		return Diagnostic{token.Position{Filename: "x.go", Offset: offset, Line: 1, Column: column}, "message", "rule"}
	}
	if got := (Diagnostics{at(9, 2), at(7, 1), at(5, 1)}).sorted(); len(got) != 2 || got[0].Pos.Column != 1 ||
		got[1].Pos.Column != 2 {
		t.Errorf("got %v", got)
	}
}

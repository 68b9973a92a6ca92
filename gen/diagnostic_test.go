package gen

import (
	"encoding/json"
	"go/token"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDiagnosticsAreSortedAndSaidOnce(t *testing.T) {
	at := func(file string, line, col int) Diagnostic {
		return Diagnostic{Pos: token.Position{Filename: file, Line: line, Column: col}, Message: "wrong: right", Rule: "rule"}
	}
	got := Diagnostics{at("b.go", 1, 1), at("a.go", 10, 2), at("a.go", 9, 7), at("a.go", 9, 3), at("a.go", 9, 3), {Pos: token.Position{Filename: "."}, Message: "m", Rule: "r"}}.sorted()
	want := ".: m (r)\n" +
		"a.go:9:3: wrong: right (rule)\na.go:9:7: wrong: right (rule)\na.go:10:2: wrong: right (rule)\nb.go:1:1: wrong: right (rule)"
	if diff := cmp.Diff(want, got.Error()); diff != "" {
		t.Error(diff)
	}
}

func TestDiagnosticsAsJSON(t *testing.T) {
	text, err := Diagnostics{{Pos: token.Position{Filename: "a.go", Line: 2, Column: 3}, Message: "<wrong>: \"right\"", Rule: "rule"}}.JSON()
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
	if len(got) != 1 || got[0].File != "a.go" || got[0].Line != 2 || got[0].Col != 3 || got[0].Message != "<wrong>: \"right\"" || got[0].Rule != "rule" {
		t.Errorf("got %+v", got)
	}
	if none, _ := Diagnostics(nil).JSON(); string(none) != "[]\n" {
		t.Errorf("none is %q", none)
	}
}

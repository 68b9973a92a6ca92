package gen

import (
	"bytes"
	"go/format"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"
)

// FuzzEmit puts any text in the places of a spec that hold text: what is made parses, is as gofmt has it, and its
// code does not depend on what comments say.
func FuzzEmit(f *testing.F) {
	f.Add("On fires.", "json:\"x\"", "item", "Item", "(spec.Replace, Stop, spec.FailClosed)")
	f.Add("*/ package evil\n//go:embed x\n+build x\n`", "`", "ctx", "map[string]func(int) <-chan Item", "spec.Around[[]Item]")
	f.Add("# Heading\n\n  - list\n\n\tcode\n\n[x]: y", "\n//hookgen:section\n", "_", "struct{ A int `x` }", "(spec.Vote, Stop, spec.Collect[string], spec.FailOpen)")
	f.Add("HookgenPoint hookgenParam HookgenPayload", "\x00", "hookgenParam", "HookgenPayload", "(spec.Collect[HookgenCollected], spec.FailOpen)")
	f.Fuzz(func(t *testing.T, doc, tag, param, payload, results string) {
		read := func(doc string) (s *Spec) {
			comment := ""
			for line := range strings.Lines(doc) {
				comment += "// " + strings.TrimRight(line, "\r\n") + "\n"
			}
			text := []byte(comment + specOf(comment+"On("+param+" "+payload+") "+results,
				comment+"type Item struct { A int }\n"+comment+"const Max = 1\n"+comment+"type Stop struct {\n"+comment+"Reason string "+strconv.Quote(tag)+"\n}\n"+
					"type HookgenPayload int\ntype HookgenCollected int\n"))
			s, _ = read("dir", []source{{"spec.go", "dir/spec.go", text, int64(len(text))}}, noTests)
			return s
		}
		for _, to := range []Output{{Package: "p"}, {Package: "out", SpecPath: "example.org/p"}} {
			emit := func(doc string) []byte {
				s := read(doc)
				if s == nil || len(CheckOutput(s, to)) > 0 {
					return nil
				}
				out, err := Emit(s, to)
				if err != nil {
					t.Fatal(err)
				}
				return out
			}
			with, without := emit(doc), emit("")
			if with == nil || without == nil {
				continue
			}
			if formatted, err := format.Source(with); err != nil || !bytes.Equal(formatted, with) {
				t.Errorf("not as gofmt has it (%v):\n%s", err, with)
			}
			if a, b := withoutComments(t, with), withoutComments(t, without); a != b {
				t.Errorf("its comments change what a spec makes:\n%s", with)
			}
		}
	})
}

// withoutComments returns the code of a Go file.
func withoutComments(t *testing.T, text []byte) string {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	for _, d := range file.Decls {
		if err := format.Node(&b, token.NewFileSet(), d); err != nil {
			t.Fatal(err)
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

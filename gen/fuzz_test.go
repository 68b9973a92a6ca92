package gen

import (
	"bytes"
	"go/format"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// FuzzRead reads any spec together with any other file. The result is a spec or useful diagnostics. It is the same on
// every run, and for both kinds of line ends.
func FuzzRead(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, spec, beside []byte) {
		read := func(spec []byte) (*Spec, Diagnostics) {
			s, found := read("dir", []source{
				{"beside.go", "dir/beside.go", beside, int64(len(beside))},
				{"spec.go", "dir/spec.go", spec, int64(len(spec))},
			})
			return s, found.sorted()
		}
		s, found := read(spec)
		if (s == nil) == (len(found) == 0) {
			t.Fatalf("a spec %v beside findings %v", s != nil, found)
		}
		lines := bytes.Count(spec, []byte("\n")) + bytes.Count(beside, []byte("\n")) + 1
		for _, d := range found {
			if wrong := incomplete(d); wrong != "" {
				t.Errorf("%s: %+v", wrong, d)
			}
			if strings.Contains(d.Message, "%!") && !bytes.Contains(spec, []byte("%!")) &&
				!bytes.Contains(beside, []byte("%!")) {
				t.Errorf("misprinted: %v", d)
			}
			if d.Rule != ruleSyntax && d.Pos.Line > lines { // the parser heeds line directives
				t.Errorf("outside of the files: %v", d)
			}
		}
		if _, again := read(spec); again.Error() != found.Error() {
			t.Errorf("once:\n%v\nagain:\n%v", found, again)
		}
		if s != nil {
			if len(s.Points) == 0 && len(s.Parents) < 2 || s.Interface == nil || s.File != "dir/spec.go" &&
				s.File != "dir/beside.go" {
				t.Errorf("an empty spec: %+v", s)
			}
			CheckOutput(s, Output{Package: s.Package})
			CheckOutput(s, Output{Package: "out", SpecPath: "example.com/p"})
		}
		if windows, ok := withCRLF(spec); ok {
			if _, other := read(windows); places(other) != places(found) {
				t.Errorf("with other line ends:\n%v\ninstead of:\n%v", other, found)
			}
		}
	})
}

// seed adds the inputs that two of the targets share: every law, every wrong spec, and unusual specs.
func seed(f *testing.F) {
	f.Add([]byte(everyLaw), []byte("package p\n\ntype Other[T any] struct{}\n"))
	f.Add([]byte("//hookgen:points"), []byte(""))
	f.Add([]byte("package p\n//hookgen:points\ntype _ interface{ A; ~B|C; (D); *E; F[G, H]; spec.Env[I]; j.Points }"),
		[]byte("package p;type A=B;type B=A"))
	f.Add([]byte("package p\n//hookgen:points\ntype P interface{ A(B|C) (D|E) }\ntype B = struct{ X B; Y B }"),
		[]byte("package p\nfunc (D) M() {}"))
	f.Add([]byte("\"\n/*Hookgen:A"), []byte("0"))
	archives, err := filepath.Glob("testdata/wrong/*.txtar")
	if err != nil || len(archives) == 0 {
		f.Fatal("no wrong specs to begin with", err)
	}
	for _, name := range archives {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range archive.Files {
			if strings.HasSuffix(file.Name, "/spec.go") {
				f.Add(file.Data, []byte("package p\n"))
			}
		}
	}
}

// FuzzGenerate generates code for every accepted spec, in both modes. The code parses, and is the same on every run.
func FuzzGenerate(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, spec, beside []byte) {
		sources := []source{
			{"beside.go", "dir/beside.go", beside, int64(len(beside))},
			{"spec.go", "dir/spec.go", spec, int64(len(spec))},
		}
		for _, path := range []string{"", "example.com/p"} {
			var first []byte
			for range 2 {
				s, _ := read("dir", sources)
				if s == nil {
					return
				}
				to := Output{Package: s.Package, SpecPath: path}
				if path != "" {
					to.Package = "out"
				}
				if len(CheckOutput(s, to)) > 0 {
					break
				}
				text, err := Emit(s, to)
				if err != nil {
					t.Fatal(err)
				}
				if first != nil && !bytes.Equal(first, text) {
					t.Errorf("once:\n%s\nagain:\n%s", first, text)
				}
				if formatted, err := format.Source(text); err != nil || !bytes.Equal(formatted, text) {
					t.Errorf("not as gofmt has it (%v):\n%s", err, text)
				}
				if !Generated(text) {
					t.Errorf("without its header:\n%s", text)
				}
				first = text
			}
		}
	})
}

// places are the diagnostics without the columns of the parser, which counts a carriage return at the end of a
// file.
func places(found Diagnostics) string {
	all := slices.Clone(found)
	for i := range all {
		if all[i].Rule == ruleSyntax {
			all[i].Pos.Column = 0
		}
	}
	return all.Error()
}

// withCRLF converts line ends to CRLF. It reports false if that would change the meaning, for example in a raw string,
// in a line directive or after a lone carriage return.
func withCRLF(text []byte) ([]byte, bool) {
	if bytes.ContainsAny(text, "\r`") || bytes.Contains(text, []byte("line ")) {
		return nil, false
	}
	return bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n")), true
}

// FuzzEmit puts arbitrary text into comments, tags and names. The generated code parses, is gofmt-clean, and does not
// depend on the comments.
func FuzzEmit(f *testing.F) {
	f.Add("On fires.", "json:\"x\"", "item", "Item", "(spec.Replace, Stop, spec.FailClosed)")
	f.Add("*/ package evil\n//go:embed x\n+build x\n`", "`", "ctx",
		"map[string]func(int) <-chan Item", "spec.Around[[]Item]")
	f.Add("# Heading\n\n  - list\n\n\tcode\n\n[x]: y", "\n//hookgen:section\n", "_",
		"struct{ A int `x` }", "(spec.Vote, Stop, spec.Collect[string], spec.FailOpen)")
	f.Add("HookgenPoint hookgenParam HookgenPayload", "\x00", "hookgenParam",
		"HookgenPayload", "(spec.Collect[HookgenCollected], spec.FailOpen)")
	f.Fuzz(func(t *testing.T, doc, tag, param, payload, results string) {
		read := func(doc string) (s *Spec) {
			comment := ""
			for line := range strings.Lines(doc) {
				comment += "// " + strings.TrimRight(line, "\r\n") + "\n"
			}
			text := []byte(comment + specOf(comment+"On("+param+" "+payload+") "+results,
				comment+"type Item struct { A int }\n"+comment+"const Max = 1\n"+
					comment+"type Stop struct {\n"+comment+"Reason string "+strconv.Quote(tag)+"\n}\n"+
					"type HookgenPayload int\ntype HookgenCollected int\n"))
			s, _ = read("dir", []source{{"spec.go", "dir/spec.go", text, int64(len(text))}})
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

// withoutComments returns Go code without its comments.
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

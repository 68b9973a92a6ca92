package gen

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestHostileFilesAreAnsweredSoon reads files made to be slow to judge: long lists of whatever is compared with
// whatever else. The bound is far above what they take, and far below what work that grows with the square of
// the file would.
func TestHostileFilesAreAnsweredSoon(t *testing.T) {
	many := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, strings.ReplaceAll(format, "#", "%[1]d"), i)
		}
		return b.String()
	}
	in := func(body, decls string) string {
		return "package p\n\nimport \"github.com/hookgen/hookgen/spec\"\n\n//hookgen:points\ntype Points interface {\n" + body + "}\n" + decls
	}
	for name, text := range map[string]string{
		"policies":          in("A(int) ("+strings.Repeat("spec.FailClosed, ", 10_000)+")\n", ""),
		"undeclared exits":  in(many(8_000, "Point#(int) (Undeclared#, spec.FailClosed)\n"), many(6_000, "type Exit# struct{}\n")),
		"undeclared groups": in(many(12_000, "Group#\n"), many(8_000, "type Other# interface{}\n")),
		"qualifiers":        in(many(12_000, "Point#(pkg#.T)\n"), ""),
		"imports":           "package p\n" + many(15_000, "import \"example.com/a#\"\n") + "//hookgen:points\ntype Points interface{\n" + many(15_000, "Point#(b#.T)\n") + "}\n",
		"used imports":      "package p\n" + many(10_000, "import \"example.com/a#\"\n") + "//hookgen:points\ntype Points interface{\n" + many(10_000, "Point#(a#.T)\n") + "}\n",
		"directives":        strings.Repeat("//hookgen:points\n", 100_000) + "package p\n" + many(15_000, "type T# struct{}\n"),
		"points":            in(many(15_000, "Point#(int)\n"), ""),
		"one point":         in(strings.Repeat("Point(int)\n", 50_000), ""),
		"exits":             in(many(6_000, "Point#(int) (Exit#, spec.FailClosed)\n"), many(6_000, "type Exit# struct{ A Exit# }\nfunc (Exit#) M() {}\n")),
		"groups in groups":  in("G0\n", many(12_000, "type G# interface{ G1#; G2# }\n")),
		"nested types":      in("A("+strings.Repeat("[]", 50_000)+"int)\n", ""),
		"nested too deep":   in("A("+strings.Repeat("[]", 500_000)+"int)\n", ""),
		"doubling aliases":  in("A(M) (spec.Edit[T0], spec.FailClosed)\n", "type M struct{ F T1 }\n"+many(1000, "type T# = struct{ A, B T1# }\n")+aliases(40)),
		"unions":            in(many(12_000, "Point#(int) (A | B)\n"), ""),
		"long names":        in(many(200, "P"+strings.Repeat("x", 10_000)+"#(int) (Y"+strings.Repeat("y", 5_000)+"#)\n"), ""),
		"sum":               in("A(["+strings.Repeat("1+", 50_000)+"1]int)\n", ""),
		"structs":           in("A("+strings.Repeat("struct{ A ", 20_000)+"int"+strings.Repeat("}", 20_000)+")\n", ""),
		"wide struct":       in("A(struct{"+many(20_000, "A# int;")+"})\n", ""),
		"edits":             in(many(5_000, "Point#(M) (spec.Edit[T], spec.FailOpen)\n"), "type T string\ntype M struct{ X T;"+many(900, "A# int;")+"}\n"),
		"edits of many":     in(many(5_000, "Point#(M) (spec.Edit[T], spec.FailOpen)\n"), "type T string\ntype M struct{ X T;"+many(10_000, "A# int;")+"}\n"),
		"long arguments":    in("A("+strings.Repeat("Box[-", 20_000)+"1"+strings.Repeat("]", 20_000)+")\n", ""),
		"braces":            in(strings.Repeat("A(interface{", 10_000), ""),
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			s, found := readFiles(map[string]string{"spec.go": text})
			if s != nil {
				CheckOutput(s, Output{Package: "p"})
				CheckOutput(s, Output{Package: "out", SpecPath: "example.com/p"})
			}
			if name != "points" && name != "edits" && len(found) == 0 {
				t.Error("nothing is wrong with it")
			}
			if took := time.Since(start); took > patience {
				t.Errorf("%d bytes took %v", len(text), took)
			} else {
				t.Logf("%d bytes took %v, %d findings", len(text), took, len(found))
			}
		})
	}
}

// aliases declares aliases each of which holds the next one twice.
func aliases(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "type T%d = struct{ A, B T%d }\n", i, i+1)
	}
	return b.String()
}

// patience is far beyond the time that any of these files takes on a slow machine, and far below that of a reader whose
// time is quadratic in the length of the file.
const patience = time.Minute

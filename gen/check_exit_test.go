package gen

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestExitsMayEmbedPlainStructs reads exits that share fields with others.
func TestExitsMayEmbedPlainStructs(t *testing.T) {
	for name, c := range map[string]struct{ exit, note, other string }{
		"same file":    {"Note", "type Note struct{ Reason string }", ""},
		"another file": {"Note", "", "type Note struct{ Reason string }"},
		"empty":        {"Note", "type Note struct{}", ""},
		"with a field": {"Note; Code int", "type Note struct{ Reason string }", ""},
		"two":          {"Note; More", "type Note struct{ Reason string }", "type More struct{ Reason string }"},
		"nested": {"Note", "type Note struct{ Base }",
			"type Base struct{ Deep }\n\ntype Deep struct{ Reason string }"},
		"alias":           {"Note", "type Note = Base", "type Base struct{ Reason string }"},
		"alias of struct": {"Note", "type Note = struct{ Reason string }", ""},
		"with a tag":      {"Note `json:\"note\"`", "type Note struct{ Reason string }", ""},
		"methods of held": {"Note", "type Note struct{ Text Text }",
			"type Text string\n\nfunc (Text) String() string { return \"\" }"},
		"local method": {"Note", "type Note struct{ Reason string }",
			"func f() { type Note int }\n\nfunc (Other) Note() {}\n\ntype Other int"},
	} {
		t.Run(name, func(t *testing.T) {
			s, found := readFiles(map[string]string{
				"spec.go": specOf("On(int) (Deny, Other1, spec.FailOpen)", "type Deny struct{ "+c.exit+" }\n\n"+
					"type Other1 struct{ Note }\n\n"+c.note+"\n"),
				"other.go": "package p\n\n" + c.other + "\n",
			})
			if len(found) > 0 {
				t.Fatal(found)
			}
			field := s.Exits[0].Fields[0]
			if field.Name != "Note" || !field.Embedded {
				t.Errorf("the first field is %+v", field)
			}
			for _, to := range []Output{{Package: "p"}, {Package: "out", SpecPath: "example.com/p"}} {
				if found := CheckOutput(s, to); len(found) > 0 {
					t.Error(found)
				}
				if _, err := Emit(s, to); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// There are more paths through these embedded structs than can be tried one by one.
func TestEmbeddedStructsAreCheckedQuickly(t *testing.T) {
	const deep = 10_000
	var b strings.Builder
	for i := range deep {
		fmt.Fprintf(&b, "type N%d struct{ N%d; N%d }\n", i, i+1, i+2)
	}
	fmt.Fprintf(&b, "type N%d struct{ by int }\ntype N%d struct{ error }\n", deep, deep+1)
	text := specOf("On(int) ("+many(1_000, "X#, ")+"spec.FailOpen)", many(1_000, "type X# struct{ N0 }\n")+b.String())
	start := time.Now()
	if _, found := readFiles(map[string]string{"spec.go": text}); len(found) != 1_001 {
		t.Errorf("%d findings: %.1000v", len(found), found)
	}
	if took := time.Since(start); took > patience {
		t.Errorf("it took %v", took)
	}
}

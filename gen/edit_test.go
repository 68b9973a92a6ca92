package gen

import (
	"fmt"
	"strings"
	"testing"
)

// An Edit finds its field by the type, an embedded one too, however it is written.
func TestEditFindsItsField(t *testing.T) {
	for edit, want := range map[string]string{
		"*Note": "Note", "time.Time": "Time", "*url.URL": "URL", "Box[byte]": "Box", "[]Box[Key]": "Keys",
		"[2 * Width]int": "Pairs",
		"[b.c.d]int":     "Odd", "struct{ Note; A int }": "Struct", "Alias": "Own", "Pair[byte, Note]": "Pair",
		"*Pair[Note, byte]": "Pair",
	} {
		t.Run(edit, func(t *testing.T) {
			decls := `
type Call struct {
	*Note
	time.Time
	*url.URL
	Box[uint8]
	Keys   []Box[string]
	Other  []Box[int]
	Pairs  [2 * Width]int
	Fours  [4 * Width]int
	Odd    [b.c.d]int
	Even   [b.c.e]int
	Struct struct{ Note; A int }
	Inner  struct{ Call; A int }
	Own    Alias
`
			if strings.Contains(edit, "*Pair") {
				decls += "\t*Pair[Note, byte]\n"
			} else {
				decls += "\tPair[byte, Note]\n"
			}
			decls += "}\n\ntype Note string\n\ntype Box[T any] struct{ V T }\n\ntype Pair[A, B any] struct{ A A; " +
				"B B }\n\ntype Key = string\n\ntype Alias = float64\n\nconst Width = 1\n\nvar b struct{ c struct{ d [2]int; " +
				"e [3]int } }\n"
			s := mustRead(t, "package p\n\nimport (\n\t\"net/url\"\n\t\"time\"\n\n"+
				"\t\"github.com/hookgen/hookgen/spec\"\n)\n\n"+
				"//hookgen:points\ntype Points interface {\n\tOnCall(Call) (spec.Edit["+edit+"], spec.FailOpen)\n}\n"+decls)
			if got := s.Points[0].EditField; got != want {
				t.Errorf("Edit[%s] is about %q, want %q", edit, got, want)
			}
		})
	}
}

// Longer types are not compared.
func TestOverlongTypesMatchNoField(t *testing.T) {
	for n, fits := range map[int]bool{1<<14 - 1: true, 1 << 14: false} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			long := strings.Repeat("L", n)
			_, found := readFiles(map[string]string{"spec.go": "package p\n\nimport \"github.com/hookgen/hookgen/spec\"\n\n" +
				"//hookgen:points\ntype Points interface {\n\tOnCall(Call) (spec.Edit[" + long + "], spec.FailOpen)\n}\n\n" +
				"type Call struct{ A " + long + " }\n\ntype " + long + " string\n"})
			if fits != (len(found) == 0) {
				t.Errorf("%d letters: %.300v", n, found)
			}
		})
	}
	doubling := aliases(40) + "type T40 string\n"
	_, found := readFiles(map[string]string{"spec.go": "package p\n\nimport \"github.com/hookgen/hookgen/spec\"\n\n" +
		"//hookgen:points\ntype Points interface {\n\tOnCall(Call) (spec.Edit[T0], spec.FailOpen)\n}\n\n" +
		"type Call struct{ A T0 }\n" + doubling})
	if len(found) != 1 || found[0].Rule != "edit-field" {
		t.Errorf("aliases of aliases: %v", found)
	}
}

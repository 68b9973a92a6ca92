package gen

import (
	"fmt"
	"strings"
	"testing"
)

// editSpec is the beginning of a spec whose point may edit a field of Call, with %s as the type of that field.
const editSpec = `package p

import (
	"net/url"
	"time"

	"github.com/hookgen/hookgen/spec"
)

//hookgen:points
type Points interface {
	OnCall(Call) (spec.Edit[%s], spec.FailOpen)
}
`

// editTypes are declarations for the fields of Call.
const editTypes = `
type (
	Note        string
	Box[T any]  struct{ V T }
	Pair[A, B any] struct{ A A; B B }
	Key         = string
	Alias       = float64
)

const Width = 1

var b struct{ c struct{ d [2]int; e [3]int } }
`

// An Edit finds its field by the type, an embedded one too, however it is written.
func TestEditFindsItsField(t *testing.T) {
	for edit, want := range map[string]string{
		"*Note": "Note", "time.Time": "Time", "*url.URL": "URL", "Box[byte]": "Box", "[]Box[Key]": "Keys",
		"[2 * Width]int": "Pairs",
		"[b.c.d]int":     "Odd", "struct{ Note; A int }": "Struct", "Alias": "Own", "Pair[byte, Note]": "Pair",
		"*Pair[Note, byte]": "Pair",
	} {
		t.Run(edit, func(t *testing.T) {
			pair := "Pair[byte, Note]"
			if strings.Contains(edit, "*Pair") {
				pair = "*Pair[Note, byte]"
			}
			s := mustRead(t, fmt.Sprintf(editSpec, edit)+`
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
	`+pair+`
}
`+editTypes)
			if got := s.Points[0].EditField; got != want {
				t.Errorf("Edit[%s] is about %q, want %q", edit, got, want)
			}
		})
	}
}

// overlongSpec has a point that may edit a field of the type %[1]s.
const overlongSpec = `package p

import "github.com/hookgen/hookgen/spec"

//hookgen:points
type Points interface {
	OnCall(Call) (spec.Edit[%[1]s], spec.FailOpen)
}

type Call struct{ A %[1]s }

`

// Longer types are not compared.
func TestOverlongTypesMatchNoField(t *testing.T) {
	for n, fits := range map[int]bool{1<<14 - 1: true, 1 << 14: false} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			long := strings.Repeat("L", n)
			_, found := readFiles(map[string]string{"spec.go": fmt.Sprintf(overlongSpec, long) + "type " + long + " string\n"})
			if fits != (len(found) == 0) {
				t.Errorf("%d letters: %.300v", n, found)
			}
		})
	}
	doubling := aliases(40) + "type T40 string\n"
	_, found := readFiles(map[string]string{"spec.go": fmt.Sprintf(overlongSpec, "T0") + doubling})
	if len(found) != 1 || found[0].Rule != "edit-field" {
		t.Errorf("aliases of aliases: %v", found)
	}
}

package skew

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/hookkit/wire"
)

// TestHostileShapes: a service describes tens of thousands of fields, or a type that is a text of 500,000 characters,
// and its reply makes the program look at them again and again. With a search in each key, this test takes an hour.
func TestHostileShapes(t *testing.T) {
	const many = 50_000
	here := shapeOf[oldPart]("Replace, FailClosed")
	there := shapeOf[oldPart]("Replace, FailClosed")
	fields := there.Objects[strings.Trim(there.Payload, "{}")]
	var value strings.Builder
	value.WriteString(`{"Name":"b","X":[0` + strings.Repeat(",0", many) + "]")
	for n := range many {
		fields[fmt.Sprint("a", n)] = "int"
		fmt.Fprintf(&value, `,"b%d":0`, n)
	}
	value.WriteString("}")
	fields["X"] = "[]" + strings.Repeat("*", 10*many) + "{A}"
	there.Objects["A"] = map[string]string{}
	for n := range 3 * many { // more types than are read
		there.Objects[fmt.Sprint("o", n)] = map[string]string{"F": "[]*" + strings.Repeat("map[", 3)}
	}
	if found := Differences(here, there); len(found) > 0 {
		t.Errorf("fields that the program lacks are differences: %q", found)
	}
	reply := wire.Reply{Decision: wire.Replace, Value: []byte(value.String())}
	r, err := Complete(reply, TypesOf(here), TypesOf(there), []byte(`{"Name":"a"}`))
	if err != nil || !strings.Contains(string(r.Value), `"Name":"b"`) {
		t.Errorf("%.100s, %v", r.Value, err)
	}
}

func TestFieldsAreFoundInAnotherCase(t *testing.T) {
	object := func(fields ...string) *typ {
		o := map[string]string{}
		for _, name := range fields {
			o[name] = "int"
		}
		return typesOf(&wire.Shape{Objects: map[string]map[string]string{"o": o}}).typ("{o}")
	}
	names := []string{"Name", "NAME", "ſtrange", "K", "Straße", "ΣΑΣ", "a\u0345"}
	keys := append([]string{"name", "Strange", "\u212a", "STRASSE", "straße", "σας", "A\u0399", ""}, names...)
	for _, name := range names {
		for _, key := range keys {
			found, ok := object(name).find(key)
			if want := strings.EqualFold(name, key); ok != want || want && found != name || !want && found != key {
				t.Errorf("the field %q for the key %q: %q %v, want %v", name, key, found, ok, want)
			}
		}
	}
	both := object("Id", "ID")
	for key, want := range map[string]string{"ID": "ID", "Id": "Id", "id": "ID"} {
		if got, ok := both.find(key); !ok || got != want {
			t.Errorf("the field for the key %q is %q, want %q", key, got, want)
		}
	}
}

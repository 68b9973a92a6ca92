package strictjson

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"
)

type (
	text   string
	inner  struct{ Name, Alone string }
	Left   struct{ Name, Side string }
	Right  struct{ Name, Side string }
	Tagged struct {
		Title string `json:"Name"`
	}
	Again   struct{ Left }
	Text    string
	Looping struct {
		*Looping
		Name string
	}
)

// tagged returns a struct whose field A has a tag that linters refuse.
func tagged(tag reflect.StructTag) any {
	return reflect.Zero(reflect.StructOf([]reflect.StructField{{
		Name: "A", Type: reflect.TypeFor[int](), Tag: tag,
	}})).Interface()
}

// The names of fields are those that encoding/json writes.
func TestFieldsAreThoseOfEncodingJSON(t *testing.T) {
	for name, v := range map[string]any{
		"plain": struct{ A, b int }{},
		"tags": struct {
			A, B int `json:"-"`
			C    int `json:"x"`
			D    int `json:",omitzero"`
		}{D: 1},
		"a tag with a dash":        tagged(`json:"-,"`),
		"a tag that is not a name": tagged(`json:"a\\b"`),
		"an embedded struct":       struct{ Left }{},
		"a struct that is hidden":  struct{ inner }{},
		"an embedded pointer":      struct{ *Left }{new(Left)},
		"an embedded text":         struct{ Text }{},
		"a text that is hidden":    struct{ text }{},
		"an embedded time": struct {
			*Left
			At time.Time
		}{new(Left), time.Time{}},
		"a struct with a name": struct {
			Left `json:"left"`
		}{},
		"an outer field": struct {
			Left
			Name int
		}{},
		"two equal names": struct {
			Left
			Right
		}{},
		"two equal names and a tag": struct {
			Left
			Right
			Tagged
		}{},
		"the tag of an outer field": struct {
			Left
			Other int `json:"Name"`
		}{},
		"one struct on two levels": struct {
			Left
			Again
		}{},
		"a struct that embeds itself": Looping{Looping: new(Looping)},
	} {
		t.Run(name, func(t *testing.T) {
			written, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			var object map[string]any
			if err := json.Unmarshal(written, &object); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range FieldsOf(reflect.TypeOf(v)) {
				got = append(got, f.Name)
			}
			slices.Sort(got)
			if want := slices.Sorted(maps.Keys(object)); !slices.Equal(got, want) {
				t.Errorf("the fields are %q; encoding/json writes %q", got, want)
			}
		})
	}
}

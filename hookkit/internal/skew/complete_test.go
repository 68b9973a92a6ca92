package skew

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/hookkit/wire"
)

// shapeOf returns the shape of a point with a payload of type T.
func shapeOf[T any](law string) *wire.Shape {
	b := newBuilder(law)
	b.shape.Payload = b.expr(reflect.TypeFor[T](), "")
	return b.shape
}

func typesIn[T any]() *Types { return TypesOf(shapeOf[T]("")) }

type oldPart struct {
	Name string
	Tags []string `json:",omitempty"`
}

type oldMessage struct {
	To    string
	Parts []oldPart
	First *oldPart `json:",omitempty"`
	Named map[string]oldPart
	Any   any
}

type newPart struct {
	Name  string
	Tags  []string `json:",omitempty"`
	Added int
}

type newMessage struct {
	To    string
	Added string
	Parts []newPart
	First *newPart `json:",omitempty"`
	Named map[string]newPart
	Any   any
}

var sentMessage = newMessage{
	To: "you", Added: "keep",
	Parts: []newPart{{"a", nil, 1}, {"b", []string{"t"}, 2}, {"c", nil, 0}},
	First: &newPart{"f", nil, 9},
	Named: map[string]newPart{"x": {"x", nil, 5}, "y": {"y", nil, 0}},
	Any:   map[string]any{"k": 1.0},
}

func TestUnknownFieldsSurviveReplacements(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*oldMessage)
		want   func(*newMessage) // nil if the reply is refused
		path   string
	}{
		{"nothing changed", func(*oldMessage) {}, func(*newMessage) {}, ""},
		{"a field", func(m *oldMessage) { m.To = "me" }, func(m *newMessage) { m.To = "me" }, ""},
		{"a field is zero", func(m *oldMessage) { m.To = "" }, func(m *newMessage) { m.To = "" }, ""},
		{"an element", func(m *oldMessage) { m.Parts[1].Tags = nil }, func(m *newMessage) { m.Parts[1].Tags = nil }, ""},
		{"an order", func(m *oldMessage) { m.Parts[0], m.Parts[1] = m.Parts[1], m.Parts[0] },
			func(m *newMessage) { m.Parts[0], m.Parts[1] = m.Parts[1], m.Parts[0] }, ""},
		{"an element is gone", func(m *oldMessage) { m.Parts = m.Parts[1:] },
			func(m *newMessage) { m.Parts = m.Parts[1:] }, ""},
		{"an element is new", func(m *oldMessage) { m.Parts = append([]oldPart{{Name: "z"}}, m.Parts...) },
			func(m *newMessage) { m.Parts = append([]newPart{{Name: "z"}}, m.Parts...) }, ""},
		{"a copy of an element", func(m *oldMessage) { m.Parts = append(m.Parts, m.Parts[0]) },
			func(m *newMessage) { m.Parts = append(m.Parts, m.Parts[0]) }, ""},
		{"gone and changed", func(m *oldMessage) { m.Parts = []oldPart{{Name: "A"}, {"b", []string{"t"}}} },
			nil, "$.value.Parts[0]: the reply loses the field $.payload.Parts[0].Added"},
		{"moved and changed", func(m *oldMessage) {
			m.Parts[0], m.Parts[1] = oldPart{Name: "B"}, m.Parts[0]
		}, nil, "$.payload.Parts[1].Added"},
		{"one without the field is gone and another is new", func(m *oldMessage) {
			m.Parts = append(m.Parts[:2], oldPart{Name: "d"}, oldPart{Name: "e"})
		}, func(m *newMessage) { m.Parts = append(m.Parts[:2], newPart{Name: "d"}, newPart{Name: "e"}) }, ""},
		{"all elements are gone", func(m *oldMessage) { m.Parts = nil }, func(m *newMessage) { m.Parts = nil }, ""},
		{"a pointer is nil", func(m *oldMessage) { m.First = nil }, nil, "$.value.First: the reply loses the field " +
			"$.payload.First.Added"},
		{"inside a pointer", func(m *oldMessage) { m.First.Name = "g" }, func(m *newMessage) { m.First.Name = "g" }, ""},
		{"an entry is gone", func(m *oldMessage) { delete(m.Named, "x") }, func(m *newMessage) { delete(m.Named, "x") }, ""},
		{"an entry is renamed", func(m *oldMessage) { m.Named["z"] = m.Named["x"]; delete(m.Named, "x") }, nil,
			"$.payload.Named.x.Added"},
		{"any", func(m *oldMessage) { m.Any = 7.0 }, func(m *newMessage) { m.Any = 7.0 }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			sent := encode(t, sentMessage)
			var old oldMessage
			decode(t, sent, &old)
			c.change(&old)
			reply, err := Complete(wire.Reply{Decision: wire.Replace, Value: encode(t, old)},
				typesIn[newMessage](), typesIn[oldMessage](), sent)
			if c.want == nil {
				if err == nil || !strings.Contains(err.Error(), c.path) {
					t.Errorf("got %s, %v; want an error with %s", reply.Value, err, c.path)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got, want newMessage
			decode(t, reply.Value, &got)
			decode(t, sent, &want)
			c.want(&want)
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got  %s\nwant %s", encode(t, got), encode(t, want))
			}
		})
	}
}

func TestEqualElementsThatDifferInUnknownFields(t *testing.T) {
	sent := encode(t, newMessage{Parts: []newPart{{"a", nil, 1}, {"a", nil, 2}}})
	for parts, want := range map[string]string{
		`[{"Name":"a"},{"Name":"a"}]`: "[1 2]",
		`[{"Name":"a"}]`:              "loses the field $.payload.Parts[1].Added",
		`[{"Name":"b"},{"Name":"a"}]`: "[1 2]",
	} {
		got, err := Complete(wire.Reply{Decision: wire.Replace, Value: []byte(`{"To":"","Parts":` + parts + `}`)},
			typesIn[newMessage](), typesIn[oldMessage](), sent)
		if err != nil {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", parts, err)
			}
			continue
		}
		var m newMessage
		decode(t, got.Value, &m)
		if added := strings.ReplaceAll(strings.Trim(strings.Join(strings.Fields(string(encode(t, []int{m.Parts[0].Added,
			m.Parts[1].Added}))), ""), ""), ",", " "); added != want {
			t.Errorf("%s: %s, want %s", parts, added, want)
		}
	}
}

func TestScriptsSendEveryFieldOrPatch(t *testing.T) {
	types := typesIn[newMessage]()
	for _, c := range []struct {
		name  string
		reply wire.Reply
		want  func(*newMessage)
		err   string
	}{
		{"an empty object", wire.Reply{Decision: "replace", Value: []byte(`{}`)}, nil, "missing; a service without"},
		{"an element without a field", wire.Reply{Decision: "replace", Value: []byte(strings.Replace(
			string(encode(t, sentMessage)), `"Added":1`, `"Other":0`, 1))}, nil, "$.value.Parts[0].Added: missing"},
		{"everything", wire.Reply{Decision: "replace", Value: []byte(strings.Replace(
			string(encode(t, sentMessage)), `"you"`, `"me"`, 1))}, func(m *newMessage) { m.To = "me" }, ""},
		{"another case", wire.Reply{Decision: "replace", Value: []byte(strings.Replace(
			string(encode(t, sentMessage)), `"To":"you"`, `"to":"me"`, 1))}, func(m *newMessage) { m.To = "me" }, ""},
		{"a patch", wire.Reply{Decision: "patch", Value: []byte(`{"To":"me","First":{"Name":"g"},"Named":{"y":null},
			"Any":{"k":null,"l":[1]}}`)}, func(m *newMessage) {
			m.To, m.First.Name, m.Any = "me", "g", map[string]any{"l": []any{1.0}}
			delete(m.Named, "y")
		}, ""},
		{"a patch of nothing", wire.Reply{Decision: "patch", Value: []byte(`{}`)}, func(*newMessage) {}, ""},
		{"a patch to zero", wire.Reply{Decision: "patch", Value: []byte(`{"Added":null,"First":null}`)},
			func(m *newMessage) { m.Added, m.First = "", nil }, ""},
		{"a patch of a list", wire.Reply{Decision: "patch", Value: []byte(`{"Parts":[{"Name":"A"}]}`)}, nil,
			"$.value.Parts[0].Added: missing"},
		{"a patch that removes an element", wire.Reply{Decision: "patch",
			Value: []byte(`{"Parts":[{"Name":"c","Added":0}]}`)},
			func(m *newMessage) { m.Parts = m.Parts[2:] }, ""},
		{"no value", wire.Reply{Decision: "patch"}, nil, "$.value: missing"},
		{"a key twice", wire.Reply{Decision: "patch", Value: []byte(`{"To":"a","To":"b"}`)}, nil, "$.value.To: given twice"},
	} {
		t.Run(c.name, func(t *testing.T) {
			sent := encode(t, sentMessage)
			got, err := Complete(c.reply, types, nil, sent)
			if c.want == nil {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("got %s, %v; want %q", got.Value, err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var m, want newMessage
			decode(t, got.Value, &m)
			decode(t, sent, &want)
			c.want(&want)
			if !reflect.DeepEqual(m, want) {
				t.Errorf("got  %s\nwant %s", encode(t, m), encode(t, want))
			}
		})
	}
}

func encode(t *testing.T, v any) json.RawMessage {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func decode(t *testing.T, text []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
}

// A reply of any service is merged or refused, and a merged one has every unknown field of the object at the top.
func FuzzComplete(f *testing.F) {
	for _, seed := range []string{`{"To":"x","Parts":[{"Name":"b"}]}`, `{"Parts":[{},{}]}`, `null`, `{"to":1}`, `[`} {
		f.Add(seed, false)
		f.Add(seed, true)
	}
	sent, err := json.Marshal(sentMessage)
	if err != nil {
		f.Fatal(err)
	}
	here, there := typesIn[newMessage](), typesIn[oldMessage]()
	f.Fuzz(func(t *testing.T, value string, patch bool) {
		r := wire.Reply{Decision: wire.Replace, Value: []byte(value)}
		if patch {
			r.Decision = wire.Patch
		}
		got, err := Complete(r, here, there, sent)
		if err != nil {
			return
		}
		if !json.Valid(got.Value) {
			t.Fatalf("%q becomes %q, which is not JSON", value, got.Value)
		}
		var m newMessage
		if json.Unmarshal(got.Value, &m) == nil && !patch && m.Added != "keep" {
			t.Errorf("%q becomes %q, which lacks Added", value, got.Value)
		}
	})
}

package export_test

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"net/netip"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/hookgen/hookgen/gen"
	"github.com/hookgen/hookgen/gen/export"
	"github.com/hookgen/hookgen/gen/export/testdata/odd"
	"github.com/hookgen/hookgen/internal/usermodule"
	"pgregory.net/rapid"
)

// A payload is a type of package odd.
type payload struct {
	typ  string
	zero any
	// lossy is set if the type cannot be decoded, or not from everything that its schema accepts.
	lossy bool
}

var payloads = []payload{
	{"Basics", odd.Basics{}, false}, {"Tags", odd.Tags{}, false}, {"Omitted", odd.Omitted{}, true},
	{"Zero", odd.Zero{}, true}, {"Quoted", odd.Quoted{}, true}, {"Embeds", odd.Embeds{}, true},
	{"Conflicts", odd.Conflicts{}, false}, {"TagWins", odd.TagWins{}, false}, {"Maps", odd.Maps{}, true},
	{"Bytes", odd.Bytes{}, true}, {"Raws", odd.Raws{}, false}, {"Times", odd.Times{}, true},
	{"Recursive", odd.Recursive{}, false}, {"Generics", odd.Generics{}, true}, {"Marshalers", odd.Marshalers{}, true},
	{"Interfaces", odd.Interfaces{}, true}, {"Shapes", odd.Shapes{}, true}, {"Tree", odd.Tree{}, false},
	{"MapTree", odd.MapTree{}, false}, {"List", odd.List{}, false}, {"Blob", odd.Blob{}, true},
	{"Octet", odd.Octet(0), false}, {"Named", odd.Named(""), false}, {"Point", odd.Point{}, true},
	{"*Recursive", (*odd.Recursive)(nil), false}, {"TextPointer", odd.TextPointer{}, true},
	{"*TextPointer", (*odd.TextPointer)(nil), true}, {"JSONPointer", odd.JSONPointer{}, true},
	{"Encoded", odd.Encoded{}, true}, {"Pair[string, []Box[int]]", odd.Pair[string, []odd.Box[int]]{}, false},
	{"[]Basics", []odd.Basics(nil), false}, {"map[int]*Inner", map[int]*odd.Inner(nil), true},
	{"[2]Inner", [2]odd.Inner{}, false}, {"int", 0, false}, {"string", "", false}, {"[]byte", []byte(nil), true},
	{"any", (*any)(nil), false}, {"struct{}", struct{}{}, false}, {"time.Time", time.Time{}, true},
	{"func()", func() {}, true},
}

// oddSpec returns a spec with a point for each payload. Its hooks may replace the payload, leave with an exit, and
// contribute lists.
func oddSpec() string {
	var b strings.Builder
	b.WriteString("package odd\n\nimport (\n\t\"time\"\n\n\t\"github.com/hookgen/hookgen/spec\"\n)\n\n" +
		"//hookgen:points\ntype Points interface {\n")
	for i, p := range payloads {
		fmt.Fprintf(&b, "\tP%d(%s) (spec.Replace, Leave, spec.Collect[List], spec.FailClosed)\n", i, p.typ)
	}
	b.WriteString("}\n\n// Leave leaves.\ntype Leave struct {\n\tCode int // of the exit\n" +
		"\tInner Inner `json:\"inner\"`\n\tAt time.Time `json:\"at\"`\n}\n")
	return b.String()
}

// module makes a module with a spec, given as alternating names and texts of files, and returns its directory.
func module(t *testing.T, files ...string) string {
	t.Helper()
	m := usermodule.New(t)
	m.Init("example.com/odd")
	t.Setenv("GOWORK", "off")
	t.Setenv("GOFLAGS", "-mod=mod")
	for i := 0; i < len(files); i += 2 {
		m.Write(files[i], files[i+1])
	}
	return m.Dir
}

func load(t *testing.T, dir string) *export.Export {
	t.Helper()
	spec, found := gen.Read(dir)
	if len(found) > 0 {
		t.Fatal(found)
	}
	e, err := export.Load(spec)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func loadOdd(t *testing.T) *export.Export {
	t.Helper()
	types, err := os.ReadFile("testdata/odd/odd.go")
	if err != nil {
		t.Fatal(err)
	}
	return load(t, module(t, "odd.go", string(types), "spec.go", oddSpec()))
}

// resolve returns schemas that validate, by the names of their files. Each has been written and read as JSON.
func resolve(t *testing.T, e *export.Export) map[string]*jsonschema.Resolved {
	t.Helper()
	all := map[string]*jsonschema.Resolved{}
	for _, d := range e.Documents() {
		all[d.Name] = resolved(t, d.Schema)
	}
	return all
}

func resolved(t *testing.T, s *jsonschema.Schema) *jsonschema.Resolved {
	t.Helper()
	text, err := export.JSON(s)
	if err != nil {
		t.Fatal(err)
	}
	var read jsonschema.Schema
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	r, err := read.Resolve(nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return r
}

// accepts reports whether a schema accepts a JSON text.
func accepts(r *jsonschema.Resolved, text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	var value any
	if err := d.Decode(&value); err != nil {
		return err
	}
	return r.Validate(value)
}

// What encoding/json writes is valid, as a payload and as the value of a reply that replaces it.
func TestWrittenValuesAreValid(t *testing.T) {
	schemas := resolve(t, loadOdd(t))
	for i, p := range payloads {
		if p.typ == "func()" {
			continue
		}
		t.Run(p.typ, func(t *testing.T) {
			payload := schemas[fmt.Sprintf("P%d.payload.schema.json", i)]
			reply := schemas[fmt.Sprintf("P%d.reply.schema.json", i)]
			rapid.Check(t, func(t *rapid.T) {
				v := reflect.New(reflect.TypeOf(p.zero))
				fill(t, v.Elem(), 4)
				for _, written := range []any{v.Interface(), v.Elem().Interface()} {
					text, err := json.Marshal(written)
					if err != nil {
						t.Fatalf("%v: %#v", err, written)
					}
					if err := accepts(payload, text); err != nil {
						t.Fatalf("payload: %v\n%s", err, text)
					}
					if err := accepts(reply, []byte(`{"decision":"replace","value":`+string(text)+`,"reason":"r"}`)); err != nil {
						t.Fatalf("reply: %v\n%s", err, text)
					}
				}
			})
		})
	}
}

// A changed value that a reply may still have can be decoded strictly, as the wire does it.
func TestValidValuesCanBeDecoded(t *testing.T) {
	schemas := resolve(t, loadOdd(t))
	for i, p := range payloads {
		if p.lossy {
			continue
		}
		t.Run(p.typ, func(t *testing.T) {
			reply := schemas[fmt.Sprintf("P%d.reply.schema.json", i)]
			refused := 0
			rapid.Check(t, func(t *rapid.T) {
				v := reflect.New(reflect.TypeOf(p.zero))
				fill(t, v.Elem(), 4)
				text, err := json.Marshal(v.Interface())
				if err != nil {
					t.Fatal(err)
				}
				changed, err := json.Marshal(mutate(t, decoded(t, text)))
				if err != nil {
					t.Fatal(err)
				}
				valid := accepts(reply, []byte(`{"decision":"replace","value":`+string(changed)+`}`))
				d := json.NewDecoder(bytes.NewReader(changed))
				d.DisallowUnknownFields()
				into := reflect.New(reflect.TypeOf(p.zero))
				if err := d.Decode(into.Interface()); err != nil {
					refused++
					if valid == nil {
						t.Fatalf("the schema accepts what cannot be decoded: %v\n%s\n%s", err, text, changed)
					}
				}
			})
			if p.typ != "any" && refused == 0 {
				t.Error("no changed value was refused, so that the test says nothing")
			}
		})
	}
}

// decoded returns the JSON value of a text, with numbers as they are written.
func decoded(t *rapid.T, text []byte) any {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		t.Fatal(err)
	}
	return value
}

// mutate returns a value with one part replaced by another kind of value, or with another member.
func mutate(t *rapid.T, value any) any {
	switch v := value.(type) {
	case map[string]any:
		keys := slices.Sorted(maps.Keys(v))
		if n := rapid.IntRange(0, 3*len(keys)+1).Draw(t, "member"); n < 3*len(keys) {
			v[keys[n/3]] = mutate(t, v[keys[n/3]])
			return v
		} else if n == 3*len(keys) {
			v["no such member"] = 1
			return v
		}
	case []any:
		if n := rapid.IntRange(0, 3*len(v)).Draw(t, "element"); n < 3*len(v) {
			v[n/3] = mutate(t, v[n/3])
			return v
		}
	}
	return rapid.SampledFrom([]any{
		nil, true, 12, -1, 1.5, 1e9, "x", []any{}, map[string]any{}, []any{"x"}, []any{1, 2, 3}, map[string]any{"a": 1},
		map[string]any{"A": "x"},
	}).Draw(t, "other")
}

func TestRepliesAreStrict(t *testing.T) {
	schemas := resolve(t, loadOdd(t))
	reply := schemas["P0.reply.schema.json"] // of Basics
	leave, err := json.Marshal(struct {
		Code  int
		Inner odd.Inner `json:"inner"`
		At    time.Time `json:"at"`
	}{})
	if err != nil {
		t.Fatal(err)
	}
	basics, err := json.Marshal(odd.Basics{})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, reply string
		valid       bool
	}{
		{"continue", `{"decision":"continue"}`, true},
		{"contributions", `{"decision":"continue","collected":[[1],null,[]]}`, true},
		{"no contributions", `{"decision":"continue","collected":null}`, true},
		{"replace", `{"decision":"replace","value":` + string(basics) + `}`, true},
		{"patch", `{"decision":"patch","value":{"B":null,"Nested":{"deep":1}},"reason":"x"}`, true},
		{"exit", `{"decision":"Leave","value":` + string(leave) + `}`, true},
		{"exit with one field", `{"decision":"Leave","value":{"Code":1}}`, true},
		{"exit without fields", `{"decision":"Leave"}`, true},
		{"error", `{"error":"no"}`, true},

		{"no decision", `{}`, false},
		{"unknown decision", `{"decision":"leave"}`, false},
		{"edit where the law has none", `{"decision":"edit","value":1}`, false},
		{"error and decision", `{"decision":"continue","error":"no"}`, false},
		{"continue with a value", `{"decision":"continue","value":{}}`, false},
		{"replace without a value", `{"decision":"replace"}`, false},
		{"patch without a value", `{"decision":"patch"}`, false},
		{"patch of a struct with a text", `{"decision":"patch","value":"B"}`, false},
		{"replace with half a value", `{"decision":"replace","value":{"B":true}}`, false},
		{"replace with an unknown field", `{"decision":"replace","value":` + strings.Replace(string(basics), "{",
			`{"X":1,`, 1) + `}`, false},
		{"exit with an unknown field", `{"decision":"Leave","value":{"Cod":1}}`, false},
		{"exit with an unknown field in a field", `{"decision":"Leave","value":{"inner":{"X":1,"Y":2}}}`, false},
		{"exit with a field of another type", `{"decision":"Leave","value":{"Code":"1"}}`, false},
		{"exit with a fraction", `{"decision":"Leave","value":{"Code":1.5}}`, false},
		{"exit with the fields of another", `{"decision":"Leave","value":` + string(basics) + `}`, false},
		{"contributions of another type", `{"decision":"continue","collected":[["a"]]}`, false},
		{"reason of an exit", `{"decision":"Leave","reason":"x"}`, false},
		{"unknown member", `{"decision":"continue","because":"x"}`, false},
		{"not an object", `"continue"`, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if err := accepts(reply, []byte(test.reply)); (err == nil) != test.valid {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestPayloadsMayHaveMoreMembers(t *testing.T) {
	schemas := resolve(t, loadOdd(t))
	text, err := json.Marshal(odd.Basics{})
	if err != nil {
		t.Fatal(err)
	}
	more := strings.Replace(string(text), "{", `{"New":{"Field":1},`, 1)
	if err := accepts(schemas["P0.payload.schema.json"], []byte(more)); err != nil {
		t.Error(err)
	}
}

// The definitions in the model accept the same as the documents.
func TestModelHasTheSchemasOfTheDocuments(t *testing.T) {
	e := loadOdd(t)
	m := e.Model()
	schemas := resolve(t, e)
	for i, p := range m.Points {
		if (p.Payload.Schema == nil) != (schemas[p.Name+".payload.schema.json"] == nil) ||
			(p.Reply == nil) != (schemas[p.Name+".reply.schema.json"] == nil) {
			t.Errorf("%s has other schemas than documents", p.Name)
		}
		if !slices.Contains([]string{"Embeds", "Recursive", "Generics", "Marshalers", "Blob"}, payloads[i].typ) {
			continue // resolving the whole model is slow
		}
		t.Run(payloads[i].typ, func(t *testing.T) {
			reply := *p.Reply
			reply.Defs = m.Defs
			inModel := resolved(t, &reply)
			rapid.Check(t, func(t *rapid.T) {
				v := reflect.New(reflect.TypeOf(payloads[i].zero))
				fill(t, v.Elem(), 3)
				text, err := json.Marshal(v.Interface())
				if err != nil {
					t.Fatal(err)
				}
				value := mutate(t, decoded(t, text))
				changed, err := json.Marshal(map[string]any{"decision": "replace", "value": value})
				if err != nil {
					t.Fatal(err)
				}
				own := accepts(schemas[p.Name+".reply.schema.json"], changed)
				if got := accepts(inModel, changed); (got == nil) != (own == nil) {
					t.Fatalf("model: %v, document: %v\n%s", got, own, changed)
				}
			})
		})
	}
}

func TestUnwritablePointsHaveAProblem(t *testing.T) {
	m := loadOdd(t).Model()
	p := m.Points[len(m.Points)-1]
	if p.Payload.Type.Text != "func()" || p.Payload.Schema != nil || p.Reply != nil ||
		!strings.Contains(p.Problem, "func()") {
		t.Errorf("%+v", p)
	}
}

func TestOutputIsTheSameOnEveryRun(t *testing.T) {
	e := loadOdd(t)
	first, err := export.JSON(e.Model())
	if err != nil {
		t.Fatal(err)
	}
	again, err := export.JSON(loadOdd(t).Model())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(first), string(again)); diff != "" {
		t.Error(diff)
	}
}

const small = `package small

import (
	"example.com/odd/other"
	"github.com/hookgen/hookgen/spec"
)

//hookgen:points
//hookgen:wire
type Points interface {
	// OnA is first.
	OnA(Message) (spec.Replace, spec.Edit[Text], Refuse, spec.FailClosed)
	//hookgen:local
	OnLocal(Message) (Refuse, spec.FailOpen)
	AroundA(*Message) spec.Around[int]
	OnEnd(other.Box[Message])
	MayEnd(other.Stream) spec.Check
}

// Refuse refuses.
//
// Deprecated: use nothing.
type Refuse struct {
	// Why is mandatory.
	//
	// Deprecated: use Code.
	Why string
}

// Message is a message.
type Message struct {
	Text Text ` + "`json:\"text\"`" + ` // of the message
	At   struct {
		Line int // from 1
	}
	Call Call
}

// Text is text.
type Text string

// Call encodes itself.
type Call struct{
	ID string // of the call
}
`

const smallOthers = `package small

import "encoding/json"

type call struct {
	ID  string ` + "`json:\"id\"`" + `
	Err string ` + "`json:\"err,omitempty\"`" + ` // why not
}

func (c Call) MarshalJSON() ([]byte, error) { return json.Marshal(call{ID: c.ID}) }
`

const otherPackage = `package other

// Stream has a channel.
type Stream struct{ C <-chan int }

// Box is a box.
type Box[T any] struct {
	Value T // in the box
	Text  Text
}

// Text is another text.
type Text string
`

func TestSchemasHaveNamesAndComments(t *testing.T) {
	e := load(t, module(t, "spec.go", small, "others.go", smallOthers, "other/other.go", otherPackage))
	got := map[string]string{}
	for _, d := range e.Documents() {
		text, err := export.JSON(d.Schema)
		if err != nil {
			t.Fatal(err)
		}
		got[d.Name] = string(text)
	}
	names := []string{"AroundA.payload.schema.json", "OnA.payload.schema.json", "OnA.reply.schema.json",
		"OnEnd.payload.schema.json", "OnEnd.reply.schema.json"}
	if diff := cmp.Diff(names, slices.Sorted(maps.Keys(got))); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
	want := `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "$ref": "#/$defs/other.Box_Message",
  "$comment": "Code generated by hookgen export. DO NOT EDIT.",
  "$defs": {
    "Call": {
      "type": "object",
      "properties": {
        "id": {
          "type": "string",
          "description": "of the call"
        },
        "err": {
          "type": "string",
          "description": "why not"
        }
      },
      "title": "Call",
      "description": "Call encodes itself.",
      "required": [
        "id"
      ]
    },
    "Message": {
      "type": "object",
      "properties": {
        "text": {
          "$ref": "#/$defs/Text",
          "description": "of the message"
        },
        "At": {
          "type": "object",
          "properties": {
            "Line": {
              "type": "integer",
              "description": "from 1"
            }
          },
          "required": [
            "Line"
          ]
        },
        "Call": {
          "$ref": "#/$defs/Call"
        }
      },
      "title": "Message",
      "description": "Message is a message.",
      "required": [
        "text",
        "At",
        "Call"
      ]
    },
    "Text": {
      "type": "string",
      "title": "Text",
      "description": "Text is text."
    },
    "other.Box_Message": {
      "type": "object",
      "properties": {
        "Value": {
          "$ref": "#/$defs/Message"
        },
        "Text": {
          "$ref": "#/$defs/other.Text"
        }
      },
      "title": "other.Box_Message",
      "required": [
        "Value",
        "Text"
      ]
    },
    "other.Text": {
      "type": "string",
      "title": "other.Text"
    }
  },
  "title": "OnEndPayload"
}
`
	if diff := cmp.Diff(want, got["OnEnd.payload.schema.json"]); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

func TestModelSaysWhatCanLeaveTheProcess(t *testing.T) {
	m := load(t, module(t, "spec.go", small, "others.go", smallOthers, "other/other.go", otherPackage)).Model()
	type facts struct {
		name                 string
		wire, payload, reply bool
		problem              string
	}
	var got []facts
	for _, p := range m.Points {
		got = append(got, facts{p.Name, p.Wire, p.Payload.Schema != nil, p.Reply != nil, p.Problem})
	}
	want := []facts{
		{"OnA", true, true, true, ""},
		{"OnLocal", false, false, false, ""},
		{"AroundA", false, true, false, ""},
		{"OnEnd", true, true, true, ""},
		{"MayEnd", true, false, false, "encoding/json cannot write MayEnd: Stream.C is a <-chan int"},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(facts{})); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
	if refuse := m.Defs["Refuse"]; !refuse.Deprecated || !refuse.Properties["Why"].Deprecated {
		t.Error("the deprecations are lost")
	}
	if m.Defs["Message.strict"] == nil || m.Defs["OnAReply"] == nil || m.Defs["Message"].AdditionalProperties != nil {
		t.Errorf("the model has the definitions %q", slices.Sorted(maps.Keys(m.Defs)))
	}
}

func TestBrokenPackagesAreRefused(t *testing.T) {
	const spec = "package p\n\n//hookgen:points\ntype Points interface { A(T) }\n"
	for _, test := range []struct{ name, file, want string }{
		{"a type error", "package p\n\ntype T struct{ X Missing }\n", "t.go:3:18: undefined: Missing"},
		{"a syntax error", "package p\n\ntype T struct{}\n\nfunc (\n", "t.go:5:"},
		{"a missing package", "package p\n\nimport \"example.com/odd/missing\"\n\ntype T = missing.T\n",
			"example.com/odd/missing"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := module(t, "p/spec.go", spec, "p/t.go", test.file) + "/p"
			read, found := gen.Read(dir)
			if len(found) > 0 {
				t.Fatal(found)
			}
			_, err := export.Load(read)
			var build *export.BuildError
			if !errors.As(err, &build) || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), dir+"/") {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

// fill draws a value. depth bounds pointers, slices and maps that lead to the same type again.
func fill(t *rapid.T, v reflect.Value, depth int) {
	odds := func(of int) bool { return rapid.IntRange(1, of).Draw(t, "odds") == 1 }
	size := func() int {
		if depth <= 0 {
			return 0
		}
		return rapid.IntRange(0, 2).Draw(t, "size")
	}
	switch into := v.Addr().Interface().(type) {
	case *time.Time:
		*into = time.Unix(rapid.Int64Range(-1e10, 1e11).Draw(t, "time"), 0).UTC()
		return
	case *json.RawMessage:
		texts := []json.RawMessage{nil, json.RawMessage("1"), json.RawMessage(`{"a":[null]}`)}
		*into = rapid.SampledFrom(texts).Draw(t, "raw")
		return
	case *json.Number:
		*into = rapid.SampledFrom([]json.Number{"", "1", "-2.5e10"}).Draw(t, "number")
		return
	case *netip.Addr:
		*into = rapid.SampledFrom([]netip.Addr{{}, netip.MustParseAddr("::1")}).Draw(t, "address")
		return
	case **big.Int:
		*into = rapid.SampledFrom([]*big.Int{nil, big.NewInt(7)}).Draw(t, "integer")
		return
	case *url.URL:
		*into = url.URL{Host: "x", RawQuery: rapid.String().Draw(t, "query")}
		return
	case *odd.Self:
		*into = rapid.SampledFrom([]odd.Self{nil, new(odd.Self)}).Draw(t, "self")
		return
	case *error:
		*into = rapid.SampledFrom([]error{nil, errors.New("x")}).Draw(t, "error")
		return
	case *encoding.TextMarshaler:
		*into = rapid.SampledFrom([]encoding.TextMarshaler{nil, odd.Point{}, &odd.TextPointer{A: 1}, nil}).Draw(t, "text")
		return
	case *json.Marshaler:
		*into = rapid.SampledFrom([]json.Marshaler{nil, odd.JSONValue{A: 1}}).Draw(t, "marshaler")
		return
	case *odd.Stringer:
		*into = rapid.SampledFrom([]odd.Stringer{nil, time.Second}).Draw(t, "stringer")
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(odds(2))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(rapid.Int64().Draw(t, "int"))
		if odds(3) {
			v.SetInt(0)
		}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		v.SetUint(rapid.Uint64().Draw(t, "uint"))
		if odds(3) {
			v.SetUint(0)
		}
	case reflect.Float32:
		v.SetFloat(float64(rapid.Float32().Draw(t, "float")))
	case reflect.Float64:
		v.SetFloat(rapid.Float64().Draw(t, "float"))
	case reflect.String:
		v.SetString(rapid.SampledFrom([]string{"", "a", "x\n\"y\"<&>\u2028", "\xff世"}).Draw(t, "string"))
	case reflect.Pointer:
		if depth > 0 && odds(2) {
			v.Set(reflect.New(v.Type().Elem()))
			fill(t, v.Elem(), depth-1)
		}
	case reflect.Interface:
		if v.NumMethod() == 0 {
			value := rapid.SampledFrom([]any{nil, 1, "a", []int{}, map[string]any{"a": nil}, odd.Inner{}, (*int)(nil)}).
				Draw(t, "any")
			if value != nil {
				v.Set(reflect.ValueOf(value))
			}
		}
	case reflect.Slice:
		if odds(3) {
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), size(), 4))
		for i := range v.Len() {
			fill(t, v.Index(i), depth-1)
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(t, v.Index(i), depth)
		}
	case reflect.Map:
		if odds(3) {
			return
		}
		v.Set(reflect.MakeMap(v.Type()))
		for range size() {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			fill(t, key, depth-1)
			fill(t, value, depth-1)
			v.SetMapIndex(key, value)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(t, v.Field(i), depth-1)
			}
		}
	}
}

package loop

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
)

const someParameters = `{"type":"object","additionalProperties":false,"required":["path","n"],"properties":{
	"path":{"type":"string"},"n":{"type":"integer"},"x":{"type":"number"},"on":{"type":"boolean"},
	"none":{"type":"null"},"any":{},
	"list":{"type":["array","null"],"items":{"type":"string"}},
	"sub":{"type":"object","properties":{"a":{"type":"string"}}}}}`

// shaped returns the table entry of a tool with the parameters.
func shaped(t testing.TB, parameters string) *entry {
	t.Helper()
	s := agent.ToolSchema{Name: "t", Parameters: json.RawMessage(parameters)}
	resolved, err := resolve(s)
	if err != nil {
		t.Fatal(err)
	}
	return &entry{schema: s, args: resolved, shape: shapeOf(resolved.Schema())}
}

func TestAShapeAcceptsOrdinaryArguments(t *testing.T) {
	e := shaped(t, someParameters)
	for _, c := range []struct {
		name, args string
		want       bool
	}{
		{"Least", `{"path":"a","n":1}`, true},
		{"Blanks", " {\n\"path\" : \"a\" ,\t\"n\" : -1 } \r\n", true},
		{"Escapes", `{"path":"a\"\\\/\b\f\n\r\té","n":0}`, true},
		{"All", `{"path":"","n":12,"x":1.5,"on":true,"none":null,"any":[{}],"list":["a","b"],"sub":{"a":"b","c":1}}`, true},
		{"NullList", `{"path":"a","n":1,"list":null}`, true},
		{"EmptyList", `{"path":"a","n":1,"list":[],"x":2}`, true},
		{"Long", `{"path":"` + strings.Repeat("long text ", 500) + `","n":1}`, true},
		{"False", `{"path":"a","n":1,"on":false}`, true},
		{"FalseForANumber", `{"path":"a","n":1,"x":false}`, false},
		{"Missing", `{"path":"a"}`, false},
		{"Other", `{"path":"a","n":1,"other":1}`, false},
		{"WrongType", `{"path":1,"n":1}`, false},
		{"WrongItem", `{"path":"a","n":1,"list":[1]}`, false},
		{"Fraction", `{"path":"a","n":1.5}`, false},
		{"ItemOfAnotherType", `{"path":"a","n":1,"list":["a",null]}`, false},
		{"NoCommaInList", `{"path":"a","n":1,"list":["a" "b"]}`, false},
		{"OpenList", `{"path":"a","n":1,"list":["a"`, false},
		{"CommaInList", `{"path":"a","n":1,"list":["a",]}`, false},
		{"OpenListWithAWrongItem", `{"path":"a","list":[1,"n":1}`, false},
		{"NumberAsKey", `{"path":"a","n":1,1:2}`, false},
		{"NoColon", `{"path":"a","n" 1}`, false},
		{"NoObject", `[]`, false},
		{"Nothing", ``, false},
		{"Open", `{"path":"a","n":1`, false},
		{"OpenText", `{"path":"a`, false},
		{"OpenEscape", `{"path":"a\`, false},
		{"ShortEscape", `{"path":"\u00e`, false},
		{"WrongEscape", `{"path":"\x","n":1}`, false},
		{"ControlCharacter", "{\"path\":\"0123456789\x01\",\"n\":1}", false},
		{"Comma", `{"path":"a","n":1,}`, false},
		{"NoComma", `{"path":"a" "n":1}`, false},
		{"TwoValues", `{"path":"a","n":1} {}`, false},
		{"LeadingZero", `{"path":"a","n":01}`, false},
		{"NoDigit", `{"path":"a","n":-}`, false},
		{"NoFraction", `{"path":"a","n":1,"x":1.}`, false},
		{"Word", `{"path":"a","n":1,"on":tru}`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := e.shape.accepts([]byte(c.args)); got != c.want {
				t.Errorf("accepts %s: %t", c.args, got)
			}
			if fits := e.fits(json.RawMessage(c.args), 0) == nil; fits != c.want {
				t.Errorf("%s fits: %t", c.args, fits)
			}
		})
	}
}

// The scanner leaves some arguments to the decoder although they match the schema.
func TestShapeLeavesRareArgumentsToTheDecoder(t *testing.T) {
	e := shaped(t, someParameters)
	for _, c := range []struct{ name, args string }{
		{"KeyWithEscape", `{"p\u0061th":"a","n":1}`},
		{"KeyBeyondASCII", `{"path":"a","n":1,"sub":{"é":1}}`},
		{"Exponent", `{"path":"a","n":1e2}`},
		{"LongNumber", `{"path":"a","n":1234567890123456}`},
		{"WholeFraction", `{"path":"a","n":1.0}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if e.shape.accepts([]byte(c.args)) {
				t.Errorf("accepts %s", c.args)
			}
			if refused := e.fits(json.RawMessage(c.args), 0); refused != nil {
				t.Errorf("%s is refused: %v", c.args, refused)
			}
		})
	}
}

func TestManyRequiredPropertiesAreChecked(t *testing.T) {
	for _, n := range []int{1, 32, 33, 100} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			values := make(map[string]int)
			var names []string
			for i := range n {
				names = append(names, fmt.Sprint("p", i))
				values[names[i]] = i
			}
			parameters, err := json.Marshal(map[string]any{"type": "object", "required": names})
			if err != nil {
				t.Fatal(err)
			}
			e := shaped(t, string(parameters))
			for _, missing := range []bool{false, true} {
				if missing {
					delete(values, names[n-1])
				}
				args, err := json.Marshal(values)
				if err != nil {
					t.Fatal(err)
				}
				if refused := e.fits(args, 0) != nil; refused != missing {
					t.Errorf("missing %t, refused %t", missing, refused)
				}
			}
		})
	}
}

func TestSchemasWithOtherKeywordsHaveNoShape(t *testing.T) {
	for _, parameters := range []string{
		`{"type":"object","properties":{"a":{"type":"string","minLength":1}}}`,
		`{"type":"object","minProperties":1}`, `{"$ref":"#/$defs/a","$defs":{"a":{}}}`, `{"enum":[1]}`,
		`{"items":[{"type":"string"}],"$schema":"http://json-schema.org/draft-07/schema#"}`,
		`{"not":{}}`, `{"properties":{"a":{"anyOf":[{"type":"string"}]}}}`, `{"additionalProperties":{"maxLength":1}}`,
	} {
		t.Run(parameters, func(t *testing.T) {
			if shaped(t, parameters).shape != nil {
				t.Error("a keyword would be ignored")
			}
		})
	}
}

// FuzzShape compares shapes with the validation library: arguments that a shape accepts must be valid.
func FuzzShape(f *testing.F) {
	for _, args := range []string{
		`{"path":"a","n":1}`, `{"path":"é","n":1e3}`, `{"path":"a","n":1,"n":"x"}`, `{"path":"a","path":1,"n":1}`,
		`{"path":"a","n":100000000000000000000}`, "{\"path\":\"\xff\",\"n\":1}", `{"path":"a","n":1.0}`, `{"PATH":"a","n":1}`,
		strings.Repeat(`{"sub":`, 1200) + `1` + strings.Repeat(`}`, 1200), strings.Repeat(`[`, 1200) +
			strings.Repeat(`]`, 1200),
	} {
		f.Add([]byte(someParameters), []byte(args))
		f.Add([]byte(`{}`), []byte(args))
		f.Add([]byte(`{"type":["object","array"],"additionalProperties":{"type":"integer"},"items":{"type":"number"}}`),
			[]byte(args))
	}
	f.Fuzz(func(t *testing.T, parameters, args []byte) {
		if len(parameters) > 20_000 || len(args) > 20_000 {
			return
		}
		resolved, err := resolve(agent.ToolSchema{Name: "t", Parameters: parameters})
		if err != nil {
			return
		}
		shape := shapeOf(resolved.Schema())
		if shape == nil || !shape.accepts(args) {
			return
		}
		if slow := (&entry{args: resolved}).fits(args, 0); slow != nil {
			t.Errorf("a shape of %s accepts %s: %v", parameters, args, slow)
		}
	})
}

func TestShapeLeavesManyNamesToTheDecoder(t *testing.T) {
	for _, n := range []int{32, 33} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			names, members := make([]string, n), make([]string, n)
			for i := range n {
				names[i], members[i] = fmt.Sprintf(`"p%d"`, i), fmt.Sprintf(`"p%d":1`, i)
			}
			e := shaped(t, `{"type":"object","required":[`+strings.Join(names, ",")+`]}`)
			args := "{" + strings.Join(members, ",") + "}"
			if got := e.shape.accepts([]byte(args)); got != (n == 32) {
				t.Errorf("accepts: %t", got)
			}
			if unfit := e.fits([]byte(args), 0); unfit != nil {
				t.Errorf("refused: %v", unfit)
			}
		})
	}
}

package jsonscan

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// whole reports whether data is one value.
func whole(data []byte) bool {
	s := Scanner{Data: data}
	s.Blank()
	_, ok := s.Value()
	s.Blank()
	return ok && s.At == len(data)
}

var samples = []string{
	``, ` `, `{}`, `[]`, `[1,]`, `[,1]`, `{"a":1,}`, `{"a" : [ 1 , true , null ] }`, `{"a"}`, `{1:2}`, `"a`, `"\"`,
	`"\u12"`, `"\u12aF"`, `"\x"`, "\"\x01\"",
	`-`, `-0`, `00`, `0.`, `.5`, `1e`, `1e+`, `1E-7`, `12.50e3`, `tru`, `truex`, `nul`, `{} {}`, "\x00",
	"\"a\x00b\"", "\"\xff\"",
	`"` + strings.Repeat("ordinary ", 20) + `\n` + strings.Repeat("text ", 20) + `"`, `"12345678` + "\x1f" + `"`,
	`"1234567\"890"`, `"a\\"`, `"\\\""`, `"\\\"`, "\"é\x01\"", "\"\x01\\n\"", "\"\\n\x01\"",
	"\"" + strings.Repeat("é", 40) + "\x1f\"",
}

func TestScanningAgreesWithEncodingJSON(t *testing.T) {
	for _, text := range samples {
		t.Run(text, func(t *testing.T) {
			if got, want := whole([]byte(text)), json.Valid([]byte(text)); got != want {
				t.Errorf("valid: %t, want %t", got, want)
			}
		})
	}
}

func TestAPlainTextDecodesToItself(t *testing.T) {
	for _, c := range []struct {
		name, text string
		plain, ok  bool
	}{
		{"Empty", `""`, true, true},
		{"ASCII", `"a b"`, true, true},
		{"Long", `"` + strings.Repeat("text ", 100) + `"`, true, true},
		{"Escape", `"a\nb"`, false, true},
		{"BeyondASCII", `"é"`, false, true},
		{"BeyondASCIIAfterLongText", `"` + strings.Repeat("text ", 100) + `é"`, false, true},
		{"Delete", "\"\x7f\"", true, true},
		{"ControlCharacter", "\"\n\"", false, false},
		{"NoText", `1`, false, false},
		{"Open", `"a`, false, false},
		{"Nothing", ``, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := Scanner{Data: []byte(c.text)}
			raw, plain, ok := s.Text()
			if ok != c.ok || ok && plain != c.plain {
				t.Errorf("plain %t, ok %t", plain, ok)
			}
			if ok && (s.At != len(c.text) || string(raw) != c.text[1:len(c.text)-1]) {
				t.Errorf("read %q up to %d", raw, s.At)
			}
		})
	}
}

func TestDecodedTextsAreThoseOfEncodingJSON(t *testing.T) {
	for _, text := range []string{`""`, `"a b"`, `"a\u00e9\n"`, `"é"`, "\"\xff\"", `"\ud800"`} {
		s := Scanner{Data: []byte(text)}
		var want string
		if err := json.Unmarshal(s.Data, &want); err != nil {
			t.Fatal(err)
		}
		if got, ok := s.Decoded(); !ok || string(got) != want || s.At != len(text) {
			t.Errorf("%s: %q up to %d, want %q", text, got, s.At, want)
		}
	}
}

func TestValuesAreReturnedAsWritten(t *testing.T) {
	for _, text := range []string{`{"a" : [ 1 , {} ] }`, `[[], true]`, `"a\n"`, `-1.5e3`, `null`} {
		s := Scanner{Data: []byte(text + " \n, 1")}
		if raw, ok := s.Value(); !ok || string(raw) != text {
			t.Errorf("%s is returned as %q, %t", text, raw, ok)
		}
	}
	deep := Scanner{Data: []byte(strings.Repeat("[", 2000) + strings.Repeat("]", 2000))}
	if _, ok := deep.Value(); ok {
		t.Error("a value of 2,000 levels was read")
	}
}

func TestWholeNumbersHaveNeitherFractionNorExponent(t *testing.T) {
	for _, c := range []struct {
		text, raw string
		whole, ok bool
	}{
		{"0", "0", true, true},
		{"-12", "-12", true, true},
		{"1.5", "1.5", false, true},
		{"1e3", "1e3", false, true},
		{"12,", "12", true, true},
		{"-", "", false, false},
		{"01", "", false, false},
		{"1.", "", false, false},
		{"1e+", "", false, false},
		{"x", "", false, false},
		{"", "", false, false},
	} {
		t.Run(c.text, func(t *testing.T) {
			s := Scanner{Data: []byte(c.text)}
			raw, whole, ok := s.Number()
			if string(raw) != c.raw || whole != c.whole || ok != c.ok {
				t.Errorf("read %q, whole %t, ok %t", raw, whole, ok)
			}
		})
	}
}

// FuzzText compares the scanner with encoding/json: both must find the same end of a text, and a text is plain
// exactly if it is ASCII without escapes.
func FuzzText(f *testing.F) {
	for _, text := range samples {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s := Scanner{Data: data}
		raw, plain, ok := s.Text()
		if !ok {
			if len(data) > 0 && data[0] == '"' && json.Valid(data) {
				t.Errorf("%q is not read", data)
			}
			return
		}
		var decoded string
		if err := json.Unmarshal(data[:s.At], &decoded); err != nil {
			t.Fatalf("%q was read: %v", data[:s.At], err)
		}
		ascii := !bytes.ContainsFunc(raw, func(r rune) bool { return r >= 0x80 || r == '\\' })
		if plain != ascii || plain && decoded != string(raw) {
			t.Errorf("%q is plain: %t, decoded %q", raw, plain, decoded)
		}
	})
}

func FuzzScanning(f *testing.F) {
	for _, text := range samples {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if strings.Count(string(data), "[")+strings.Count(string(data), "{") > 90 {
			return
		}
		if got, want := whole(data), json.Valid(data); got != want {
			t.Errorf("%q is valid: %t, want %t", data, got, want)
		}
	})
}

func TestTextsAndNumbersAreReturnedAsWritten(t *testing.T) {
	for _, c := range []struct {
		text, raw string
		plain     bool
	}{
		{`"abc" x`, "abc", true}, {`"a\"b"`, `a\"b`, false}, {`"\u00e9"`, `\u00e9`, false}, {`"é, long enough"`,
			`é, long enough`, false}, {`""`, "", true},
	} {
		s := Scanner{Data: []byte(c.text)}
		if raw, plain, ok := s.Text(); !ok || string(raw) != c.raw || plain != c.plain || s.At != len(c.raw)+2 {
			t.Errorf("%s: %q, plain %t, at %d", c.text, raw, plain, s.At)
		}
	}
	for _, c := range []struct {
		text, raw string
		whole     bool
	}{{`12,`, "12", true}, {`-0.5]`, "-0.5", false}, {`1e3`, "1e3", false}} {
		s := Scanner{Data: []byte(c.text)}
		if raw, whole, ok := s.Number(); !ok || string(raw) != c.raw || whole != c.whole {
			t.Errorf("%s: %q, whole %t", c.text, raw, whole)
		}
	}
}

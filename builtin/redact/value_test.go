package redact

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hookgen/hookgen/builtin/internal/jsonx"
	"github.com/hookgen/hookgen/generated/agent"
)

type login struct {
	User     string
	Password string `json:"pass_word"`
	Note     []byte `json:"note,omitempty"`
	Raw      json.RawMessage
	Skipped  string            `json:"-"`
	Headers  map[string]string `json:",omitempty"`
	hidden   string
	inner
}

type inner struct{ Token string }

type state string

func TestValuesAreRedactedByTheirNames(t *testing.T) {
	text := "secret hunter2"
	for name, c := range map[string]struct {
		value any
		want  string
	}{
		"a map of texts":  {map[string]string{"password": "x", "host": "h"}, `{"host":"h","password":"[REDACTED]"}`},
		"a map of slices": {map[string][]string{"tokens": {"x"}, "a": {"b"}}, `{"a":["b"],"tokens":["[REDACTED]"]}`},
		"a struct": {login{User: "u", Password: "x", Note: []byte("a"), inner: inner{"t"}, hidden: "h", Skipped: "s"},
			`{"Raw":null,"Token":"[REDACTED]","User":"u","note":"YQ==","pass_word":"[REDACTED]"}`},
		"a pointer":          {&inner{"t"}, `{"Token":"[REDACTED]"}`},
		"a nil pointer":      {(*inner)(nil), `null`},
		"bytes of a secret":  {[]byte("password=hunter2"), `"cGFzc3dvcmQ9W1JFREFDVEVEXQ=="`},
		"bytes of a picture": {[]byte{0xff, 0xd8, 0}, `"/9gA"`},
		"bytes of a key":     {map[string]any{"private_key": []byte{1, 2}}, `{"private_key":"[REDACTED]"}`},
		"raw JSON":           {json.RawMessage(`{"api_key":"x","n":1}`), `{"api_key":"[REDACTED]","n":1}`},
		"broken raw JSON":    {json.RawMessage(`{"api_key":"x`), `"{\"api_key\":\"[REDACTED]"`},
		"raw JSON in a map":  {map[string]json.RawMessage{"password": json.RawMessage(`"x"`)}, `{"password":"[REDACTED]"}`},
		"a named type":       {state("token=abc"), `"token=[REDACTED]"`},
		"an error":           {errors.New("password=hunter2"), `"password=[REDACTED]"`},
		"a time":             {time.Unix(0, 0).UTC(), `"1970-01-01T00:00:00Z"`},
		"a URL": {map[string]any{"u": &url.URL{Scheme: "https", Host: "h", User: url.UserPassword("a", "hunter2")}},
			`{"u":{"ForceQuery":false,"Fragment":"","Host":"h","OmitHost":false,"Opaque":"","Path":"","RawFragment":"",` +
				`"RawPath":"","RawQuery":"","Scheme":"https","User":{}}}`},
		"a name and a value": {map[string]string{"name": "DB_PASSWORD", "value": "x"},
			`{"name":"DB_PASSWORD","value":"[REDACTED]"}`},
		"a type and a value": {map[string]string{"type": "password", "value": "x"},
			`{"type":"password","value":"[REDACTED]"}`},
		"a name of a random text": {map[string]string{"name": "session", "value": "x"}, `{"name":"session","value":"x"}`},
		"a type of a parser":      {map[string]string{"type": "token", "value": "x"}, `{"type":"token","value":"x"}`},
		"a list of words": {[]string{"login", "--password", "hunter2", "--token", "--api-key", "$KEY", "-p"},
			`["login","--password","[REDACTED]","--token","--api-key","$KEY","-p"]`},
		"an object below a secret": {map[string]any{"credentials": map[string]any{"git": "x", "type": "y", "n": 12}},
			`{"credentials":{"git":"[REDACTED]","n":0,"type":"y"}}`},
		"a list of objects": {map[string]any{"secrets": []any{map[string]any{"a": "x"}}}, `{"secrets":[{"a":"[REDACTED]"}]}`},
		"a Kubernetes secret": {map[string]any{"kind": "Secret", "data": map[string]any{"name": "eA=="}},
			`{"data":{"name":"[REDACTED]"},"kind":"Secret"}`},
		"a JSON web key": {map[string]any{"kty": "oct", "k": "c2VjcmV0", "e": "AQAB"},
			`{"e":"AQAB","k":"[REDACTED]","kty":"oct"}`},
		"a schema": {map[string]any{"password": map[string]any{"type": "string", "minLength": 8.0}},
			`{"password":{"minLength":8,"type":"string"}}`},
		"a random session": {map[string]any{"session": "a8Kd03LmQ9xZ71bc"}, `{"session":"[REDACTED]"}`},
		"a plain session":  {map[string]any{"session": "morning"}, `{"session":"morning"}`},
		"a provider":       {map[string]any{"heroku": "123e4567-e89b-42d3-a456-426614174000"}, `{"heroku":"[REDACTED]"}`},
		"numbers": {map[string]any{"token": 12, "pin": 1.5, "otp": 123456, "n": int8(3)},
			`{"n":3,"otp":0,"pin":1.5,"token":12}`},
		"empty fields": {login{Headers: map[string]string{}}, `{"Raw":null,"Token":"","User":"","pass_word":""}`},
		"a function":   {func() {}, `"(cannot be encoded: json: unsupported type: func())"`},
		"a text":       {text, `"secret hunter2"`},
	} {
		t.Run(name, func(t *testing.T) {
			got := jsonx.Encode((&Redactor{}).Value(c.value, Shape{Text: (&Redactor{}).Text}))
			if string(got) != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestValuesWithinThemselvesEnd(t *testing.T) {
	loop := map[string]any{}
	loop["next"] = loop
	type node struct{ Next *node }
	ring := &node{}
	ring.Next = ring
	for name, v := range map[string]any{"map": loop, "pointer": ring} {
		t.Run(name, func(t *testing.T) {
			got := string(jsonx.Encode((&Redactor{}).Value(v, Shape{Text: (&Redactor{}).Text, Levels: 5})))
			if strings.Count(got, "ext") != 6 {
				t.Errorf("got %s", got)
			}
		})
	}
}

func TestOwnKeysHoldInValues(t *testing.T) {
	r := &Redactor{KeepSecrets: true, KeepPersonal: true, Keys: []string{"Tenant Name"}}
	got := string(jsonx.Encode(r.Value(map[string]any{"tenant_name": "x", "password": "y"}, Shape{Text: r.Text})))
	if got != `{"password":"y","tenant_name":"[REDACTED]"}` {
		t.Errorf("got %s", got)
	}
}

func TestKeysWithTheSameMarkStayApart(t *testing.T) {
	for in, want := range map[string]string{
		`{"a@b.org":1,"c@d.org":2}`: `{"[REDACTED:email]":1,"[REDACTED:email] 2":2}`,
		`{"[REDACTED:email] 2":"a","a@b.org":2,"c@d.org":3}`: `{"[REDACTED:email]":2,"[REDACTED:email] 2":"[REDACTED]",` +
			`"[REDACTED:email] 3":3}`,
		`{"A@b.org":1,"C@d.org":2,"[REDACTED:email] 2":"a"}`: `{"[REDACTED:email]":1,"[REDACTED:email] 2":2,` +
			`"[REDACTED:email] 2 2":"[REDACTED]"}`,
	} {
		t.Run(in, func(t *testing.T) {
			if got := string(new(Redactor).JSON([]byte(in))); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

func TestListsOfSecretValuesAreRedacted(t *testing.T) {
	for in, want := range map[string]string{
		`{"tokens":["abc","123",4,["d"],{"a":"b"}]}`: `{"tokens":["[REDACTED]","[REDACTED]",4,["[REDACTED]"],{"a":"b"}]}`,
		`{"session":["a8Kd03LmQ9xZ71bc","morning"]}`: `{"session":["[REDACTED]","morning"]}`,
		`{"passwords":["abc",123456]}`:               `{"passwords":["[REDACTED]",0]}`,
	} {
		t.Run(in, func(t *testing.T) {
			if got := string(new(Redactor).JSON([]byte(in))); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

func TestDeepValuesEndInAnEllipsis(t *testing.T) {
	deep := map[string]any{"list": []any{1, []any{2}}, "object": map[string]any{"a": map[string]any{"b": 3}}}
	got := jsonx.Encode((&Redactor{}).Value(deep, Shape{Text: (&Redactor{}).Text, Levels: 2}))
	if want := `{"list":[1,["…"]],"object":{"a":{"b":"…"}}}`; string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestLargeObjectsAreCutWithTheirCount(t *testing.T) {
	large := map[string]any{"a": 1, "b": 2, "c": 3, "d": 4, "e": 5}
	got := jsonx.Encode((&Redactor{}).Value(large, Shape{Text: (&Redactor{}).Text, Values: 4}))
	if want := `{"a":1,"b":2,"c":3,"…":"2 more"}`; string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestTheExtrasOfAMessageAreRedacted(t *testing.T) {
	got := (&Redactor{}).Message(agent.Message{Extra: map[string]json.RawMessage{
		"api_key": json.RawMessage(`"x"`), "note": json.RawMessage(`{"password":"y","n":1}`), "bob@example.org": nil,
	}})
	want := `map["[REDACTED:email]":"" "api_key":"\"[REDACTED]\"" "note":"{\"n\":1,\"password\":\"[REDACTED]\"}"]`
	if s := fmt.Sprintf("%q", got.Extra); s != want {
		t.Errorf("got  %s\nwant %s", s, want)
	}
}

func TestPatternsHoldInTruncatedTexts(t *testing.T) {
	r := &Redactor{Patterns: []*regexp.Regexp{regexp.MustCompile(`T-\d+`)}}
	got := unkinded(r.CutText("see T-12 and "+strings.Repeat("more ", 100), 20))
	if !strings.HasPrefix(got, "see [REDACTED] and") {
		t.Errorf("got %q", got)
	}
}

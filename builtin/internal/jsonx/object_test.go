package jsonx

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/fixture"
)

func TestMembersKeepsOrderAndNotation(t *testing.T) {
	for _, c := range []struct {
		data string
		n    int
		want string
		ok   bool
	}{
		{` {"z": [1, {"y":2}], "a":"b", "z":null} `, -1, `z=[1, {"y":2}] a="b" z=null`, true},
		{`{"z":1,"a":2,"b":3}`, 2, `z=1 a=2`, true},
		{`{"z":1}`, 0, ``, true},
		{`{}`, -1, ``, true},
		{`[1]`, -1, ``, false},
		{`"x"`, -1, ``, false},
		{``, -1, ``, false},
		{`{"a":1,"b":tru`, -1, `a=1`, false},
		{`{"a":1,2:3}`, -1, `a=1`, false},
	} {
		t.Run(c.data, func(t *testing.T) {
			all, ok := Members([]byte(c.data), c.n)
			var got []string
			for _, m := range all {
				got = append(got, fmt.Sprintf("%s=%s", m.Key, m.Value))
			}
			if strings.Join(got, " ") != c.want || ok != c.ok {
				t.Errorf("got %q, %v; want %q, %v", got, ok, c.want, c.ok)
			}
		})
	}
}

// FuzzRewrittenTextsAreTheSameJSON checks that RewriteTexts changes nothing without a change by f, and else only texts.
func FuzzRewrittenTextsAreTheSameJSON(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.50,"x",{"b":null},[]],"c":true,"<&>":"\u2028"}`, `[[[]],{}]`, `"a"`, `1e9`,
		`{"a":{"b":{"c":{}}}}`, `[{"a":1},{"a":2}]`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !json.Valid([]byte(s)) {
			return
		}
		same, changed := RewriteTexts([]byte(s), func(s string) string { return s })
		var before, after any
		if json.Unmarshal([]byte(s), &before) != nil {
			return // a number is too large for float64
		}
		if err := json.Unmarshal(same, &after); err != nil || changed || !reflect.DeepEqual(before, after) {
			t.Errorf("%s became %s (%v)", s, same, err)
		}
		marked, _ := RewriteTexts([]byte(s), func(string) string { return "#" })
		if !json.Valid(marked) || fixture.Tokens(marked) != fixture.Tokens([]byte(s)) {
			t.Errorf("%s became %s", s, marked)
		}
	})
}

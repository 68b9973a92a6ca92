package jsonx

import (
	"fmt"
	"strings"
	"testing"
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

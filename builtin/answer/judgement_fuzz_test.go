package answer

import (
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hookgen/hookgen/builtin/internal/fixture"
	"github.com/hookgen/hookgen/builtin/internal/jsonx"
)

// FuzzReadJudgement checks that a judgement is parsed equally if text and a code fence surround it.
func FuzzReadJudgement(f *testing.F) {
	for _, s := range append([]string{
		`{"approve":true}`,
		"```json\n{\"approve\": false, \"problem\": \"x\", \"weaknesses\": [\"a\"], \"suggestions\": [\"b\", \"\"]}\n```",
		`{"approve":null}`, `{"approve":"true"}`, `}{`, `{"approve":true,"approve":false}`,
		`{"APPROVE":true,"Problem":"}{"}`, `I say {"approve":false,"weaknesses":null} and no more`,
		`{"approve":true} {"approve":false}`, `{"approve":false,"weaknesses":[1]}`,
	}, fixture.HostileJSON...) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, answer string) {
		j, err := readJudgement(answer)
		if err != nil {
			if !reflect.DeepEqual(j, judgement{}) && j.Approve {
				t.Errorf("%q cannot be read and approves: %+v, %v", answer, j, err)
			}
			return
		}
		if !strings.Contains(strings.ToLower(answer), "approve") && !strings.Contains(answer, `\`) &&
			!strings.Contains(answer, "\u017f") {
			t.Errorf("%q does not say whether it approves: %+v", answer, j)
		}
		same := "So:\n```json\n" + string(jsonx.Encode(j)) + "\n```\nThat is all."
		if again, err := readJudgement(same); err != nil || !reflect.DeepEqual(again, j) {
			t.Errorf("%+v, written as %s, is %+v, %v", j, same, again, err)
		}
		if text := j.feedback(1); utf8.RuneCountInString(text) > 2000+20*600+200 {
			t.Errorf("feedback of %d characters", utf8.RuneCountInString(text))
		}
	})
}

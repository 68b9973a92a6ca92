package answer

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
)

func TestGradesAreConverted(t *testing.T) {
	one := 1.0
	for _, c := range []struct {
		name  string
		grade any
		err   error
		want  string // JSON
	}{
		{"true", true, nil, `{"name":"","score":1,"duration_ms":0}`},
		{"false", false, nil, `{"name":"","score":0,"duration_ms":0}`},
		{"float", 0.25, nil, `{"name":"","score":0.25,"duration_ms":0}`},
		{"integer", 1, nil, `{"name":"","score":1,"duration_ms":0}`},
		{"label", "pass", nil, `{"name":"","label":"pass","duration_ms":0}`},
		{"result", EvalResult{Score: &one, Label: "x"}, nil, `{"name":"","score":1,"label":"x","duration_ms":0}`},
		{"metrics", map[string]float64{"overall": 0.1, "accuracy": 0.2, "x": 3}, nil,
			`{"name":"","score":0.2,"metrics":{"accuracy":0.2,"overall":0.1,"x":3},"duration_ms":0}`},
		{"other metrics", map[string]float64{"x": 3}, nil, `{"name":"","metrics":{"x":3},"duration_ms":0}`},
		{"error", 1, errors.New("down"), `{"name":"","label":"error","explanation":"down","duration_ms":0}`},
		{"strange", []int{1}, nil, `{"name":"","label":"error","explanation":"a grade of type []int cannot be read; ` +
			`return a number, a bool, a label, metrics or an EvalResult","duration_ms":0}`},
		{"too high", 1.5, nil,
			`{"name":"","label":"error","explanation":"the score 1.5 is not between 0 and 1","duration_ms":0}`},
		{"too low", -0.5, nil,
			`{"name":"","label":"error","explanation":"the score -0.5 is not between 0 and 1","duration_ms":0}`},
		{"no number", math.NaN(), nil,
			`{"name":"","label":"error","explanation":"the score NaN is not between 0 and 1","duration_ms":0}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := json.Marshal(resultOf(c.grade, c.err))
			if err != nil || string(got) != c.want {
				t.Errorf("got %s, %v, want %s", got, err, c.want)
			}
		})
	}
}

func TestLabelsAndScoresPass(t *testing.T) {
	score := func(v float64) *float64 { return &v }
	for _, c := range []struct {
		result EvalResult
		want   bool
	}{
		{EvalResult{}, false},
		{EvalResult{Label: "Pass"}, true},
		{EvalResult{Label: "correct"}, true},
		{EvalResult{Label: "YES"}, true},
		{EvalResult{Label: "maybe"}, false},
		{EvalResult{Score: score(0.5)}, true},
		{EvalResult{Score: score(0.49)}, false},
		{EvalResult{Label: "pass", Score: score(0.2)}, false},
		{EvalResult{Label: "maybe", Score: score(0.9)}, true},
		{EvalResult{Label: "error", Score: score(1)}, false},
		{EvalResult{Label: "Fail", Score: score(1)}, false},
		{EvalResult{Label: "wrong", Score: score(1)}, false},
		{EvalResult{Label: "no", Score: score(1)}, false},
		{EvalResult{Label: "skipped", Score: score(1)}, false},
	} {
		if got := c.result.Passed(); got != c.want {
			t.Errorf("%+v passed: %t", c.result, got)
		}
	}
}

func TestFeedbackOfTheCriticListsItsPoints(t *testing.T) {
	for _, c := range []struct {
		name string
		j    judgement
		want string
	}{
		{"nothing", judgement{}, "[CORRECTION REQUIRED - Iteration 3]\nthe answer does not fulfil the task"},
		{"all", judgement{Problem: "bad", Weaknesses: []string{"a", "b\nc"}, Suggestions: []string{"d"}},
			"[CORRECTION REQUIRED - Iteration 3]\nbad\nWeaknesses:\n- a\n- b c\nWhat to do:\n- d"},
		{"ten of many", judgement{Problem: "bad", Weaknesses: strings.Fields(strings.Repeat("x ", 30))},
			"[CORRECTION REQUIRED - Iteration 3]\nbad\nWeaknesses:" + strings.Repeat("\n- x", 10)},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.j.feedback(3); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

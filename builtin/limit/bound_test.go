package limit_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/hookgen/hookgen/builtin/limit"
)

func TestBoundsResolve(t *testing.T) {
	for _, c := range []struct {
		bound limit.Bound[int]
		want  int
		text  string
	}{
		{0, 20, "default"},
		{limit.AtMost(0), 0, "0"},
		{limit.AtMost(7), 7, "7"},
		{8, 8, "8"},
		{limit.None, math.MaxInt, "none"},
	} {
		t.Run(c.text, func(t *testing.T) {
			if got := c.bound.Or(20); got != c.want || c.bound.String() != c.text || c.bound.Check("Max") != nil {
				t.Errorf("%d (%v), %v, want %d", got, c.bound, c.bound.Check("Max"), c.want)
			}
		})
	}
	if got := limit.Bound[int](0).Or(limit.None); got != math.MaxInt {
		t.Errorf("without a default: %d", got)
	}
	if got := limit.Bound[time.Duration](0).Or(limit.AtMost(time.Minute)); got != time.Minute {
		t.Errorf("a default duration: %v", got)
	}
}

func TestNegativeBoundsAreErrors(t *testing.T) {
	for name, err := range map[string]error{
		"AtMost":     limit.AtMost(-1).Check("Max"),
		"conversion": limit.Bound[int](-1).Check("Max"),
		"duration":   limit.AtMost(-time.Second).Check("Max"),
	} {
		t.Run(name, func(t *testing.T) {
			if err == nil {
				t.Error("a negative bound is accepted")
			}
		})
	}
}

func ExampleBound() {
	for _, bound := range []limit.Bound[int]{0, 10, limit.AtMost(0), limit.None} {
		steps := limit.Steps{Max: bound}
		fmt.Print(steps.Max, " ")
	}
	// Output: default 10 0 none
}

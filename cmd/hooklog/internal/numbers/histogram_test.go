package numbers

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestQuantilesAreNearTheExactOnes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Durations of all sizes are as likely as short ones.
		durations := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) time.Duration {
			return time.Duration(rapid.Int64Min(0).Draw(t, "bits") >> rapid.IntRange(0, 62).Draw(t, "shift"))
		}), 1, 300).Draw(t, "durations")
		var h histogram
		for _, d := range durations {
			h.add(d)
		}
		slices.Sort(durations)
		for _, percent := range []int{1, 50, 99, 100} {
			exact := durations[(len(durations)*percent+99)/100-1]
			got := h.quantile(percent)
			if off := math.Abs(float64(got - exact)); off > float64(exact)/64 {
				t.Errorf("p%d is %v, want %v", percent, got, exact)
			}
		}
		if h.max != durations[len(durations)-1] {
			t.Errorf("the maximum is %v, want %v", h.max, durations[len(durations)-1])
		}
	})
}

func TestHistogramsAreSmall(t *testing.T) {
	var h histogram
	if got := h.quantile(99); got != 0 {
		t.Errorf("p99 of nothing is %v", got)
	}
	h.add(-1)
	h.add(math.MaxInt64)
	for d := time.Duration(1); d > 0; d += d/100 + 1 {
		h.add(d)
	}
	if most := 64 * fineness; len(h.counts) > most {
		t.Errorf("%d buckets, want at most %d", len(h.counts), most)
	}
	if last := h.quantile(100); last < math.MaxInt64-math.MaxInt64/64 {
		t.Errorf("p100 is %v", last)
	}
}

package hookkit_test

import (
	"slices"
	"testing"

	"github.com/hookgen/hookgen/hookkit"
)

// TestAnchorsThatMeetAgainAndAgainAreOrderedAtOnce has two ways down at each of 40 rungs, so many in all that to follow
// each would take for ever.
func TestAnchorsThatMeetAgainAndAgainAreOrderedAtOnce(t *testing.T) {
	for name, anchor := range map[string]func(...*hookkit.Registration) hookkit.OrderOption{"Before": hookkit.Before, "After": hookkit.After} {
		var h hooks
		var d diary
		var want []string
		var rung []*hookkit.Registration
		for i := range 40 {
			left, right := string(rune('a'+i))+"l", string(rune('a'+i))+"r"
			rung = []*hookkit.Registration{
				d.add(&h, left, anchor(rung...)), d.add(&h, right, anchor(rung...)),
			}
			if name == "Before" {
				want = slices.Concat([]string{left, right}, want)
			} else {
				want = append(want, left, right)
			}
		}
		d.want(t, &h, want...)
	}
}

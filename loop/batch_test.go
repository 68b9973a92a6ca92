package loop

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
)

func TestCallsGetUniqueIDs(t *testing.T) {
	for _, c := range []struct {
		name           string
		ids, want, dup []string
	}{
		{"Unique", []string{"a", "b"}, []string{"a", "b"}, nil},
		{"None", []string{"", ""}, []string{"call_7_1_2", "call_7_2_2"}, []string{"", ""}},
		{"Twice", []string{"a", "a", "a"}, []string{"a", "a#2", "a#3"}, []string{"", "a", "a"}},
		{"TooLong", []string{strings.Repeat("x", 257), strings.Repeat("x", 257), strings.Repeat("y", 256)},
			[]string{"call_7_1_2", "call_7_2_2", strings.Repeat("y", 256)}, []string{"", "", ""}},
		{"NotUTF8", []string{"a\xff", "a\xfe"}, []string{"call_7_1_2", "call_7_2_2"}, []string{"", ""}},
		{"TheFreshOneIsTaken", []string{"a", "a", "a#2"}, []string{"a", "a#3", "a#2"}, []string{"", "a", ""}},
		{"TheFreshOneIsTakenTwice", []string{"a", "a", "a#2", "a#2"}, []string{
			"a", "a#3", "a#2", "a#2#2",
		}, []string{"", "a", "", "a#2"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			calls := make([]agent.ToolCallRequest, len(c.ids))
			for i, id := range c.ids {
				calls[i].ID = id
			}
			duplicates := identify(7, calls)
			for i, call := range calls {
				if call.ID != c.want[i] || call.Step != 7 || string(call.Args) != "{}" {
					t.Errorf("call %d is %+v, want the id %q", i, call, c.want[i])
				}
			}
			if !slices.Equal(duplicates, c.dup) {
				t.Errorf("duplicates %q, want %q", duplicates, c.dup)
			}
		})
	}
}

func TestIdentifyTakesLinearTime(t *testing.T) {
	const n = 200_000 // a quadratic algorithm takes an hour for this
	calls := make([]agent.ToolCallRequest, n)
	for i := range calls {
		calls[i].ID = "same"
	}
	identify(1, calls)
	if got, want := calls[n-1].ID, fmt.Sprintf("same#%d", n); got != want {
		t.Errorf("the last call is %q, want %q", got, want)
	}
}

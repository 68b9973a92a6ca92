package loop

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestLimitsHaveTheirDefaults(t *testing.T) {
	preset := Limits{
		Steps: 50, Rejections: 3, EmptyReplies: 3, Compactions: 1, Depth: 16, Calls: 256, Parallel: 8, ArgBytes: 1 << 20,
		Briefing: 8000, ModelTime: 10 * time.Minute, ToolTime: 5 * time.Minute, ApprovalTime: 5 * time.Minute,
		Grace: time.Second,
	}
	own := Limits{
		Steps: 1, Tokens: 2, Rejections: 3, EmptyReplies: 4, Compactions: 5, Depth: 6, Calls: 7, Parallel: 8, ArgBytes: 9,
		Briefing: 10, Time: 11, ModelTime: 12, ToolTime: 13, ApprovalTime: 14, Grace: 15, Cost: 16, Window: 17,
	}
	for _, c := range []struct {
		name        string
		given, want Limits
	}{
		{"None", Limits{}, preset},
		{"Own", own, own},
		{"Unlimited", Limits{
			Steps: -1, Tokens: -1, Rejections: -1, EmptyReplies: -1, Compactions: -1, Depth: -1, Calls: -1, Parallel: -1,
			ArgBytes: -1, Briefing: -1, Time: -1, ModelTime: -1, ToolTime: -1, ApprovalTime: -1, Grace: -1, Cost: -1, Window: -1,
		}, Limits{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, c.given.resolved(nil)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestToolNamesHaveOnlyAcceptedCharacters(t *testing.T) {
	if got := toolName("to_", "azAZ09_- é/.{[@`"); got != "to_azAZ09_-________" {
		t.Errorf("got %s", got)
	}
}

func TestLargeNumbersInAStateAreCompared(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{`{"n":9007199254740993,"a":[1]}`, `{"a":[1],"n":9007199254740993}`, true},
		{`{"n":9007199254740993}`, `{"n":9007199254740992}`, false},
		{`{}`, `{`, false},
	} {
		t.Run(c.a+" and "+c.b, func(t *testing.T) {
			if got := sameJSON(json.RawMessage(c.a), json.RawMessage(c.b)); got != c.same {
				t.Errorf("equal: %t", got)
			}
		})
	}
}

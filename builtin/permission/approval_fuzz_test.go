package permission

import (
	"reflect"
	"testing"
	"unicode/utf8"

	"github.com/hookgen/hookgen/builtin/internal/jsonx"
	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/generated/agent"
)

// FuzzApprovalRequest reads an approval request from any output, encodes the request and reads it again: the result is
// the same.
func FuzzApprovalRequest(f *testing.F) {
	for _, s := range append([]string{
		`{"needs_approval":true,"approval_description":" Send it? ","approval_options":["yes","",1,"no"]}`,
		`{"needs_approval":"true"}`,
		`{"needs_approval":true,"needs_approval":false}`, `{"NEEDS_APPROVAL":true,"approval_options":null}`,
	}, fixture.HostileJSON...) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, output string) {
		asks, ok := approvalIn(agent.ToolCallResult{Output: output, Call: agent.ToolCallRequest{Name: "t", Step: 1}})
		if !ok {
			return
		}
		if len(asks.Options) == 0 || len(asks.Options) > 20 || asks.Description == "" ||
			utf8.RuneCountInString(asks.Description) > maxApproval {
			t.Errorf("%q is read as %+v", output, asks)
		}
		same := jsonx.Encode(map[string]any{"needs_approval": true, "approval_description": asks.Description,
			"approval_options": asks.Options})
		if again, ok := approvalIn(agent.ToolCallResult{Output: string(same),
			Call: agent.ToolCallRequest{Name: "t", Step: 1}}); !ok || !reflect.DeepEqual(again, asks) {
			t.Errorf("%+v is encoded as %s and read as %+v", asks, same, again)
		}
	})
}

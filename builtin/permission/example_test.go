package permission_test

import (
	"context"
	"fmt"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/permission"
	"github.com/hookgen/hookgen/generated/agent"
)

// The tool deploy is called three times, but the person is asked only once.
func ExampleRemember() {
	asks := 0
	once := &permission.Remember{Approver: fixture.ApproverFunc(func(context.Context, agent.Question) (agent.Approval,
		error) {
		asks++
		return agent.Approval{Allow: true}, nil
	})}
	for range 3 {
		answer, err := once.Approve(context.Background(), agent.Question{Call: agent.ToolCallRequest{Name: "deploy"}})
		fmt.Println(answer.Allow, err, asks)
	}
	// Output:
	// true <nil> 1
	// true <nil> 1
	// true <nil> 1
}

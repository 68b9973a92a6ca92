package share_test

import (
	"context"
	"fmt"

	"github.com/hookgen/hookgen/builtin/memory"
	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// Ann says on Monday that she prefers metric units. The agent knows it on Tuesday, in another conversation. It does not
// know it of Bob.
func ExampleScope() {
	memories := &memory.Facts{Share: share.User}
	in := func(user, conversation string) context.Context {
		return agentspec.WithIdentity(context.Background(), agent.Identity{User: user, Conversation: conversation})
	}
	if err := memories.Put(in("ann", "monday"), memory.Fact{Key: "units", Value: "metric"}); err != nil {
		fmt.Println(err)
	}
	for _, user := range []string{"ann", "bob"} {
		facts, _, err := memories.Search(in(user, "tuesday"), memory.Query{})
		fmt.Println(user, len(facts), err)
	}
	// Output:
	// ann 1 <nil>
	// bob 0 <nil>
}

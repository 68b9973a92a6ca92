package tiktoken_test

import (
	"fmt"

	"github.com/hookgen/hookgen/contrib/tiktoken"
	"github.com/hookgen/hookgen/generated/agent"
)

func ExampleForModel() {
	counter, err := tiktoken.ForModel("gpt-5-mini")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(counter.Encoding(), counter.CountText("We know what we are, but know not what we may be."))
	fmt.Println(counter.CountTokens([]agent.Message{{Role: agent.RoleUser, Content: "hello world"}}))
	// Output:
	// o200k_base 14
	// 6
}

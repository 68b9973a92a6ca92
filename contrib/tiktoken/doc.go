// Package tiktoken counts tokens as the models of OpenAI do, for the budgets and the compaction of an agent.
//
// The loop estimates the tokens of a text by its length, which is far off for numbers, code or Chinese. Give the agent
// a counter of its model instead:
//
//	counter, err := tiktoken.ForModel("gpt-5-mini")
//	if err != nil {
//		return err
//	}
//	a := &loop.Agent{Model: model, Tokens: counter}
//
// Counts of texts are exact. What surrounds a text in a message is counted as the API documents it, and images are
// estimated; see [Counter.CountTokens].
//
// Package looptest has no suite for counters. An agent asks one thing of them, which the tests of this package check:
// the count of several messages is the sum of their counts.
package tiktoken

// Package anthropic lets an agent use a Claude model through the Messages API.
//
// Fill a [Model] and give it to the agent:
//
//	model := &anthropic.Model{Name: "claude-sonnet-4-5", Key: func() string { return os.Getenv("ANTHROPIC_API_KEY") }}
//	a := &loop.Agent{Model: model, Tools: tools}
//
// Failures are an [*Error], which says whether a retry makes sense and when. A prompt that is too long for the model is
// an *agent.PromptTooLong as well, so that the loop compacts the conversation. Start reading in model.go.
package anthropic

// Package openai lets an agent use a model on any server that speaks chat completions: OpenAI, Azure, vLLM, llama.cpp,
// Ollama, and the many services that offer the same API. With Model.Responses it uses the Responses API.
//
// Fill a [Model] and give it to the agent:
//
//	model := &openai.Model{Name: "gpt-5-mini", Key: func() string { return os.Getenv("OPENAI_API_KEY") }}
//	a := &loop.Agent{Model: model, Tools: tools}
//
// Failures are an [*Error], which says whether a retry makes sense and when. A prompt that is too long for the model is
// an *agent.PromptTooLong as well, so that the loop compacts the conversation. Start reading in model.go.
package openai

package agentspec

// EstimateTokens estimates the tokens of messages: for each of them a quarter of its length in bytes, tool
// calls included, and 4 more.
func EstimateTokens(messages []Message) int {
	sum := 0
	for _, m := range messages {
		length := len(m.Content) + len(m.Reasoning)
		for _, c := range m.ToolCalls {
			length += len(c.Name) + len(c.Args)
		}
		for _, p := range m.Parts {
			length += len(p.Data) + len(p.URL)
		}
		sum += length/4 + 4
	}
	return sum
}

// EstimateTools estimates the tokens that the descriptions of tools take in a request, by the same measure.
func EstimateTools(tools []ToolSchema) int {
	sum := 0
	for _, t := range tools {
		sum += (len(t.Name)+len(t.Description)+len(t.Parameters))/4 + 4
	}
	return sum
}

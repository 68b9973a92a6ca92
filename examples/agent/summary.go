package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"github.com/hookgen/hookgen/generated/agent"
)

// summary describes a payload or a result in one short line. The text may come from a model or a tool, so control
// characters are dropped.
func summary(v any) string {
	switch v := v.(type) {
	case agent.RunStart:
		return short(v.Task)
	case agent.Step:
		return fmt.Sprintf("step %d of %d", v.Number, v.Max)
	case agent.StepResult:
		return fmt.Sprintf("step %d, %d results", v.Step.Number, len(v.Results))
	case agent.ContextUse:
		return fmt.Sprintf("%d tokens", v.Tokens)
	case agent.LLMRequest:
		return fmt.Sprintf("%d messages, %d tools", len(v.Messages), len(v.Tools))
	case agent.LLMResponse:
		said := []string{short(v.Content)}
		for _, c := range v.ToolCalls {
			said = append(said, summary(c))
		}
		return strings.TrimSpace(strings.Join(said, " "))
	case agent.ToolCallRequest:
		return short(v.Name + " " + string(v.Args))
	case agent.ToolCallResult:
		if v.Err != "" {
			return short("error: " + v.Err)
		}
		return short(v.Output)
	case agent.AgentResult:
		return short(v.Reply)
	}
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return short(string(text))
}

// short truncates a text, so that it fits on one line after the point's name.
func short(s string) string {
	const most = 100
	r := []rune(clean(s))
	if len(r) > most {
		r = append(r[:most-1], '…')
	}
	return string(r)
}

// clean drops the characters that control a terminal.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, s)
}

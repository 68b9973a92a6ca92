package claudecode

import (
	"encoding/json"
	"slices"
	"strings"
)

// A verdict is the answer of one script, or of several together.
type verdict struct {
	blocks        bool // exit status 2, or the decision block, or a denied permission
	reason        string
	permission    string // of PreToolUse: "", allow, ask, defer or deny
	updatedInput  json.RawMessage
	updatedOutput json.RawMessage
	request       *requestDecision
	context       []string
	initialPrompt string
	stops         bool // continue is false
	stopReason    string
	messages      []Message
}

// refuses reports whether the verdict stops something.
func (v *verdict) refuses() bool {
	return v.blocks || v.stops || v.request != nil && v.request.Behavior == "deny"
}

// strictness lists the permission decisions, the strongest first.
var strictness = []string{"deny", "defer", "ask", "allow"}

// merge merges the answers of several scripts, in their order. The strictest decision counts, and the reasons of all
// scripts that gave it. The last update of an input or output counts. All texts for the model are kept.
func merge(all []verdict) (m verdict) {
	for _, v := range all {
		if v.permission != "" && (m.permission == "" ||
			slices.Index(strictness, v.permission) < slices.Index(strictness, m.permission)) {
			m.permission = v.permission
		}
		m.blocks = m.blocks || v.blocks
		if v.stops && !m.stops {
			m.stops, m.stopReason = true, v.stopReason
		}
		if v.updatedInput != nil {
			m.updatedInput = v.updatedInput
		}
		if len(v.updatedOutput) > 0 {
			m.updatedOutput = v.updatedOutput
		}
		if v.request != nil && (m.request == nil || v.request.Behavior == "deny" && m.request.Behavior == "allow") {
			m.request = v.request
		}
		if v.initialPrompt != "" {
			m.initialPrompt = v.initialPrompt
		}
		m.context = append(m.context, v.context...)
		m.messages = append(m.messages, v.messages...)
	}
	var reasons []string
	for _, v := range all {
		decided := v.blocks == m.blocks && (m.blocks || v.permission == m.permission)
		if decided && v.reason != "" && !slices.Contains(reasons, v.reason) {
			reasons = append(reasons, v.reason)
		}
	}
	m.reason = strings.Join(reasons, "; ")
	return m
}

package claudecode

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/hookgen/hookgen/builtin/internal/jsonx"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
)

// A requestDecision is an answer to PermissionRequest.
type requestDecision struct {
	Behavior           string          `json:"behavior"`
	UpdatedInput       json.RawMessage `json:"updatedInput"`
	UpdatedPermissions json.RawMessage `json:"updatedPermissions"`
	Message            string          `json:"message"`
	Interrupt          bool            `json:"interrupt"`
}

// An answer is the JSON that a script writes.
type answer struct {
	Continue      *bool  `json:"continue"`
	StopReason    string `json:"stopReason"`
	SystemMessage string `json:"systemMessage"`
	Decision      string `json:"decision"`
	Reason        string `json:"reason"`
	Specific      struct {
		Event             string           `json:"hookEventName"`
		Permission        string           `json:"permissionDecision"`
		PermissionReason  string           `json:"permissionDecisionReason"`
		UpdatedInput      json.RawMessage  `json:"updatedInput"`
		AdditionalContext string           `json:"additionalContext"`
		UpdatedOutput     json.RawMessage  `json:"updatedToolOutput"`
		UpdatedMCPOutput  json.RawMessage  `json:"updatedMCPToolOutput"`
		InitialPrompt     string           `json:"initialUserMessage"`
		Decision          *requestDecision `json:"decision"`
	} `json:"hookSpecificOutput"`
}

const (
	maxText   = 10_000 // characters of a text for the model
	maxQuoted = 300    // characters of any other text of a script in an error
)

// read reads the output of a script that ended with a status.
func read(event string, stdout []byte, stderr string, status int) (verdict, error) {
	text := bytes.TrimFunc(stdout, isBlank)
	var v verdict
	var invalid error
	isJSON := len(text) > 0 && text[0] == '{'
	if isJSON {
		var a answer
		invalid = json.Unmarshal(text, &a)
		if invalid == nil {
			v, invalid = a.verdict(event)
		}
		if invalid == nil {
			invalid = checkAnswer("answer", text, v.refuses())
		}
	}
	switch {
	case status == 2:
		if !v.blocks || v.reason == "" { // a reason to allow is none to block
			v.reason = shorten.Middle(stderr, maxText)
		}
		v.blocks = true
		if event == "PreToolUse" {
			v.permission = "deny"
		}
		return v, nil
	case invalid != nil:
		return verdict{}, fmt.Errorf("its JSON is invalid: %w", invalid)
	case status != 0 && !isJSON:
		first, _, _ := strings.Cut(stderr, "\n")
		return verdict{}, fmt.Errorf("exit status %d: %.*q", status, maxQuoted, first)
	}
	switch {
	case isJSON || len(text) == 0:
	case event == "SessionStart", event == "UserPromptSubmit":
		v.context = []string{shorten.Middle(strings.ToValidUTF8(string(text), "\ufffd"), maxText)}
	case endsWithAnswer(text):
		return verdict{}, errors.New("its JSON comes after other text, so that it is not read; write logs to standard error")
	}
	return v, nil
}

// isBlank reports whether Claude Code ignores a character before and after the JSON.
func isBlank(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' }

// endsWithAnswer reports whether a text that does not begin with an answer ends with one. For example, a guard prints a
// line for its log and then denies a call.
func endsWithAnswer(text []byte) bool {
	begin := bytes.Index(text, []byte("\n{"))
	if begin < 0 {
		return false
	}
	members, whole := jsonx.Members(text[begin:], -1)
	return whole && slices.ContainsFunc(members, func(m jsonx.Member) bool {
		return slices.Contains([]string{"decision", "continue", "hookSpecificOutput"}, m.Key)
	})
}

// verdict checks the answer and returns its decision. A refusal counts even if another part of the answer is wrong.
func (a *answer) verdict(event string) (verdict, error) {
	v := a.texts(event)
	if err := a.decide(event, &v); err != nil {
		return verdict{}, err
	}
	if v.refuses() {
		return v, nil
	}
	s := a.Specific
	if s.Event != "" && s.Event != event {
		return verdict{}, fmt.Errorf("its hookEventName is %.*q, and the event is %s", maxQuoted, s.Event, event)
	}
	var err error
	if v.updatedInput, err = object(s.UpdatedInput); err == nil && v.request != nil {
		v.request.UpdatedInput, err = object(v.request.UpdatedInput)
	}
	if err != nil {
		return verdict{}, err
	}
	return v, nil
}

// texts returns a verdict with the texts of the answer, and without its decision.
func (a *answer) texts(event string) verdict {
	s := a.Specific
	v := verdict{
		reason: shorten.Middle(a.Reason, maxText), updatedOutput: s.UpdatedOutput, initialPrompt: s.InitialPrompt,
	}
	if len(v.updatedOutput) == 0 {
		v.updatedOutput = s.UpdatedMCPOutput
	}
	if s.AdditionalContext != "" {
		v.context = []string{shorten.Middle(s.AdditionalContext, maxText)}
	}
	if a.SystemMessage != "" {
		v.messages = append(v.messages, Message{event, shorten.Middle(a.SystemMessage, maxText)})
	}
	return v
}

// decide adds the decision of the answer. A block counts next to a permission that allows.
func (a *answer) decide(event string, v *verdict) error {
	if a.Continue != nil && !*a.Continue {
		v.stops, v.stopReason = true, shorten.Middle(a.StopReason, maxText)
		v.messages = append(v.messages, Message{event, v.stopReason})
	}
	given := a.Specific.Permission
	switch {
	case a.Decision == "block":
		v.blocks = true
	case a.Decision == "approve" && event == "PreToolUse":
		v.permission = "allow"
	case a.Decision != "":
		return fmt.Errorf("the decision %.*q is not block", maxQuoted, a.Decision)
	}
	switch {
	case v.blocks || given == "":
	case !slices.Contains(strictness, given):
		return fmt.Errorf("the permissionDecision %.*q is not one of %q", maxQuoted, given, strictness)
	default:
		v.permission, v.reason = given, shorten.Middle(a.Specific.PermissionReason, maxText)
		v.blocks = given == "deny"
	}
	if v.blocks && event == "PreToolUse" {
		v.permission = "deny"
	}
	v.request = a.Specific.Decision
	if r := v.request; r != nil && r.Behavior != "allow" && r.Behavior != "deny" {
		return fmt.Errorf("the behavior %.*q is neither allow nor deny", maxQuoted, r.Behavior)
	}
	return nil
}

// object returns an updatedInput, or nil if it is missing or null.
func object(input json.RawMessage) (json.RawMessage, error) {
	switch {
	case len(input) == 0, bytes.Equal(input, []byte("null")):
		return nil, nil
	case input[0] != '{':
		return nil, errors.New("updatedInput is not an object")
	}
	return input, nil
}

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

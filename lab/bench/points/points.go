// Package points declares one point per law, all with the same payload, for the bench.
package points

import (
	"encoding/json"

	"github.com/hookgen/hookgen/spec"
)

//go:generate go run github.com/hookgen/hookgen/cmd/hookgen

// Points has one point per law.
//
//hookgen:points
type Points interface {
	// Watch is an observe point.
	Watch(Call)
	// Rewrite is a flow with Replace and without exits.
	Rewrite(Call) (spec.Replace, spec.FailClosed)
	// Flow is like the point that guards tools in an agent.
	Flow(Call) (spec.Replace, Skip, End, spec.FailClosed)
	// Lenient is like Flow with FailOpen.
	Lenient(Call) (spec.Replace, Skip, End, spec.FailOpen)
	// Trim is a flow with Edit: hooks may change only the arguments of the call.
	Trim(Call) (spec.Edit[json.RawMessage], spec.FailClosed)
	// Leave is a flow without Replace.
	Leave(Call) (Skip, End, spec.FailClosed)
	// Judge is a vote.
	Judge(Call) (spec.Vote, Deny, Ask, Allow, spec.FailClosed)
	// Gather collects.
	Gather(Call) spec.Collect[string]
	// Refuse is a check.
	Refuse(Call) spec.Check
	// Wrap wraps.
	Wrap(Call) spec.Around[Result]
}

// A Call is a tool call of a model: 64 bytes.
type Call struct {
	ID   string
	Name string
	Args json.RawMessage
	Step int
}

// A Result is the result of a tool.
type Result struct {
	Output, Err string
}

// Skip answers instead of the tool.
type Skip struct {
	Result Result
	Reason string
}

// End ends the turn.
type End struct{ Reply, Reason string }

// Deny refuses.
type Deny struct{ Reason string }

// Ask leaves the decision to a person.
type Ask struct{ Reason string }

// Allow permits.
type Allow struct{ Reason string }

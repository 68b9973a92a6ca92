// Package points declares a point for every law, all with the same payload: what the bench fires.
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
	// Watch is only observed.
	Watch(Call)
	// Rewrite is a flow whose hooks may replace the call, and no more.
	Rewrite(Call) (spec.Replace, spec.FailClosed)
	// Flow is the point that loops guard their tools with.
	Flow(Call) (spec.Replace, Skip, End, spec.FailClosed)
	// Lenient is the same where a hook that fails is passed over.
	Lenient(Call) (spec.Replace, Skip, End, spec.FailOpen)
	// Trim is a flow whose hooks may change the arguments of the call alone.
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

// A Call is a call of a tool, as a model asked for it: 64 bytes.
type Call struct {
	ID   string
	Name string
	Args json.RawMessage
	Step int
}

// A Result is what a tool answers.
type Result struct {
	Output, Err string
}

// Skip answers in the place of the tool.
type Skip struct {
	Result Result
	Reason string
}

// End ends the turn.
type End struct{ Reply, Reason string }

// Deny refuses.
type Deny struct{ Reason string }

// Ask leaves it to a person.
type Ask struct{ Reason string }

// Allow permits.
type Allow struct{ Reason string }

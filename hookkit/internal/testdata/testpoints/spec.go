// Package testpoints is a small spec with a point for each law, so that the tests of hookkit run on generated code.
package testpoints

import "github.com/hookgen/hookgen/spec"

//go:generate go run ../../../../cmd/hookgen

// Points has three flows that differ in one property each, and one point for each other law.
//
//hookgen:points
type Points interface {
	spec.Env[string]

	// First is a flow in which a failing hook is skipped.
	First(n int) (Stop, spec.FailOpen)
	// Second is a flow that a failing hook ends.
	Second(n int) (Stop, spec.FailClosed)
	// Last is First with the order mirrored.
	Last(n int) (spec.Reverse, Stop, spec.FailOpen)
	// Shape changes a letter.
	Shape(letter Letter) (spec.Replace, spec.Edit[Text], spec.FailOpen)
	// Poll is a vote that a failing hook ends.
	Poll(n int) (spec.Vote, Deny, Allow, spec.FailClosed)
	// PollOpen is a vote that skips a failing hook.
	PollOpen(n int) (spec.Vote, Deny, Allow, spec.FailOpen)
	// Gather collects, and skips a failing hook.
	Gather(n int) spec.Collect[string]
	// GatherClosed collects until a hook fails.
	GatherClosed(n int) (spec.Collect[string], spec.FailClosed)
	// Review decides about a letter and collects remarks.
	Review(letter Letter) (spec.Replace, Stop, Coded, Numbered, spec.Collect[string], spec.FailOpen)
	// Verify ends with the first error.
	Verify(n int) spec.Check
	// Wrap wraps an act that yields a text.
	Wrap(n int) spec.Around[string]
	// Watch is observed.
	Watch(n int)
}

// Text is the part of a Letter that an Edit changes.
type Text string

// Letter is a payload that hooks change.
type Letter struct {
	To   string
	Text Text
}

// Stop is an exit with a reason.
type Stop struct{ Reason string }

// Coded is an exit without a reason.
type Coded struct{ Code string }

// Numbered is an exit whose reason is not a text.
type Numbered struct{ Reason int }

// Deny is the stronger vote.
type Deny struct{ Reason string }

// Allow is the weaker vote.
type Allow struct{ Reason string }

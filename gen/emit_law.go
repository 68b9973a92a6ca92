package gen

import "strings"

// A law is the law of a point, with the methods that the template uses beside those of Law.
type law struct{ Law[Type] }

func (l law) Observe() bool     { return l.Kind == Observe }
func (l law) Flow() bool        { return l.Kind == Flow }
func (l law) Vote() bool        { return l.Kind == Vote }
func (l law) CollectOnly() bool { return l.Kind == Collect }
func (l law) Check() bool       { return l.Kind == Check }
func (l law) Around() bool      { return l.Kind == Around }

// A shape is the part of a law that determines the code of a point, except for the names.
type shape struct {
	kind                                               Kind
	policy                                             Policy
	replaces, edits, leaves, collects, reverse, listed bool
}

func (l law) shape() shape {
	return shape{l.Kind, l.Policy, l.Replace, l.Edits(), l.Leaves(), l.Collects(), l.Reverse, l.List != ""}
}

// Names returns the results of runHooks as a list of names.
func (l law) Names() string { return strings.Join(l.choose("exit", "collected", "err"), ", ") }

// choose returns the texts for those results that the law has: the exit, the contributions and the error.
func (l law) choose(exit, collected, err string) []string {
	var chosen []string
	if l.Leaves() {
		chosen = append(chosen, exit)
	}
	if l.Collects() {
		chosen = append(chosen, collected)
	}
	if l.ReturnsErr() {
		chosen = append(chosen, err)
	}
	return chosen
}

// Named returns the result list of runHooks, with a blank before it.
func (l law) Named() string {
	if l.Observe() {
		return ""
	}
	return " (" + strings.Join(l.choose("exit HookgenPointExit", "collected []HookgenCollected", "err error"), ", ") + ")"
}

// PayloadParam returns the payload parameter of runHooks: a pointer if hooks may change the payload.
func (l law) PayloadParam() string {
	if l.Rewrites() {
		return "payload *HookgenPayload"
	}
	return "payload HookgenPayload"
}

// By and ByNames return the parameters of runHooks for FireBy: declared, and as arguments.
func (l law) By() string      { return l.by("by *hookkit.By, ", "bys *[]hookkit.By, ") }
func (l law) ByNames() string { return l.by("by, ", "bys, ") }

func (l law) by(by, bys string) string {
	text := ""
	if l.DecidedByOne() {
		text = by
	}
	if l.Collects() {
		text += bys
	}
	return text
}

// ByOrNil returns the argument for the hook that decided.
func (l law) ByOrNil() string {
	if l.DecidedByOne() {
		return "by"
	}
	return "nil"
}

// FiredFields returns the assignments to the fields of fired that are known when the fire is decided.
func (l law) FiredFields() []string {
	var lines []string
	if l.Rewrites() {
		lines = append(lines, "fired.Final = *payload")
	}
	lines = append(lines, l.choose("fired.Exit = exit", "fired.Collected = hookimpl.Returned(recorded, collected)",
		"fired.Err = recorded.Err(err)")...)
	if l.Vote() {
		lines = append(lines, "fired.Ballots = recorded.Ballots()")
	}
	return lines
}

// Calls returns the constructor of the runtime for the description of the point.
func (l law) Calls() string {
	switch {
	case l.Decides() && l.Collects():
		return "DecidingAndCollecting"
	case l.Decides():
		return "Deciding"
	case l.Collects():
		return "Collecting"
	}
	return "Checking"
}

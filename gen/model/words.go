package model

import "github.com/hookgen/hookgen/internal/spelling"

// LawWords returns the law of the point in one to four short sentences: how hooks run, and their possible decisions.
// The result is the same in generated comments and in pages. It names no types, only exits and the field of Edit.
func (l Law[T]) LawWords() string {
	var words string
	switch l.Kind {
	case Observe:
		words = "Every hook runs. None can change or stop anything."
	case Flow:
		words = "Hooks run in order."
		if l.Edits() && l.Replace {
			words += " Each may replace the payload, or edit its " + l.EditField + ", for the next hooks and the program."
		} else if l.Replace {
			words += " Each may replace the payload for the next hooks and the program."
		} else if l.Edits() {
			words += " Each may edit the payload's " + l.EditField +
				", and nothing else of it, for the next hooks and the program."
		}
		if len(l.Exits) > 0 {
			words += " The first " + spelling.Or(l.Exits) + " ends the fire."
		}
	case Vote:
		words = "Every hook sees the same payload and may vote for " + spelling.Or(l.Exits) + "."
		if len(l.Exits) > 1 {
			words += " " + l.Exits[0] + " is the strongest, and the strongest vote wins."
		}
		words += " Without a vote, the program decides."
	case Collect:
		words = "Every hook contributes values, which the program gets in firing order."
	case Check:
		words = "Hooks run in order. The first error ends the fire, and the program gets it."
	case CheckAll:
		words = "Every hook runs and may refuse. The program gets all errors, joined in firing order."
	case Around:
		words = "Hooks wrap an act, the first hook outermost. Each calls next, perhaps again, or answers without it."
	}
	if l.Collects() && l.Kind != Collect {
		words += " Each may also contribute values, which the program gets in firing order."
	}
	for _, m := range Flags() {
		if *m.Flag(&l.Plain) {
			words += " " + m.Words
		}
	}
	if !l.Key.IsZero() {
		words += " Its key is the payload's " + l.Key.Field + "; see For" + l.Key.Name + "."
	}
	return words
}

// FailureWords returns the consequence of a hook that fails, in one sentence.
func (l Law[T]) FailureWords() string {
	consequence := "is reported, and the other hooks run."
	switch {
	case l.Policy == FailClosed:
		consequence = "ends the fire, and the program must refuse the act."
	case l.Policy == FailOpen:
		consequence = "is reported, and the next hook runs."
	case l.Kind == Check:
		consequence = "refuses: the fire returns the failure."
	case l.Kind == CheckAll:
		consequence = "refuses: the failure is among the errors that the fire returns."
	case l.Kind == Around:
		consequence = "fails the act: the next hook outward, or else the program, gets it."
	}
	return "A hook's error, panic or timeout " + consequence
}

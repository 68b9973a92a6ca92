package summary

import "fmt"

// LawWords returns the law of a point in sentences: how hooks run, and their possible decisions.
func (p *Point) LawWords() []string {
	var words []string
	say := func(format string, args ...any) { words = append(words, fmt.Sprintf(format, args...)) }
	switch p.Law {
	case "observe":
		say("Hooks watch: every hook runs, and none can change or stop anything.")
	case "flow":
		say("Hooks run in order.")
	case "vote":
		say("Every hook runs on the same payload and may vote for an exit. The exit that is listed first is the strongest " +
			"and wins; among equal votes the first hook does. If no hook votes, the program decides.")
	case "check":
		say("Hooks run in order, and each may refuse with an error. The first error ends the fire, and the program gets it.")
	case "around":
		say("Hooks wrap an act that returns `%s`, the first hook outermost. A hook calls next, calls it again to retry, or "+
			"answers without it.", p.Around.Text)
	}
	if p.Replace {
		say("A hook may replace the payload: the hooks after it and the program see the replacement.")
	}
	if !p.Edit.IsZero() {
		say("A hook may edit the field `%s`, of type `%s`: the hooks after it and the program see the edit.", p.EditField,
			p.Edit.Text)
		if !p.Replace {
			say("No hook can change the rest of the payload.")
		}
	}
	if p.Law == "flow" && len(p.Exits) > 0 {
		say("A hook may leave with an exit: the first exit ends the fire, and the remaining hooks do not run.")
	}
	if !p.Collect.IsZero() {
		also := ""
		if p.Law != "collect" {
			also = " also"
		}
		say("A hook may%s contribute values of type `%s`, which the program gets in firing order.", also, p.Collect.Text)
	}
	if p.Reverse {
		say("The order is reversed: last in, first out, and the inner layer before the outer.")
	}
	return words
}

// FailureWords returns the consequence of a hook that fails, in one sentence.
func (p *Point) FailureWords() string {
	const failing = "A hook that returns an error, panics or exceeds its timeout "
	switch {
	case p.Policy == "fail-closed":
		return failing + "ends the fire, and the program must refuse the act."
	case p.Policy == "fail-open":
		return failing + "is reported, and the next hook runs."
	case p.Law == "check":
		return failing + "refuses: the fire returns the failure."
	case p.Law == "around":
		return failing + "fails the act: the hook around it, or else the program, gets the error."
	}
	return failing + "is reported, and the other hooks run."
}

// Brief returns the law in a few words, for example "flow: replace, edit Text". Exits are left out.
func (p *Point) Brief() string {
	brief := p.Law
	switch p.Law {
	case "collect":
		brief += " " + p.Collect.Text
	case "around":
		brief += " " + p.Around.Text
	default:
		var may []string
		if p.Replace {
			may = append(may, "replace")
		}
		if !p.Edit.IsZero() {
			may = append(may, "edit "+p.EditField)
		}
		if !p.Collect.IsZero() {
			may = append(may, "collect "+p.Collect.Text)
		}
		for i, m := range may {
			brief += []string{": ", ", "}[min(i, 1)] + m
		}
	}
	if p.Reverse {
		brief += ", reversed"
	}
	return brief
}

// PolicyBrief returns the policy in two words, or "" at a point without one.
func (p *Point) PolicyBrief() string {
	switch p.Policy {
	case "fail-closed":
		return "fails closed"
	case "fail-open":
		return "fails open"
	}
	return ""
}

package summary

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

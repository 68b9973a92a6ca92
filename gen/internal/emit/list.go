package emit

import "strings"

// A param is a parameter or a result. Its name may be empty.
type param struct{ name, typ string }

// maxColumns is the length of a line beyond which a list of parameters is broken: it gets a line of its own, or each
// parameter does if that would be too long, too.
const maxColumns = 112

// signature returns parameters and results. The rest of their line has a width in columns.
func signature(width int, params, results []param) string {
	text := list(params, width+columns(params)+columns(results) > maxColumns)
	switch {
	case len(results) == 0:
		return text
	case len(results) == 1 && results[0].name == "":
		return text + " " + results[0].typ
	}
	return text + " " + list(results, columns(results) > maxColumns)
}

func list(params []param, broken bool) string {
	texts := make([]string, len(params))
	for i, p := range params {
		texts[i] = strings.TrimPrefix(p.name+" "+p.typ, " ")
	}
	switch {
	case !broken || len(params) == 0:
		return "(" + strings.Join(texts, ", ") + ")"
	case columns(params) < maxColumns:
		return "(\n" + strings.Join(texts, ", ") + ",\n)"
	}
	return "(\n" + strings.Join(texts, ",\n") + ",\n)"
}

// columns returns the columns of a list.
func columns(params []param) int {
	sum := 0
	for _, p := range params {
		sum += len(p.name) + len(" ") + len(p.typ) + len(", ")
	}
	return sum
}

// oneLine joins the items of a list, with line breaks if a line would be longer than limit.
func oneLine(items []string, limit int) string {
	if line := strings.Join(items, ", "); len(line) < limit {
		return line
	}
	return strings.Join(items, ",\n")
}

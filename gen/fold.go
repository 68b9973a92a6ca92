package gen

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The maximal lengths of lines of generated code, if they can be broken at all. A tab counts as one column.
const (
	maxColumns   = 120 // of code
	proseColumns = 100 // of comments
)

// fill breaks comment lines that are too long into lines of words. Each paragraph of generated documentation is one
// line before. The documentation of the spec is not filled: its lines end where the author ended them.
func fill(text string) string {
	return eachLong(text, proseColumns, func(out *strings.Builder, line string) {
		body := strings.TrimLeft(line, "\t")
		if !strings.HasPrefix(body, "// ") {
			out.WriteString(line)
			return
		}
		begin := line[:len(line)-len(body)] + "//"
		column := len(begin)
		out.WriteString(begin)
		for i, word := range strings.Fields(body[2:]) {
			length := 1 + utf8.RuneCountInString(word)
			if i > 0 && column+length > proseColumns {
				out.WriteString("\n" + begin)
				column = len(begin)
			}
			out.WriteString(" " + word)
			column += length
		}
	})
}

// fold breaks lines of code that are too long, one element of a list per line. For example, each parameter of a long
// signature gets a line of its own. The names of a spec decide how long lines are, so that folding is the last step.
// gofmt leaves the result as it is.
func fold(code string) string {
	return eachLong(code, maxColumns, func(out *strings.Builder, line string) {
		indent := line[:len(line)-len(strings.TrimLeft(line, "\t"))]
		if list, ok := strings.CutPrefix(line[len(indent):], "case "); ok {
			out.WriteString(indent + "case " + strings.ReplaceAll(list, ", ", ",\n"+indent+"\t"))
			return
		}
		g := outermost(line)
		if g.close == 0 {
			out.WriteString(line)
			return
		}
		out.WriteString(line[:g.open+1] + "\n")
		from := g.open + 1
		for _, comma := range append(g.commas, g.close) {
			out.WriteString(fold(indent+"\t"+strings.TrimSpace(line[from:comma])+",") + "\n")
			from = comma + 1
		}
		out.WriteString(fold(indent + line[g.close:]))
	})
}

// eachLong applies a function to each line that has more columns, and leaves the other lines unchanged.
func eachLong(text string, columns int, do func(out *strings.Builder, line string)) string {
	var out strings.Builder
	done := 0
	for start := 0; start < len(text); {
		end := len(text)
		if n := strings.IndexByte(text[start:], '\n'); n >= 0 {
			end = start + n
		}
		if end-start > columns && utf8.RuneCountInString(text[start:end]) > columns {
			if done == 0 {
				out.Grow(len(text) + len(text)/4)
			}
			out.WriteString(text[done:start])
			do(&out, text[start:end])
			done = end
		}
		start = end + 1
	}
	if done == 0 {
		return text
	}
	out.WriteString(text[done:])
	return out.String()
}

// A parenList is a list in parentheses: the offsets of the parentheses, and of the commas between its elements.
type parenList struct {
	open, close int
	commas      []int
}

// outermost returns the first of the outermost lists in a line, or a zero list if there is none. Each element of such
// a list can be on a line of its own: these are parameters, results and arguments, not a receiver or an assertion.
func outermost(line string) parenList {
	type level struct {
		parenList
		list bool
	}
	var found parenList
	var depth int // of found
	var open []level
	for i := 0; i < len(line); i++ {
		switch c := line[i]; c {
		case '"', '`', '\'':
			i += len(quoted(line[i:])) - 1
		case '/':
			if strings.HasPrefix(line[i:], "//") {
				return found
			}
		case '(', '[', '{':
			open = append(open, level{parenList{open: i}, c == '(' && lists(line[:i])})
		case ',':
			if len(open) > 0 {
				last := &open[len(open)-1]
				last.commas = append(last.commas, i)
			}
		case ')', ']', '}':
			if len(open) == 0 {
				continue // it was opened in another line
			}
			last := open[len(open)-1]
			open = open[:len(open)-1]
			last.close = i
			if last.list && last.close > last.open+1 && (found.close == 0 || len(open) < depth) {
				found, depth = last.parenList, len(open)
			}
		}
	}
	return found
}

// lists reports whether a parenthesis after the text begins parameters, results or arguments.
func lists(before string) bool {
	if strings.HasSuffix(before, ") ") || strings.HasSuffix(before, "func") || strings.HasSuffix(before, "]") {
		return true
	}
	last, _ := utf8.DecodeLastRuneInString(before)
	return last == '_' || unicode.IsLetter(last) || unicode.IsDigit(last)
}

// quoted returns the string or character literal at the beginning of the text.
func quoted(text string) string {
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '\\' && text[0] != '`':
			i++
		case text[i] == text[0]:
			return text[:i+1]
		}
	}
	return text
}

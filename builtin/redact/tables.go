package redact

import (
	"embed"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// tables has the forms of tokens and the words of names, as texts with one entry a line. Each describes its columns.
//
//go:embed tables/*.txt
var tables embed.FS

// table returns the fields of the entries of a table.
func table(name string) [][]string {
	text, err := tables.ReadFile("tables/" + name + ".txt")
	if err != nil {
		panic(err)
	}
	var rows [][]string
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 0 && fields[0] != "#" {
			rows = append(rows, fields)
		}
	}
	return rows
}

// entries returns the entries of a table, each made of its fields.
func entries[T any](name string, entry func(fields []string) T) (list []T) {
	for _, row := range table(name) {
		list = append(list, entry(row))
	}
	return list
}

// byFirst returns the entries by the first byte of their text, in their order.
func byFirst[T any](list []T, text func(T) string) (groups [256][]T) {
	for _, e := range list {
		first := text(e)[0]
		groups[first] = append(groups[first], e)
	}
	return groups
}

// lists holds the lists of words by their names.
var lists = func() map[string][]string {
	lists, name := make(map[string][]string), ""
	for _, row := range table("words") {
		if row[0] == "==" {
			name = row[1]
			continue
		}
		lists[name] = append(lists[name], row...)
	}
	return lists
}()

// set returns a list of words as a set.
func set(list string) map[string]bool {
	words := make(map[string]bool, len(lists[list]))
	for _, w := range lists[list] {
		words[w] = true
	}
	return words
}

// hasAny reports whether one of the words of a list fits s, for example as a prefix.
func hasAny(s, list string, fits func(s, word string) bool) bool {
	return slices.ContainsFunc(lists[list], func(word string) bool { return fits(s, word) })
}

// A run is a part of a token: a number of bytes of an alphabet.
type run struct {
	of          *alphabet
	least, most int
}

// runOf parses the columns of an alphabet and a size: 36, 30-40, or 16+ for 16 or more.
func runOf(alphabet, size string) run {
	size, open := strings.CutSuffix(size, "+")
	least, most, isRange := strings.Cut(size, "-")
	r := run{of: bytesOf(alphabet), least: number(least), most: number(least)}
	switch {
	case isRange:
		r.most = number(most)
	case open:
		r.most = math.MaxInt
	}
	return r
}

// has reports whether the part can have n bytes.
func (r run) has(n int) bool { return r.least <= n && n <= r.most }

func number(column string) int {
	n, err := strconv.Atoi(column)
	if err != nil {
		panic(fmt.Sprintf("redact: %q in a table is not a number", column))
	}
	return n
}

// bytesOf parses the column of an alphabet: a name, or a list of bytes in brackets.
func bytesOf(column string) *alphabet {
	if list, ok := strings.CutPrefix(column, "["); ok {
		return chars(strings.TrimSuffix(list, "]"))
	}
	if a := alphabets[column]; a != nil {
		return a
	}
	panic(fmt.Sprintf("redact: no alphabet has the name %q", column))
}

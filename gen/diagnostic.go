package gen

import (
	"cmp"
	"encoding/json"
	"go/token"
	"slices"
	"strings"
)

// A Diagnostic is one problem in a spec: its position, a message that ends with the remedy, and the id of the rule that
// was broken.
type Diagnostic struct {
	Pos     token.Position // Line is 0 where the finding is about a whole file or directory
	Message string         // the problem: the remedy
	Rule    string         // the id of the rule
}

// RuleIO is the rule of a Diagnostic about a file that could not be read or written, as opposed to a mistake in its
// contents.
const RuleIO = "io"

// String formats the diagnostic as file:line:col: message (rule).
func (d Diagnostic) String() string {
	return d.Pos.String() + ": " + d.Message + " (" + d.Rule + ")"
}

// MarshalJSON encodes the diagnostic as an object with the members file, line, col, message and rule. Line and col
// count from 1. Both are 0 if the problem concerns a whole file or directory.
func (d Diagnostic) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		File    string `json:"file"`
		Line    int    `json:"line"`
		Col     int    `json:"col"`
		Message string `json:"message"`
		Rule    string `json:"rule"`
	}{d.Pos.Filename, d.Pos.Line, d.Pos.Column, d.Message, d.Rule})
}

// Diagnostics are all problems that one run found, sorted by file, line and column. Nil means that the run found no
// problem.
type Diagnostics []Diagnostic

// Error returns the diagnostics as text, one per line.
func (ds Diagnostics) Error() string {
	lines := make([]string, len(ds))
	for i, d := range ds {
		lines[i] = d.String()
	}
	return strings.Join(lines, "\n")
}

// JSON encodes the diagnostics as an indented array with a final newline. Without diagnostics the array is [].
func (ds Diagnostics) JSON() ([]byte, error) {
	if ds == nil {
		ds = Diagnostics{}
	}
	text, err := json.MarshalIndent([]Diagnostic(ds), "", "  ")
	if err != nil {
		return nil, err
	}
	return append(text, '\n'), nil
}

// Trouble reports whether a file could not be read or written: whether a diagnostic has the rule [RuleIO].
func (ds Diagnostics) Trouble() bool {
	return slices.ContainsFunc(ds, func(d Diagnostic) bool { return d.Rule == RuleIO })
}

// sorted sorts the diagnostics by position and removes duplicates.
func (ds Diagnostics) sorted() Diagnostics {
	slices.SortFunc(ds, func(a, b Diagnostic) int {
		return cmp.Or(
			cmp.Compare(a.Pos.Filename, b.Pos.Filename),
			cmp.Compare(a.Pos.Line, b.Pos.Line),
			cmp.Compare(a.Pos.Column, b.Pos.Column),
			cmp.Compare(a.Rule, b.Rule),
			cmp.Compare(a.Message, b.Message),
		)
	})
	return slices.CompactFunc(ds, func(a, b Diagnostic) bool {
		a.Pos.Offset, b.Pos.Offset = 0, 0
		return a == b
	})
}

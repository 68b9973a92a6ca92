package breaking

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
)

// String formats a finding as file:line:col: verdict: message (rule), with the position in the old version.
func (f Finding) String() string {
	was := ""
	if f.Old.IsValid() {
		was = fmt.Sprintf("; was %s:%d", f.Old.Filename, f.Old.Line)
	}
	concerns := ""
	const most = 3
	switch n := len(f.Points); {
	case n > most:
		concerns = fmt.Sprintf(" [%s and %d more]", strings.Join(f.Points[:most-1], ", "), n-most+1)
	case n > 1:
		concerns = " [" + strings.Join(f.Points, ", ") + "]"
	}
	return fmt.Sprintf("%s: %s: %s%s (%s%s)", f.Pos, f.Verdict, f.Message, concerns, f.Rule, was)
}

// JSON encodes findings as an indented array with a final newline. A finding that concerns several points has one
// element for each.
func JSON(findings []Finding) ([]byte, error) {
	type element struct {
		Rule    string  `json:"rule"`
		Verdict Verdict `json:"verdict"`
		Point   string  `json:"point"` // empty for the whole spec
		Message string  `json:"message"`
		File    string  `json:"file"`
		Line    int     `json:"line"`
		Col     int     `json:"col"`
		OldFile string  `json:"oldFile"` // empty if the old version has nothing like it
		OldLine int     `json:"oldLine"`
	}
	all := []element{}
	for _, f := range findings {
		points := f.Points
		if len(points) == 0 {
			points = []string{""}
		}
		for _, point := range points {
			all = append(all, element{f.Rule, f.Verdict, point, f.Message, f.Pos.Filename, f.Pos.Line, f.Pos.Column,
				f.Old.Filename, f.Old.Line})
		}
	}
	text, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return nil, err
	}
	return append(text, '\n'), nil
}

// GitHub formats findings as workflow commands, which GitHub shows as annotations of the lines.
func GitHub(findings []Finding) string {
	var b strings.Builder
	for _, f := range findings {
		level := "notice"
		if f.Fails() {
			level = "error"
		}
		fmt.Fprintf(&b, "::%s file=%s,line=%d,col=%d,title=%s::%s\n", level, property(filepath.ToSlash(f.Pos.Filename)),
			f.Pos.Line, f.Pos.Column, property(fmt.Sprintf("%s (%s)", f.Verdict, f.Rule)), data(f.Message))
	}
	return b.String()
}

// data escapes the text of a workflow command, and property one of its properties.
func data(text string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(text)
}

func property(text string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(data(text))
}

// Summary counts findings by verdict, for example "2 breaks-hooks, 1 safe".
func Summary(findings []Finding) string {
	var parts []string
	for _, v := range Verdicts {
		n := 0
		for _, f := range findings {
			if f.Verdict == v {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, v))
		}
	}
	return strings.Join(parts, ", ")
}

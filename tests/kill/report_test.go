package kill

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hookgen/hookgen/tests/figures"
)

const root = "../.."

// writeReport writes what the kills came to. It is called when no test has failed.
func writeReport() error {
	r := figures.Report{
		Name:    "kill",
		Command: fmt.Sprintf("go test ./tests/kill -count=1 -kills %d -timeout 0 -report", *kills),
	}
	var all tally
	for _, name := range slices.Sorted(maps.Keys(tallies.of)) {
		t := tallies.of[name]
		note := fmt.Sprintf("%d within a write; %d left a temporary file", t.within, t.files)
		if t.torn > 0 {
			note += fmt.Sprintf(", %d an unfinished last line", t.torn)
		}
		r.Figures = append(r.Figures, figures.Figure{Of: "kills of " + name, Value: fmt.Sprint(t.kills), Note: note})
		all.kills, all.within, all.files, all.torn = all.kills+t.kills, all.within+t.within, all.files+t.files, all.torn+t.torn
	}
	r.Figures = append(r.Figures,
		figures.Figure{Of: "kills in all", Value: fmt.Sprint(all.kills), Note: fmt.Sprintf("%d within a write", all.within)},
		figures.Figure{Of: "files that held half of a version, or not the last one", Value: "0", Bound: "0", Holds: figures.Yes, Note: "read by what reads them in use"},
		figures.Figure{Of: "unfinished last lines of logs", Value: fmt.Sprint(all.torn), Note: "each was told from a record by its reader, and the next line was whole"},
		figures.Figure{Of: "temporary files left by kills", Value: fmt.Sprint(all.files), Note: "none was read as content; those older than an hour were gone after the next write"},
	)
	if err := r.Stamp(root); err != nil {
		return err
	}
	return r.Write(root)
}

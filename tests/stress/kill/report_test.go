package kill

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hookgen/hookgen/lab/figures"
)

const root = "../../.."

// writeReport writes the results of the kills. It is called only if no test has failed.
func writeReport() error {
	r := figures.Report{
		Name:    "kill",
		Command: fmt.Sprintf("go test ./tests/stress/kill -count=1 -kills %d -timeout 0 -report", *kills),
	}
	var all tally
	for _, name := range slices.Sorted(maps.Keys(tallies.of)) {
		t := tallies.of[name]
		note := fmt.Sprintf("%d of them %s", t.within, t.when)
		if t.files > 0 {
			note += fmt.Sprintf(", %d left a temporary file", t.files)
		}
		if t.torn > 0 {
			note += fmt.Sprintf(", %d left an unfinished last line", t.torn)
		}
		r.Figures = append(r.Figures, figures.Figure{Of: "kills of " + name, Value: fmt.Sprint(t.kills), Note: note})
		all.kills, all.files, all.torn = all.kills+t.kills, all.files+t.files, all.torn+t.torn
	}
	r.Figures = append(r.Figures,
		figures.Figure{Of: "kills in all", Value: fmt.Sprint(all.kills)},
		figures.Figure{
			Of: "files that held half of a version, or an older one than the last that was done", Value: "0", Bound: "0",
			Holds: figures.Yes, Note: "read by what reads them in use",
		},
		figures.Figure{
			Of: "unfinished last lines of logs", Value: fmt.Sprint(all.torn),
			Note: "in files that are appended to. VerifyAudit names such a line, in the others it is invalid JSON or a note " +
				"that ends early; the next one was whole each time",
		},
		figures.Figure{
			Of: "temporary files left by kills", Value: fmt.Sprint(all.files),
			Note: "none was read as content; those of an hour ago were gone after the next write into their directory",
		},
	)
	if err := r.Stamp(root); err != nil {
		return err
	}
	return r.Write(root)
}

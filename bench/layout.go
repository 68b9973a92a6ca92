package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// layouts is how many programs measure the fires, each with its functions in another order. Where the linker puts a loop
// is worth a tenth of it, more than what is compared; so each contestant is taken where it is quickest.
const layouts = 4

// A sheet is a timing on its way from such a program.
type sheet struct {
	Name   string
	Rounds []float64
	Allocs float64
}

// layout measures the fires of every law and number of hooks, and prints the sheets of each comparison.
func (p pace) layout() error {
	var all [][]sheet
	for _, n := range hookCounts {
		for _, l := range lineups(n) {
			var sheets []sheet
			for _, t := range p.measure(l.runs) {
				sheets = append(sheets, sheet{t.name, t.rounds, t.allocs})
			}
			all = append(all, sheets)
		}
	}
	return json.NewEncoder(os.Stdout).Encode(all)
}

// laidOut has the fires measured by a program for each layout.
func (c config) laidOut() ([]compared, error) {
	dir, err := os.MkdirTemp("", "bench-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	found := make([][][]sheet, layouts)
	for k := range found {
		begin("fires, layout %d of %d", k+1, layouts)
		program := filepath.Join(dir, fmt.Sprint("bench", k))
		build := exec.Command("go", "build", fmt.Sprintf("-ldflags=-randlayout=%d", k+1), "-o", program, ".")
		if out, err := build.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%v: %w\n%s", build, err, out)
		}
		run := exec.Command(program, "-layout", fmt.Sprintf("-rounds=%d", max(parts, c.pace.rounds/layouts)), fmt.Sprintf("-round=%v", c.pace.round))
		run.Stderr = os.Stderr
		out, err := run.Output()
		if err != nil {
			return nil, fmt.Errorf("%v: %w", run, err)
		}
		if err := json.Unmarshal(out, &found[k]); err != nil {
			return nil, fmt.Errorf("%v: %w", run, err)
		}
	}
	var all []compared
	for _, n := range hookCounts {
		for _, l := range lineups(n) {
			all = append(all, compared{l, together(found, len(all))})
		}
	}
	return all, nil
}

// together puts the sheets of one comparison together, so that each part of the rounds has some of every layout.
func together(found [][][]sheet, comparison int) []timing {
	ts := make([]timing, len(found[0][comparison]))
	for i := range ts {
		ts[i] = timing{name: found[0][comparison][i].Name, allocs: found[0][comparison][i].Allocs}
		for part := range parts {
			for _, layout := range found {
				s := layout[comparison][i]
				ts[i].rounds = append(ts[i].rounds, timing{rounds: s.Rounds}.part(part)...)
			}
		}
	}
	return ts
}

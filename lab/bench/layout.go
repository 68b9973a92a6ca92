package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// layouts is the number of programs that measure the fires, each with another order of functions. The position of
// a loop in the binary changes its speed by up to ten percent, more than the compared differences. Each contestant
// therefore counts with its fastest layout.
const layouts = 4

// A sheet is the JSON form of a timing, printed by such a program.
type sheet struct {
	Name   string
	Rounds []float64
	Allocs float64
}

// laidOutParts are the parts of a run that such programs measure. Each function returns the comparisons of one
// part.
var laidOutParts = map[string]func() [][]contestant{
	"fires": func() [][]contestant {
		var all [][]contestant
		for _, n := range hookCounts {
			for _, l := range lineups(n) {
				all = append(all, l.runs)
			}
		}
		return all
	},
	"runtime": func() [][]contestant {
		var all [][]contestant
		for _, b := range runtimeBounds() {
			for _, d := range b.cases {
				all = append(all, d.runs)
			}
		}
		return all
	},
}

// layout measures a part and prints the sheets of each comparison.
func (p pace) layout(part string) error {
	comparisons, ok := laidOutParts[part]
	if !ok {
		return fmt.Errorf("part %q is not measured in several layouts", part)
	}
	var all [][]sheet
	for _, runs := range comparisons() {
		var sheets []sheet
		for _, t := range p.measure(runs) {
			sheets = append(sheets, sheet{t.name, t.rounds, t.allocs})
		}
		all = append(all, sheets)
	}
	return json.NewEncoder(os.Stdout).Encode(all)
}

// laidOut runs one program per layout to measure a part, and returns the timings of each comparison.
func (c config) laidOut(part string) ([][]timing, error) {
	dir, err := os.MkdirTemp("", "bench-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	found := make([][][]sheet, layouts)
	for k := range found {
		begin("%s, layout %d of %d", part, k+1, layouts)
		program := filepath.Join(dir, fmt.Sprint("bench", k))
		build := exec.Command("go", "build", fmt.Sprintf("-ldflags=-randlayout=%d", k+1), "-o", program, ".")
		if out, err := build.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%v: %w\n%s", build, err, out)
		}
		run := exec.Command(program, "-layout="+part, fmt.Sprintf("-rounds=%d", max(parts, c.pace.rounds/layouts)),
			fmt.Sprintf("-round=%v", c.pace.round))
		run.Stderr = os.Stderr
		out, err := run.Output()
		if err != nil {
			return nil, fmt.Errorf("%v: %w", run, err)
		}
		if err := json.Unmarshal(out, &found[k]); err != nil {
			return nil, fmt.Errorf("%v: %w", run, err)
		}
	}
	all := make([][]timing, len(found[0]))
	for i := range all {
		all[i] = together(found, i)
	}
	return all, nil
}

// together merges the sheets of one comparison, so that each part of the rounds contains every layout.
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

package main

import (
	"fmt"

	"github.com/hookgen/hookgen/lab/figures"
)

// figures converts the report to the common format: every bound, and the main comparisons.
func (r report) figures() figures.Report {
	f := figures.Report{Name: "bench", Command: r.command}
	for _, c := range r.claims {
		f.Figures = append(f.Figures, c.figure())
	}
	say := func(of, value, note string) {
		f.Figures = append(f.Figures, figures.Figure{Group: "Comparisons", Of: of, Value: value, Note: note})
	}
	for _, b := range r.built {
		say(fmt.Sprintf("what a generated package adds to a binary, each point of %d", b.n),
			figure(b.inBinary(b.binary))+" KB", figure(b.inBinary(b.bare))+" KB without debug information")
	}
	say("noise of the machine, median round over quickest", r.machine.noises(), "load of the minute before: "+
		r.machine.load)
	return f
}

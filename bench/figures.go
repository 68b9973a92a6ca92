package main

import (
	"fmt"

	"github.com/hookgen/hookgen/lab/figures"
)

// figures converts the report to the common format: every bound, and the main comparisons.
func (r report) figures() figures.Report {
	f := figures.Report{Name: "bench", Command: r.command}
	for _, proposed := range []bool{false, true} {
		for _, c := range r.claims {
			if c.proposed == proposed {
				f.Figures = append(f.Figures, c.figure())
			}
		}
	}
	say := func(of, value, note string) {
		f.Figures = append(f.Figures, figures.Figure{Group: "Comparisons", Of: of, Value: value, Note: note})
	}
	for _, c := range r.fires {
		if c.hooks == 8 && len(c.runs) > 2 && !c.busy {
			say(fmt.Sprintf("Fire, 8 continuing hooks, over a %s: %s", c.runs[2].name, c.law), c.floor().String(),
				fmt.Sprintf("that over the hand-written loop of the bound: %s", c.runs[2].over(c.runs[1])))
		}
	}
	for _, round := range r.peers {
		if round.hooks != 8 {
			continue
		}
		does := "continuing"
		if round.busy {
			does = "replacing"
		}
		for _, t := range round.runs[1:] {
			if round.busy || !peerBounded(t.name) {
				say(fmt.Sprintf("Fire, 8 %s hooks, over %s", does, t.name), round.runs[0].over(t).String(),
					fmt.Sprintf("%s ns over %s ns", figure(round.runs[0].best()), figure(t.best())))
			}
		}
	}
	for _, race := range r.races {
		for _, e := range race.entries {
			if mine, ok := race.find(nameHookgen, e.n); ok && e.name != nameHookgen {
				say(fmt.Sprintf("hookgen on %d points, whole process, over %s on %d types", e.n, e.name, e.n),
					mine.over(e.wall).String(),
					fmt.Sprintf("%s ms over %s ms", figure(mine.best()/1e6), figure(e.wall.best()/1e6)))
			}
		}
	}
	for _, b := range r.built {
		what := fmt.Sprintf("mockgen -source, %d interfaces", b.n)
		if b.name != "" {
			what = fmt.Sprintf("hookgen, %d %s", b.n, b.points())
		}
		say("what a generated package adds to a binary, each: "+what, figure(b.inBinary(b.binary))+" KB",
			figure(b.inBinary(b.bare))+" KB without debug information")
	}
	say("noise of the machine, median round over quickest", r.machine.noises(), "load of the minute before: "+
		r.machine.load)
	return f
}

// peerBounded reports whether there is a bound against the peer.
func peerBounded(name string) bool {
	for _, b := range peerBounds {
		if b.name == name {
			return true
		}
	}
	return false
}

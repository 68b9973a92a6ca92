// Command bench measures what a fire costs, beside what a person writes by hand and beside other libraries, and what
// hookgen costs as a process, beside other generators. It prints its report and writes it as RESULTS.md, with a chart in
// results.svg and the bounds in results.json. It is a module of its own, outside the workspace:
//
//	GOWORK=off go -C bench run .
//
// The figures of a machine that does other work at the same time are worth little; the report says how noisy it was.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func main() {
	var c config
	flag.IntVar(&c.pace.rounds, "rounds", 60, "rounds of each contestant")
	flag.DurationVar(&c.pace.round, "round", 15*time.Millisecond, "length of a round")
	flag.IntVar(&c.runs, "runs", 12, "runs of each process")
	flag.IntVar(&c.builds, "builds", 3, "builds of each generated package")
	flag.StringVar(&c.out, "out", ".", "`directory` for the report")
	only := flag.String("only", "", "comma-separated `parts`: fires, twice, peers, costs, processes, builds; all if empty")
	flag.Parse()
	if *only != "" {
		c.only = strings.Split(*only, ",")
	}
	if err := c.main(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// A config is what the flags say.
type config struct {
	pace   pace
	runs   int
	builds int
	out    string
	only   []string
}

// parts reports whether the part is asked for, and says so.
func (c config) part(name string) bool {
	if len(c.only) > 0 && !slices.Contains(c.only, name) {
		return false
	}
	fmt.Fprintf(os.Stderr, "measuring: %s\n", name)
	return true
}

func (c config) main() error {
	r := report{machine: newMachine(), pace: c.pace}
	r.machine.listen(c.pace)
	c.fires(&r)
	c.peers(&r)
	if c.part("costs") {
		for _, cost := range costs() {
			r.costs = append(r.costs, costRound{cost.title, c.pace.measure(cost.runs)})
		}
	}
	if err := c.processes(&r); err != nil {
		return err
	}
	r.machine.listen(c.pace)
	return c.write(r)
}

// fires measures every law.
func (c config) fires(r *report) {
	one, two := c.part("fires"), c.part("twice")
	for _, n := range []int{0, 1, 8, 64} {
		for _, l := range lineups(n) {
			if one {
				r.fires = append(r.fires, compared{l, c.pace.measure(l.runs)})
			}
			if two && n == 8 && !l.busy {
				r.twice = append(r.twice, compared{l, c.pace.measure([]contestant{twice(l.runs[0]), l.runs[0]})})
			}
		}
	}
	if one {
		r.claims = append(r.claims, fireClaims(r.fires)...)
	}
	r.claims = append(r.claims, twiceClaims(8, r.twice)...)
}

// peers measures the peers.
func (c config) peers(r *report) {
	if !c.part("peers") {
		return
	}
	for _, n := range []int{0, 1, 8, 64} {
		q, b := newStage(n)
		quiet, busy := []contestant{{"hookgen", q.flow}}, []contestant{{"hookgen", b.flow}}
		for _, p := range peers() {
			quiet = append(quiet, contestant{p.name, p.quiet(n)})
			if p.busy != nil {
				busy = append(busy, contestant{p.name, p.busy(n)})
			}
		}
		runs := c.pace.measure(quiet)
		r.peers = append(r.peers, peerRound{n, false, runs})
		r.claims = append(r.claims, peerClaims(n, runs)...)
		if n == 8 {
			r.peers = append(r.peers, peerRound{n, true, c.pace.measure(busy)})
		}
	}
}

// processes measures the generators and what they make.
func (c config) processes(r *report) error {
	race, build := c.part("processes"), c.part("builds")
	if !race && !build {
		return nil
	}
	root, err := filepath.Abs("..")
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "hookgen-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	w, err := newWorkshop(dir)
	if err != nil {
		return err
	}
	if race {
		if err := c.race(w, r); err != nil {
			return err
		}
	}
	if !build {
		return nil
	}
	r.built = map[string][]built{}
	for _, n := range []int{30, 300} {
		ours, err := w.hookgenPackage(root, n, c.builds)
		if err != nil {
			return err
		}
		theirs, err := w.mockPackage(n, c.builds)
		if err != nil {
			return err
		}
		r.built["hookgen"] = append(r.built["hookgen"], ours)
		r.built["mockgen -source"] = append(r.built["mockgen -source"], theirs)
	}
	r.claims = append(r.claims, builtClaims(r.built["hookgen"])...)
	return nil
}

func (c config) race(w workshop, r *report) error {
	everybody := append([]generator{hookgenOn}, others...)
	for _, of := range []struct {
		n    int
		runs int
		gs   []generator
	}{
		{1, c.runs, others[:1]}, // stringer, for the bound on 6 points
		{6, 2 * c.runs, everybody},
		{100, c.runs, everybody},
		{300, c.runs, everybody},
		{1000, c.runs, []generator{hookgenOn}},
	} {
		done, err := w.race(of.n, of.runs, of.gs...)
		if err != nil {
			return err
		}
		r.races = append(r.races, done)
	}
	r.claims = append(r.claims, raceClaims(r.races)...)
	return nil
}

// write prints the report and writes its files.
func (c config) write(r report) error {
	text := r.markdown()
	fmt.Print(text)
	bounds, err := json.MarshalIndent(struct {
		Command string  `json:"command"`
		Machine string  `json:"machine"`
		Claims  []claim `json:"claims"`
	}{"GOWORK=off go -C bench run .", r.machine.String(), r.claims}, "", "\t")
	if err != nil {
		return err
	}
	for name, content := range map[string]string{
		"RESULTS.md": text, "results.svg": chart(r.panels()), "results.json": string(bounds) + "\n",
	} {
		if err := os.WriteFile(filepath.Join(c.out, name), []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}

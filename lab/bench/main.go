// Command bench measures the cost of a fire and compares it with hand-written code and with other libraries. It
// also compares package loop with another agent loop, and hookgen with other generators. It writes its report to
// RESULTS.md, and its bounds and main figures to docs/evidence/figures/bench.json. It is a module of its own, outside
// the workspace:
//
//	GOWORK=off go -C lab/bench run .
//
// Run it on an idle machine; the report shows how noisy the machine was.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hookgen/hookgen/lab/figures"
)

func main() {
	var c config
	flag.IntVar(&c.pace.rounds, "rounds", 60, "rounds of each contestant")
	flag.DurationVar(&c.pace.round, "round", 15*time.Millisecond, "length of a round")
	flag.IntVar(&c.runs, "runs", 12, "runs of each process")
	flag.IntVar(&c.builds, "builds", 5, "builds of each generated package")
	flag.StringVar(&c.out, "out", "", "`directory` for all files of the report, in the place of their own")
	layout := flag.String("layout", "",
		"measure this `part` in this program alone and print it as JSON; the bench runs itself so")
	only := flag.String("only", "", "comma-separated `parts`: "+strings.Join(allParts, ", ")+
		"; all if empty. With it nothing is written without -out")
	flag.Parse()
	if *only != "" {
		c.only = strings.Split(*only, ",")
	}
	flag.Visit(func(f *flag.Flag) {
		if f.Name != "out" {
			c.flags += fmt.Sprintf(" -%s %s", f.Name, f.Value)
		}
	})
	do := c.main
	if *layout != "" {
		do = func() error { return c.pace.layout(*layout) }
	}
	if err := do(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// allParts are the parts of a run.
var allParts = []string{
	"fires", "runtime", "twice", "peers", "loop", "processes", "builds",
}

// A config holds the values of the flags.
type config struct {
	pace   pace
	runs   int
	builds int
	out    string
	only   []string
	flags  string // the flags of this run, except -out
}

// command returns the command line of this run.
func (c config) command() string { return "GOWORK=off go -C lab/bench run ." + c.flags }

// check refuses configurations that measure nothing.
func (c config) check() error {
	for _, name := range c.only {
		if !slices.Contains(allParts, name) {
			return fmt.Errorf("there is no part %q; say one of %s", name, strings.Join(allParts, ", "))
		}
	}
	if c.pace.rounds < parts || c.runs < 1 || c.builds < 1 || c.pace.round <= 0 {
		return fmt.Errorf("too little to measure; pass -rounds %d or more, at least one run and one build, and a positive "+
			"-round", parts)
	}
	return nil
}

// part reports whether the part is selected.
func (c config) part(name string) bool { return len(c.only) == 0 || slices.Contains(c.only, name) }

// begin logs the next measurement, because each one takes minutes.
func begin(what string, args ...any) {
	fmt.Fprintf(os.Stderr, "%s measuring: %s\n", time.Now().Format(time.TimeOnly), fmt.Sprintf(what, args...))
}

func (c config) main() error {
	if err := c.check(); err != nil {
		return err
	}
	r := report{command: c.command(), machine: newMachine(), pace: c.pace}
	r.machine.listen(c.pace)
	if err := c.fires(&r); err != nil {
		return err
	}
	if err := c.runtime(&r); err != nil {
		return err
	}
	c.twice(&r)
	c.peers(&r)
	if c.part("loop") {
		begin("agent loops")
		var grown []timing
		r.loops, grown = c.paceOfLoops().loops()
		r.claims = append(r.claims, loopClaims(r.loops, grown)...)
	}
	r.machine.listen(c.pace)
	if err := c.processes(&r); err != nil {
		return err
	}
	r.machine.listen(c.pace)
	fmt.Print(r.markdown())
	return c.write(r)
}

// hookCounts are the numbers of hooks per fire.
var hookCounts = []int{0, 8, 64}

// fires measures every law.
func (c config) fires(r *report) error {
	if !c.part("fires") {
		return nil
	}
	timings, err := c.laidOut("fires")
	if err != nil {
		return err
	}
	for _, n := range hookCounts {
		for _, l := range lineups(n) {
			r.fires = append(r.fires, compared{l, timings[len(r.fires)]})
		}
	}
	r.claims = append(r.claims, fireClaims(r.fires)...)
	return nil
}

// runtime measures the operations that have a bound, except for fires of quiet hooks.
func (c config) runtime(r *report) error {
	if !c.part("runtime") {
		return nil
	}
	timings, err := c.laidOut("runtime")
	if err != nil {
		return err
	}
	for _, b := range runtimeBounds() {
		r.runtime = append(r.runtime, boundedRound{b, timings[:len(b.cases)]})
		timings = timings[len(b.cases):]
	}
	r.claims = append(r.claims, runtimeClaims(r.runtime)...)
	return nil
}

// twice measures every law on two goroutines.
func (c config) twice(r *report) {
	if !c.part("twice") {
		return
	}
	begin("fires from two goroutines")
	for _, l := range lineups(8) {
		r.twice = append(r.twice, compared{l, c.paceOf(l).measure(l.fromTwo())})
	}
	r.claims = append(r.claims, twiceClaims(r.twice)...)
}

// paceOf returns the pace for two goroutines against one. If a fire allocates, a short round on one goroutine could
// end before the garbage collector starts. Such lineups use fewer and longer rounds.
func (c config) paceOf(l lineup) pace {
	const longer = 4
	if l.law == lawAround {
		return pace{max(c.pace.rounds/longer, parts), c.pace.round * longer}
	}
	return c.pace
}

// paceOfLoops returns the pace of agent loops. They allocate so much that the collector runs a few times per usual
// round. One collection more or less would change the figure by more than the compared differences.
func (c config) paceOfLoops() pace {
	return pace{max(c.pace.rounds/3, parts), c.pace.round * 8}
}

// peers measures the peers with eight hooks that continue.
func (c config) peers(r *report) {
	if !c.part("peers") {
		return
	}
	begin("peers")
	const n = 8
	q := newStage(n)
	runs := []contestant{{name: nameHookgen, loop: q.flow}, {name: byHand, loop: q.flowByHand}}
	for _, p := range peers() {
		runs = append(runs, contestant{name: p.name, loop: p.quiet(n)})
	}
	r.peers = c.pace.measure(runs)
	r.claims = append(r.claims, peerClaims(r.peers)...)
}

// processes measures the generators and their output.
func (c config) processes(r *report) error {
	race, build := c.part("processes"), c.part("builds")
	if !race && !build {
		return nil
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "hookgen-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	w, err := newWorkshop(dir, root)
	if err != nil {
		return err
	}
	if race {
		if err := c.race(w, r); err != nil {
			return err
		}
	}
	if build {
		return c.build(w, r)
	}
	return nil
}

func (c config) race(w workshop, r *report) error {
	for _, of := range []struct {
		runs int
		all  []entrant
	}{
		{2 * c.runs, []entrant{{hookgenOn, 6}, {stringerOn, 1}}},
		{c.runs, []entrant{{hookgenOn, 300}, {mockgenOn, 300}}},
		{c.runs, []entrant{{hookgenOn, 1000}, {hookgenOn, 100}}},
	} {
		begin("generators on %d types", of.all[0].n)
		done, err := w.race(of.runs, of.all)
		if err != nil {
			return err
		}
		r.races = append(r.races, done)
	}
	r.claims = append(r.claims, raceClaims(r.races)...)
	return nil
}

func (c config) build(w workshop, r *report) error {
	for _, n := range []int{30, 300} {
		begin("go build of %d types", n)
		b, err := w.pack(n, c.builds)
		if err != nil {
			return err
		}
		r.built = append(r.built, b)
	}
	r.claims = append(r.claims, builtClaims(r.built)...)
	return nil
}

// write writes the files of the report. A run with -only writes them only if -out is set.
func (c config) write(r report) error {
	out, root := c.out, c.out
	if out == "" {
		if len(c.only) > 0 {
			return nil
		}
		out, root = ".", "../.."
	}
	if err := figures.WriteFile(filepath.Join(out, "RESULTS.md"), []byte(r.markdown())); err != nil {
		return err
	}
	kept := r.figures()
	if err := kept.Stamp("../.."); err != nil {
		return err
	}
	return kept.Write(root)
}

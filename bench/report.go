package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// A report has all results of a run.
type report struct {
	command    string
	machine    machine
	pace       pace
	claims     []claim
	fires      []compared
	runtime    []boundedRound
	twice      []compared // on two goroutines, and on one
	peers      []peerRound
	peersTwice [][]timing // the same for each peer
	costs      []costRound
	loops      []loopRound
	remotes    []remoteRound
	records    []recordRound
	races      []race
	built      []built
}

// A peerRound has the peers with a number of hooks, hookgen first.
type peerRound struct {
	hooks int
	busy  bool
	runs  []timing
}

// A costRound has the results of a cost.
type costRound struct {
	title string
	runs  []timing
}

// markdown writes the report, the ratios first.
func (r report) markdown() string {
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	say("# Bench\n")
	say("Written by `%s`; not edited.\n", r.command)
	say("%s. %s, the contestants in turn.", r.machine, r.pace)
	say("Two effects change a loop by up to a tenth: the alignment of the stack, and the position of the loop.")
	say("So every second round shifts the stack by eight bytes, and %d programs with functions in another order", layouts)
	say("share the rounds of the fires.\n")
	say("A ratio compares the quickest rounds. If two quarters of the rounds differ by more than %.0f %%,",
		disagreement*100)
	say("the table shows a range and a question mark. A bound counts as met only if all four quarters meet it,")
	say("as missed only if none does; otherwise it is open. The payload is a tool call of 64 bytes. Times are")
	say("nanoseconds, of the quickest round and of the median round.\n")
	say("![What a fire costs](results.svg)\n")
	for _, of := range []struct {
		title    string
		proposed bool
	}{{"## Bounds", false}, {"### " + proposedBounds, true}} {
		t := table{head: []string{"what", "bound", "measured, the worst", "holds", "beside it"}}
		for _, c := range r.claims {
			if c.proposed == of.proposed {
				t.add(c.what, c.limit(), c.value(), string(c.verdict()), c.rest())
			}
		}
		if len(t.rows) > 0 {
			say("%s\n", of.title)
			t.write(&b)
			say("")
		}
	}
	r.fireTables(&b)
	r.runtimeTables(&b)
	r.twiceTables(&b)
	r.peerTables(&b)
	r.costTables(&b)
	r.loopTables(&b)
	r.remoteTables(&b)
	r.recordTables(&b)
	r.processTables(&b)
	r.buildTables(&b)
	return b.String()
}

func (r report) fireTables(b *strings.Builder) {
	if len(r.fires) == 0 {
		return
	}
	fmt.Fprintf(b, `
## A fire, by law

Compared with a hand-written loop on a slice of an interface, without order, removal, recovery and observers. Around
hooks are compared with a chain of closures. Without hooks, Fire is compared with a plain call, and Around with a
plain call that recovers. Fire is inlined, except for Around.

`)
	t := table{
		head: []string{
			"law", "hooks", "which", "ratio", "hookgen", "median", "floor", "median", "allocations", "of the floor",
		},
	}
	for _, c := range r.fires {
		t.add(c.law, fmt.Sprint(c.hooks), c.which(), c.ratio().String(),
			figure(c.runs[0].best()), figure(c.runs[0].median()), figure(c.runs[1].best()), figure(c.runs[1].median()),
			figure(c.runs[0].allocs), figure(c.runs[1].allocs))
	}
	t.write(b)
	fmt.Fprintf(b, `
### What recovery costs

A fire turns a panic of a hook into a failure, and an Around point one of the act, with hooks or without. That takes a
deferred function, in a hand-written loop and in a plain call too: this is the least that does so.

`)
	t = table{head: []string{"law", "hooks", "hookgen over it", "quickest", "median", "over the same without recovery"}}
	counted := table{head: slices.Clone(t.head)}
	for _, c := range r.fires {
		for _, floor := range c.runs[2:] {
			to := &t
			if floor.name == byHandCounted {
				to = &counted
			}
			to.add(c.law, fmt.Sprint(c.hooks), c.floor().String(), figure(floor.best()), figure(floor.median()),
				floor.over(c.runs[1]).String())
		}
	}
	t.write(b)
	fmt.Fprintf(b, `
### What a chain costs

Hand-written around hooks are usually chained with one allocated closure each. A single closure that counts the depth is
enough for all of them. It recovers no panic, and does not detect a late call of next.

`)
	counted.head[len(counted.head)-1] = "over a closure for each"
	counted.write(b)
}

func (r report) runtimeTables(b *strings.Builder) {
	if len(r.runtime) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## What else has a bound\n")
	for _, bounded := range r.runtime {
		fmt.Fprintf(b, "\n%s:\n\n", capital(bounded.what))
		t := table{
			head: []string{"", "", "ratio", "quickest", "median", "allocations", "over", "quickest", "median", "allocations"},
		}
		for i, runs := range bounded.runs {
			row := []string{bounded.cases[i].of}
			for k, run := range runs {
				row = append(row, run.name)
				if k == 0 {
					row = append(row, run.over(runs[1]).String())
				}
				row = append(row, figure(run.best()), figure(run.median()), figure(run.allocs))
			}
			t.add(row...)
		}
		t.write(b)
	}
}

func (r report) twiceTables(b *strings.Builder) {
	if len(r.twice) == 0 {
		return
	}
	fmt.Fprintf(b, `
## Two goroutines

Each fires as often as the one. Without a shared write it takes as long, if the machine has two processors to give. The
control, in turn with the fires, shows whether it has: what is written by hand, or, where that allocates, a loop that
does nothing. Quarters of the rounds in which neither of the two keeps to the bound say nothing of it. Where
hooks allocate, the collector runs beside them on one of the two processors; there the rounds are four times as long, so
that it also runs beside the one.

`)
	t := table{head: []string{"law", "hooks", "which", "ratio, each fire", "of the control", "one goroutine", "two"}}
	for _, c := range r.twice {
		t.add(c.law, fmt.Sprint(c.hooks), c.which(), c.ratio().String(), c.idle().String(), figure(c.runs[1].best()),
			figure(c.runs[0].best()))
	}
	t.write(b)
}

// which describes the hooks of a lineup.
func (l lineup) which() string {
	switch {
	case l.hooks == 0:
		return ""
	case !l.busy:
		return "continue"
	}
	switch l.law {
	case lawVote:
		return "vote"
	case lawCollect:
		return "contribute"
	}
	return "replace"
}

func (r report) peerTables(b *strings.Builder) {
	if len(r.peers) == 0 {
		return
	}
	fmt.Fprintf(b, `
## Beside others

Each does the nearest it can to a flow. What it does not do, it does not pay for:

`)
	t := table{head: []string{"", "order", "what a hook decides", "a hook that panics", "the payload"}}
	t.add(nameHookgen, "priority, Before and After, layers", "replace it, or an outcome that is legal there",
		"is a failure of that hook, by policy", "by value, typed")
	for _, p := range peers() {
		t.add(p.name, p.order, p.decide, p.recover, p.payload)
	}
	t.write(b)
	for _, round := range r.peers {
		what := fmt.Sprintf("%d hooks that continue", round.hooks)
		switch {
		case round.hooks == 0:
			what = "No hook"
		case round.hooks == 1 && round.busy:
			what = "One hook that replaces the payload"
		case round.hooks == 1:
			what = "One hook that continues"
		case round.busy:
			what = fmt.Sprintf("%d hooks that replace the payload", round.hooks)
		}
		fmt.Fprintf(b, "\n%s:\n\n", what)
		t := table{head: []string{"", "hookgen over it", "quickest", "median", "allocations"}}
		for i, run := range round.runs {
			over := round.runs[0].over(run).String()
			if i == 0 {
				over = ""
			}
			t.add(run.name, over, figure(run.best()), figure(run.median()), figure(run.allocs))
		}
		t.write(b)
	}
	fmt.Fprintf(b, "\n8 hooks that continue, from two goroutines, each as often as the one:\n\n")
	t = table{head: []string{"", "two over one, each fire", "one goroutine", "two"}}
	for _, pair := range r.peersTwice {
		t.add(pair[1].name, pair[0].over(pair[1]).String(), figure(pair[1].best()), figure(pair[0].best()))
	}
	t.write(b)
}

func (r report) costTables(b *strings.Builder) {
	if len(r.costs) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## What else costs\n")
	for _, c := range r.costs {
		fmt.Fprintf(b, "\n%s:\n\n", capital(c.title))
		t := table{head: []string{"", "ratio", "more", "quickest", "median", "allocations"}}
		for _, run := range c.runs {
			t.add(run.name, run.over(c.runs[0]).String(), figure(run.best()-c.runs[0].best()), figure(run.best()),
				figure(run.median()), figure(run.allocs))
		}
		t.write(b)
	}
}

func (r report) remoteTables(b *strings.Builder) {
	if len(r.remotes) == 0 {
		return
	}
	fmt.Fprintf(b, `
## Hooks in other processes

A fire whose only hook is elsewhere, and a bare call that encodes the same payload and decodes a reply. The server is on
the loopback; the command is a shell that reads its input and continues.

`)
	t := table{head: []string{"", "by", "ratio", "quickest", "median", "allocations"}}
	for _, of := range r.remotes {
		for _, run := range of.runs {
			t.add(of.transport, run.name, run.over(of.runs[1]).String(), figure(run.best()), figure(run.median()),
				figure(run.allocs))
		}
	}
	t.write(b)
}

func (r report) recordTables(b *strings.Builder) {
	if len(r.records) == 0 {
		return
	}
	fmt.Fprintf(b, `
## Records

A fire without hooks that is recorded to a file, and a line of JSON with the payload alone, written by json.Marshal and
one call of Write on a file of the same kind. The recorded line also has the decision, the run and the times: 250 to 300
bytes more.

`)
	t := table{head: []string{"payload", "by", "ratio", "quickest", "median", "allocations"}}
	for _, of := range r.records {
		for _, run := range of.runs {
			t.add(of.payload, run.name, run.over(of.runs[2]).String(), figure(run.best()), figure(run.median()),
				figure(run.allocs))
		}
	}
	t.write(b)
}

func (r report) loopTables(b *strings.Builder) {
	if len(r.loops) == 0 {
		return
	}
	fmt.Fprintf(b, `
## An agent loop

Runs of one script. In each step the model calls a tool three times with 1 KB of arguments, and the tool returns 1 KB.
Model and tool answer at once, so that only the loop is measured. Processor time and allocations are those of one step.

`)
	t := table{head: []string{"steps", "", "over " + nameChatModel, "over 20 steps", "quickest", "median", "allocations"}}
	twenty := r.loops[slices.IndexFunc(r.loops, func(l loopRound) bool { return l.steps == 20 })].runs()
	for _, l := range r.loops {
		for i, run := range l.runs() {
			t.add(fmt.Sprint(l.steps), run.name, run.over(l.eino).String(), run.over(twenty[i]).String(),
				figure(run.best()), figure(run.median()), figure(run.allocs))
		}
	}
	t.write(b)
}

func (r report) processTables(b *strings.Builder) {
	if len(r.races) == 0 {
		return
	}
	fmt.Fprintf(b, `
## hookgen as a process

Whole processes on so many points, interfaces or types, each from no output; milliseconds. Those of one block ran in
turn.

`)
	t := table{head: []string{"types", "", "hookgen over it", "quickest", "median", "each", "processor time", "runs"}}
	for _, race := range r.races {
		for _, e := range race.entries {
			over := ""
			if mine, ok := race.find(nameHookgen, e.n); ok && e.name != nameHookgen {
				over = mine.over(e.wall).String()
			}
			t.add(fmt.Sprint(e.n), e.name, over, figure(e.wall.best()/1e6), figure(e.wall.median()/1e6),
				figure(e.wall.best()/1e6/float64(e.n)), figure(e.cpu.best()/1e6), fmt.Sprint(len(e.wall.rounds)))
		}
		t.add("", "", "", "", "", "", "", "")
	}
	t.rows = t.rows[:len(t.rows)-1]
	t.write(b)
	fmt.Fprintf(b, "\nGrowth: ten times and three times as many types take so much longer, of the quickest runs.\n\n")
	t = table{head: []string{"", "100 over 6", "300 over 100", "1000 over 100"}}
	for _, g := range append([]generator{hookgenOn}, others...) {
		row := []string{g.name}
		for _, of := range [][2]int{{100, 6}, {300, 100}, {1000, 100}} {
			many, few := r.quickest(g.name, of[0]), r.quickest(g.name, of[1])
			row = append(row, figure(many/few))
		}
		t.add(row...)
	}
	t.write(b)
}

// quickest returns the fastest run of the generator on n types, of any race.
func (r report) quickest(name string, n int) float64 {
	best := math.Inf(1)
	for _, race := range r.races {
		if t, ok := race.find(name, n); ok {
			best = min(best, t.best())
		}
	}
	return best
}

func (r report) buildTables(b *strings.Builder) {
	if len(r.built) == 0 {
		return
	}
	fmt.Fprintf(b, `
## What a generated package costs who builds it

Its source, for each point or interface; a point's name stands in its code many times, so that a long one makes more.
Processor time of go build in seconds, with the dependencies cached. What each adds to the binary of a program that adds
a hook to every point and fires it, or expects a call of every mock and makes it: over the same program on one.

`)
	t := table{
		head: []string{
			"", "types", "source, each", "without comments", "go build, quickest", "median", "binary, each",
			"without debug information",
		},
	}
	for _, p := range r.built {
		name := p.maker
		if p.name != "" {
			name += ", " + p.points()
		}
		s := slices.Sorted(slices.Values(p.compile))
		t.add(name, fmt.Sprint(p.n), figure(p.each(p.bytes))+" B", figure(p.each(p.code))+" B", figure(s[0]),
			figure(s[len(s)/2]),
			figure(p.inBinary(p.binary))+" KB", figure(p.inBinary(p.bare))+" KB")
	}
	t.write(b)
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// A table is a table of Markdown.
type table struct {
	head []string
	rows [][]string
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

func (t *table) write(b *strings.Builder) {
	line := func(cells []string) { fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | ")) }
	line(t.head)
	line(slices.Repeat([]string{"---"}, len(t.head)))
	for _, r := range t.rows {
		line(r)
	}
}

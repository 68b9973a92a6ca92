package main

import (
	"fmt"
	"slices"
	"strings"
)

// A report has all results of a run.
type report struct {
	command string
	machine machine
	pace    pace
	claims  []claim
	fires   []compared
	runtime []boundedRound
	twice   []compared // on two goroutines, and on one
	peers   []timing   // hookgen, the hand-written loop, and the peers
	loops   []loopRound
	records []recordRound
	races   []race
	built   []built
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
	if len(r.claims) > 0 {
		say("## Bounds\n")
		t := table{head: []string{"what", "bound", "measured, the worst", "holds", "the others"}}
		for _, c := range r.claims {
			t.add(c.what, c.limit(), c.value(), string(c.verdict()), c.rest())
		}
		t.write(&b)
		say("")
	}
	r.fireTables(&b)
	r.runtimeTables(&b)
	r.twiceTables(&b)
	r.peerTables(&b)
	r.loopTables(&b)
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
hooks are compared with a chain of closures. BeforeTool is a point of generated/agent with Replace and exits. Without
hooks, Fire is compared with a plain call, and Around with a plain call that recovers. Fire is inlined, except for
Around.

`)
	t := table{
		head: []string{"law", "hooks", "ratio", "hookgen", "median", "floor", "median", "allocations", "of the floor"},
	}
	for _, c := range r.fires {
		t.add(c.law, fmt.Sprint(c.hooks), c.ratio().String(),
			figure(c.runs[0].best()), figure(c.runs[0].median()), figure(c.runs[1].best()), figure(c.runs[1].median()),
			figure(c.runs[0].allocs), figure(c.runs[1].allocs))
	}
	t.write(b)
	fmt.Fprintf(b, `
### The cost of recovery

A fire turns a panic of a hook into a failure. That takes a deferred function in a hand-written loop too.

`)
	t = table{head: []string{"law", "hooks", "hookgen over that loop", "quickest", "median", "that loop over the first"}}
	for _, c := range r.fires {
		if len(c.runs) > 2 {
			t.add(c.law, fmt.Sprint(c.hooks), c.recovery().String(), figure(c.runs[2].best()), figure(c.runs[2].median()),
				c.runs[2].over(c.runs[1]).String())
		}
	}
	t.write(b)
}

func (r report) runtimeTables(b *strings.Builder) {
	if len(r.runtime) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## Other bounds\n")
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

Each of two goroutines fires as often as one alone. Without a shared write both take as long as the one, if the machine
provides two processors. The control runs in turn with the fires and shows whether it does: it is the hand-written loop
or, where that allocates, a loop that does nothing. Quarters of the rounds in which both exceed the bound do not count.
Where fires allocate, the collector uses one of the two processors at times. The rounds are four times as long there,
so that it also runs while one goroutine fires.

`)
	t := table{head: []string{"law", "ratio, each fire", "of the control", "one goroutine", "two"}}
	for _, c := range r.twice {
		t.add(c.law, c.ratio().String(), c.idle().String(), figure(c.runs[1].best()), figure(c.runs[0].best()))
	}
	t.write(b)
}

func (r report) peerTables(b *strings.Builder) {
	if len(r.peers) == 0 {
		return
	}
	fmt.Fprintf(b, `
## Other libraries

Each is configured as the closest equivalent of a flow. It does not pay for features that it does not have:

`)
	t := table{head: []string{"", "order", "what a hook decides", "a hook that panics", "the payload"}}
	t.add(nameHookgen, "priority, Before and After, layers", "replace it, or an outcome that is legal there",
		"is a failure of that hook, by policy", "by value, typed")
	for _, p := range peers() {
		t.add(p.name, p.order, p.decide, p.recover, p.payload)
	}
	t.write(b)
	fmt.Fprintf(b, "\n8 hooks that continue:\n\n")
	t = table{head: []string{"", "hookgen over it", "quickest", "median", "allocations"}}
	for i, run := range r.peers {
		over := ""
		if i > 0 {
			over = r.peers[0].over(run).String()
		}
		t.add(run.name, over, figure(run.best()), figure(run.median()), figure(run.allocs))
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

Whole processes on so many points, interfaces or types, each without earlier output; milliseconds. The two of one
comparison ran in turn.

`)
	t := table{head: []string{"types", "", "quickest", "median", "each", "processor time", "runs"}}
	for _, race := range r.races {
		for _, e := range race.entries {
			t.add(fmt.Sprint(e.n), e.name, figure(e.wall.best()/1e6), figure(e.wall.median()/1e6),
				figure(e.wall.best()/1e6/float64(e.n)), figure(e.cpu.best()/1e6), fmt.Sprint(len(e.wall.rounds)))
		}
	}
	t.write(b)
}

func (r report) buildTables(b *strings.Builder) {
	if len(r.built) == 0 {
		return
	}
	fmt.Fprintf(b, `
## What a generated package costs who builds it

Its source, for each point or interface. The points have names such as BeforeTool1, and no comments of their own, which
would appear in the generated code. Processor time of go build in seconds, with the dependencies cached. What each adds
to the binary of a program that adds a hook to every point and fires it, or expects a call of every mock and makes it:
over the same program on one.

`)
	t := table{
		head: []string{
			"", "types", "source, each", "lines, each", "go build, quickest", "median", "binary, each",
			"without debug information",
		},
	}
	for _, p := range r.built {
		s := slices.Sorted(slices.Values(p.compile))
		t.add(p.maker, fmt.Sprint(p.n), figure(p.each(p.bytes))+" B", figure(p.each(p.lines)), figure(s[0]),
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

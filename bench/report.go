package main

import (
	"fmt"
	"slices"
	"strings"
)

// A report is all that a run found out.
type report struct {
	machine machine
	pace    pace
	claims  []claim
	fires   []compared
	twice   []compared
	peers   []peerRound
	costs   []costRound
	races   []race
	built   map[string][]built // by generator
}

// A peerRound is the peers at so many hooks, hookgen first.
type peerRound struct {
	hooks int
	busy  bool
	runs  []timing
}

// A costRound is what came of a cost.
type costRound struct {
	title string
	runs  []timing
}

// markdown writes the report, the ratios first.
func (r report) markdown() string {
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	say("# Bench\n")
	say("Written by `GOWORK=off go -C bench run .`; not edited. %s. %s, the contestants in turn.", r.machine, r.pace)
	say("A ratio is that of the quickest rounds. Where a quarter of the rounds tells another story than another quarter, by more")
	say("than %.0f %%, there is a range and a question mark in its place: no conclusion. A bound is judged where all quarters", disagreement*100)
	say("stand on one side of it. The payload is a tool call of 64 bytes. Times are nanoseconds, the quickest round and the")
	say("median one.\n")
	say("![What a fire costs](results.svg)\n")
	if len(r.claims) > 0 {
		say("## Bounds\n")
		t := table{head: []string{"what", "bound", "measured", "verdict"}}
		for _, c := range r.claims {
			t.add(c.What, c.Bound, c.Figure, string(c.Verdict))
		}
		t.write(&b)
	}
	r.fireTables(&b)
	r.peerTables(&b)
	r.costTables(&b)
	r.processTables(&b)
	return b.String()
}

func (r report) fireTables(b *strings.Builder) {
	if len(r.fires) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## A fire, by law\n\nOver a hand-written loop on a slice of an interface, which has no order, no removal, no recovery and no observers; with\nno hook, over a plain call.\n\n")
	t := table{head: []string{"law", "hooks", "which", "ratio", "hookgen", "median", "floor", "median", "allocations", "of the floor"}}
	for _, c := range r.fires {
		t.add(c.law, fmt.Sprint(c.hooks), c.which(), c.ratio().String(),
			figure(c.runs[0].best()), figure(c.runs[0].median()), figure(c.runs[1].best()), figure(c.runs[1].median()),
			figure(c.runs[0].allocs), figure(c.runs[1].allocs))
	}
	t.write(b)
	for _, c := range r.fires {
		for _, also := range c.runs[2:] {
			if also.name == plainRecovering {
				fmt.Fprintf(b, "\nAn around point turns a panic of the act into a failure, with hooks or without. A plain call that recovers, the least\nthat can cost, takes %s; a fire without hooks is %s of that.\n",
					figure(also.best()), c.runs[0].over(also))
			}
		}
	}
	if len(r.twice) > 0 {
		fmt.Fprintf(b, "\n### Two goroutines\n\nEach fires as often as the one. Without a shared write it takes as long.\n\n")
		t := table{head: []string{"law", "hooks", "ratio, each fire", "one goroutine", "two"}}
		for _, c := range r.twice {
			t.add(c.law, fmt.Sprint(c.hooks), c.ratio().String(), figure(c.runs[1].best()), figure(c.runs[0].best()))
		}
		t.write(b)
	}
}

// which says what the hooks of a lineup do.
func (l lineup) which() string {
	switch {
	case l.hooks == 0:
		return ""
	case !l.busy:
		return "continue"
	}
	return map[string]string{"flow": "replace", "vote": "vote", "collect": "contribute"}[l.law]
}

func (r report) peerTables(b *strings.Builder) {
	if len(r.peers) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## Beside others\n\nEach does the nearest it can to a flow. What it does not do, it does not pay for:\n\n")
	t := table{head: []string{"", "who fires first", "what a hook decides", "a panic", "the payload"}}
	t.add("hookgen", "priority, Before and After, layers", "replace it, or an outcome that is legal there", "a failure of that hook, by policy", "by value, typed")
	for _, p := range peers() {
		t.add(p.name, p.order, p.decide, p.recover, p.payload)
	}
	t.write(b)
	for _, round := range r.peers {
		does := "continue"
		if round.busy {
			does = "replace the payload"
		}
		if round.hooks == 0 {
			does = "are not there"
		}
		fmt.Fprintf(b, "\n%d hooks that %s:\n\n", round.hooks, does)
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
			t.add(run.name, run.over(c.runs[0]).String(), figure(run.best()-c.runs[0].best()), figure(run.best()), figure(run.median()), figure(run.allocs))
		}
		t.write(b)
	}
}

func (r report) processTables(b *strings.Builder) {
	if len(r.races) > 0 {
		fmt.Fprintf(b, "\n## hookgen as a process\n\nWhole processes on so many points, interfaces or types, each from no output; milliseconds.\n\n")
		t := table{head: []string{"types", "", "hookgen over it", "quickest", "median", "processor time"}}
		for _, race := range r.races {
			for i, run := range race.runs {
				over := ""
				if i > 0 && race.runs[0].name == "hookgen" {
					over = race.runs[0].over(run).String()
				}
				t.add(fmt.Sprint(race.n), run.name, over, figure(run.best()/1e6), figure(run.median()/1e6), figure(race.cpu[i].best()/1e6))
			}
		}
		t.write(b)
	}
	if len(r.built) > 0 {
		fmt.Fprintf(b, "\n## What a generated package costs who builds it\n\nProcessor time of `go build` with the dependencies cached, and what the package adds to a program that has its\ndependencies and reaches all of it.\n\n")
		t := table{head: []string{"", "types", "source, each", "go build, quickest", "median", "binary, each"}}
		for _, name := range []string{"hookgen", "mockgen -source"} {
			for _, p := range r.built[name] {
				s := slices.Sorted(slices.Values(p.compile))
				t.add(name, fmt.Sprint(p.n), figure(float64(p.bytes)/float64(p.n))+" B", figure(s[0].Seconds())+" s",
					figure(s[len(s)/2].Seconds())+" s", figure(float64(p.binary)/float64(p.n)/1024)+" KiB")
			}
		}
		t.write(b)
	}
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

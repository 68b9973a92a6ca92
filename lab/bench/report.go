package main

import (
	_ "embed"
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
	races   []race
	built   []built
}

// markdown writes the report, the ratios first.
func (r report) markdown() string {
	var b strings.Builder
	intro, _, _ := strings.Cut(prose, "\n## ")
	fmt.Fprintf(&b, intro+"\n", r.command, r.machine, r.pace, layouts, disagreement*100)
	if len(r.claims) > 0 {
		b.WriteString("## Bounds\n\n")
		t := table{head: []string{"what", "bound", "measured, the worst", "holds", "the others"}}
		for _, c := range r.claims {
			t.add(c.what, c.limit(), c.value(), string(c.verdict()), c.rest())
		}
		t.write(&b)
		b.WriteString("\n")
	}
	section(&b, "A fire, by law", r.fireTable())
	r.runtimeTables(&b)
	section(&b, "Two goroutines", r.twiceTable())
	section(&b, "Other libraries", r.peerTable())
	section(&b, "An agent loop", r.loopTable())
	section(&b, "hookgen as a process", r.processTable())
	section(&b, "What a generated package costs who builds it", r.buildTable())
	return b.String()
}

// prose has the introduction of a report, which is a format, and the texts of its sections.
//
//go:embed report.md
var prose string

// section writes a section, whose text is in prose, with its table. It writes nothing if the table has no rows.
func section(b *strings.Builder, title string, t table) {
	if len(t.rows) == 0 {
		return
	}
	_, text, _ := strings.Cut(prose, "## "+title+"\n")
	text, _, _ = strings.Cut(text, "\n## ")
	fmt.Fprintf(b, "\n## %s\n%s\n\n", title, strings.TrimSuffix(text, "\n"))
	t.write(b)
}

func (r report) fireTable() table {
	t := table{
		head: []string{"law", "hooks", "ratio", "hookgen", "median", "floor", "median", "allocations", "of the floor"},
	}
	for _, c := range r.fires {
		t.add(c.law, fmt.Sprint(c.hooks), c.ratio().String(),
			figure(c.runs[0].best()), figure(c.runs[0].median()), figure(c.runs[1].best()), figure(c.runs[1].median()),
			figure(c.runs[0].allocs), figure(c.runs[1].allocs))
	}
	return t
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

func (r report) twiceTable() table {
	t := table{head: []string{"law", "ratio, each fire", "of the control", "one goroutine", "two"}}
	for _, c := range r.twice {
		t.add(c.law, c.ratio().String(), c.idle().String(), figure(c.runs[1].best()), figure(c.runs[0].best()))
	}
	return t
}

func (r report) peerTable() table {
	t := table{head: []string{"", "hookgen over it", "quickest", "median", "allocations"}}
	for i, run := range r.peers {
		over := ""
		if i > 0 {
			over = r.peers[0].over(run).String()
		}
		t.add(run.name, over, figure(run.best()), figure(run.median()), figure(run.allocs))
	}
	return t
}

func (r report) loopTable() table {
	t := table{head: []string{"steps", "", "over " + nameChatModel, "over 20 steps", "quickest", "median", "allocations"}}
	twenty := slices.IndexFunc(r.loops, func(l loopRound) bool { return l.steps == 20 })
	for _, l := range r.loops {
		for i, run := range l.runs() {
			t.add(fmt.Sprint(l.steps), run.name, run.over(l.eino).String(), run.over(r.loops[twenty].runs()[i]).String(),
				figure(run.best()), figure(run.median()), figure(run.allocs))
		}
	}
	return t
}

func (r report) processTable() table {
	t := table{head: []string{"types", "", "quickest", "median", "each", "processor time", "runs"}}
	for _, race := range r.races {
		for _, e := range race.entries {
			t.add(fmt.Sprint(e.n), e.name, figure(e.wall.best()/1e6), figure(e.wall.median()/1e6),
				figure(e.wall.best()/1e6/float64(e.n)), figure(e.cpu.best()/1e6), fmt.Sprint(len(e.wall.rounds)))
		}
	}
	return t
}

func (r report) buildTable() table {
	t := table{head: []string{
		"points", "source, each", "lines, each", "go build, quickest", "median", "binary, each",
		"without debug information",
	}}
	for _, p := range r.built {
		s := slices.Sorted(slices.Values(p.compile))
		t.add(fmt.Sprint(p.n), figure(p.each(p.bytes))+" B", figure(p.each(p.lines)), figure(s[0]), figure(s[len(s)/2]),
			figure(p.inBinary(p.binary))+" KB", figure(p.inBinary(p.bare))+" KB")
	}
	return t
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

package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hookgen/hookgen/cmd/hooklog/internal/numbers"
)

// stats prints the numbers of records.
func (i *invocation) stats(_ context.Context, args []string) (int, error) {
	flags := newFlags("stats")
	asJSON := flags.Bool("json", false, "")
	files, colors, err := i.parseColored(flags, args)
	if err != nil {
		return trouble, err
	}
	sources, err := i.sources(files)
	if err != nil {
		return trouble, err
	}
	r := &reader{stderr: i.stderr}
	var n numbers.Numbers
	for l := range r.all(sources) {
		n.Add(l.Event)
	}
	out := bufio.NewWriter(i.stdout)
	if *asJSON {
		err = writeNumbers(out, r, &n)
	} else {
		printNumbers(out, r, &n, colors)
	}
	if err == nil {
		err = out.Flush()
	}
	r.summarize("")
	return r.code(), err
}

// printNumbers prints numbers as tables.
func printNumbers(w io.Writer, r *reader, n *numbers.Numbers, p palette) {
	fmt.Fprintf(w, "events    %s in %s\n", thousands(int64(n.Events)), plural(r.sources, "file"))
	atLeast := ""
	if n.MoreRuns {
		atLeast = "more than "
	}
	fmt.Fprintf(w, "runs      %s%s, %s\n", atLeast, thousands(int64(n.Runs)), plural(n.SubRuns, "sub-run")+" included")
	if n.Events == 0 {
		return
	}
	const layout = "2006-01-02 15:04:05 -07:00"
	fmt.Fprintf(w, "recorded  %s to %s\n", n.From.Format(layout), n.To.Format(layout))
	var t *table
	spec := "\x00"
	for _, g := range n.Points() {
		if g.Spec != spec {
			if t != nil {
				t.print(w, p)
			}
			spec = g.Spec
			fmt.Fprintf(w, "\nspec %s\n", visible(spec, 0))
			t = &table{right: []bool{false, true, true, true, true, true, true, false}}
			t.add("POINT", "FIRES", "FAILED", "ERRORS", "P50", "P99", "MAX", "DECISIONS")
		}
		t.add(slices.Concat([]string{visible(g.Point, mostName)}, numbersOf(g.Fires, g.Failed, g.Errors),
			times(g.Fires, g.P50, g.P99, g.Max), []string{decisions(g.Decisions)})...)
	}
	t.print(w, p)
	if hooks := n.Hooks(); len(hooks) > 0 {
		fmt.Fprintln(w)
		t = &table{right: []bool{false, true, true, true, true, true, true, false}}
		t.add("HOOK", "DECIDED", "VOTES", "FAILED", "P50", "P99", "MAX", "DECISIONS")
		for _, g := range hooks {
			name := visible(g.Name, mostName)
			if g.Site != "" {
				name += " (" + visible(g.Site, mostName) + ")"
			}
			t.add(slices.Concat([]string{name}, numbersOf(g.Decided, g.Votes, g.Failures),
				times(g.Decided, g.P50, g.P99, g.Max), []string{decisions(g.Decisions)})...)
		}
		t.print(w, p)
	}
	fmt.Fprint(w, "\nP50, P99 and MAX are times of all hooks of a fire together; those of a hook are of the fires that\n"+
		"it decided. P50 and P99 are within 2 % of the exact values.\n")
}

func numbersOf(counts ...int) []string {
	var cells []string
	for _, c := range counts {
		cells = append(cells, thousands(int64(c)))
	}
	return cells
}

// times returns the cells of times, which nothing has without a fire.
func times(fires int, times ...time.Duration) []string {
	var cells []string
	for _, t := range times {
		if fires == 0 {
			cells = append(cells, "-")
		} else {
			cells = append(cells, short(t))
		}
	}
	return cells
}

// decisions lists decisions, the most frequent ones first.
func decisions(counts map[string]int) string {
	var list []string
	for _, name := range slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	}) {
		list = append(list, visible(name, mostName)+" "+thousands(int64(counts[name])))
	}
	return strings.Join(list, ", ")
}

// writeNumbers writes numbers as one JSON object.
func writeNumbers(w io.Writer, r *reader, n *numbers.Numbers) error {
	text, err := json.MarshalIndent(struct {
		Files int `json:"files"`
		*numbers.Numbers
		Damaged int             `json:"damagedLines"`
		Points  []numbers.Point `json:"points"`
		Hooks   []numbers.Hook  `json:"hooks"`
	}{r.sources, n, r.damaged, n.Points(), n.Hooks()}, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", visibleJSON(text))
	return err
}

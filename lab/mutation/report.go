package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/internal/figures"
)

// folder is the directory of this command, relative to the root.
const folder = "lab/mutation"

// A result holds the outcomes of the mutants of a part.
type result struct {
	part
	tried, killed, timedOut int
	alive                   []survivor
}

// A survivor is a mutant that no test found.
type survivor struct {
	mutant
	fate   fate
	reason string // why no test can find it; "" without explanation
}

func (r *result) add(m mutant, f fate) {
	r.tried++
	switch f {
	case killed:
		r.killed++
	case timedOut:
		r.timedOut++
	default:
		r.alive = append(r.alive, survivor{mutant: m, fate: f})
	}
}

// reasons are the explanations of equivalent.txt, by the keys of mutants.
type reasons struct {
	of   map[string]string
	used map[string]bool
}

// readReasons reads blocks of keys, one per line, each block followed by a line with a colon and the reason. Lines
// that begin with # are comments.
func readReasons(path string) (*reasons, error) {
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	rs := &reasons{map[string]string{}, map[string]bool{}}
	var open []string
	for n, line := range strings.Split(string(data), "\n") {
		line = strings.TrimSpace(line)
		reason, is := strings.CutPrefix(line, ":")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case is && len(open) > 0:
			for _, key := range open {
				rs.of[key] = strings.TrimSpace(reason)
			}
			open = nil
		case is || strings.Count(line, " | ") != 3:
			return nil,
				fmt.Errorf("%s:%d: not a key; write file | function | mutant | number, and a reason after a colon on a line below",
					path, n+1)
		default:
			open = append(open, line)
		}
	}
	if len(open) > 0 {
		return nil, fmt.Errorf("%s: no reason below %s", path, open[0])
	}
	return rs, nil
}

func (r *result) explain(rs *reasons) {
	for i, s := range r.alive {
		if reason := rs.of[s.Key()]; reason != "" {
			r.alive[i].reason = reason
			rs.used[s.Key()] = true
		}
	}
}

func (r *result) found() int { return r.killed + r.timedOut }

func (r *result) explained() (n int) {
	for _, s := range r.alive {
		if s.reason != "" {
			n++
		}
	}
	return n
}

func percent(n, of int) float64 { return 100 * float64(n) / float64(max(of, 1)) }

// score returns the percentage of mutants found, without explained ones.
func (r *result) score() float64 { return percent(r.found(), r.tried-r.explained()) }

func (r *result) print(out io.Writer) {
	fmt.Fprintf(out,
		"%s: %d tried, %d killed, %d timed out, %d survived, of which %d are explained; score %.1f %%, raw %.1f %%\n",
		r.name, r.tried, r.killed, r.timedOut, len(r.alive), r.explained(), r.score(), percent(r.found(), r.tried))
}

// judge returns an error if bugs were missed. Only a complete run can detect obsolete reasons.
func judge(results []*result, rs *reasons, whole bool) error {
	var wrong []string
	for _, r := range results {
		if s := r.score(); s < bound {
			wrong = append(wrong, fmt.Sprintf("%s: the score is %.1f %%, want at least %d %%", r.name, s, bound))
		}
		if n := len(r.alive) - r.explained(); n > 0 {
			wrong = append(wrong,
				fmt.Sprintf("%s: %d survivors without a reason: write a test that finds them, or the reason into equivalent.txt",
					r.name, n))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(rs.of)) {
		if whole && !rs.used[key] {
			wrong = append(wrong, fmt.Sprintf("equivalent.txt explains %s, which did not survive, or is no mutant: remove it",
				key))
		}
	}
	if len(wrong) > 0 {
		return errors.New(strings.Join(wrong, "\n"))
	}
	return nil
}

// write writes SURVIVORS.md and the report.
func write(root string, report figures.Report, results []*result) error {
	if err := os.WriteFile(filepath.Join(root, folder, "SURVIVORS.md"), []byte(survivors(results)), 0o644); err != nil {
		return err
	}
	for _, r := range results {
		holds := figures.Yes
		if r.score() < bound {
			holds = figures.No
		}
		count := func(of string, n int, note string) {
			report.Figures = append(report.Figures, figures.Figure{Of: r.name + ": " + of, Value: fmt.Sprint(n), Note: note})
		}
		count("bugs planted", r.tried, "")
		count("killed by a test", r.killed, "")
		count("stopped by the time limit", r.timedOut, "ten times what the tests take, and 2 s")
		count("survivors explained", r.explained(), "each in lab/mutation/SURVIVORS.md")
		count("survivors not explained", len(r.alive)-r.explained(), "")
		report.Figures = append(report.Figures,
			figures.Figure{Of: r.name + ": score", Value: fmt.Sprintf("%.1f %%", r.score()), Bound: fmt.Sprintf("≥ %d %%",
				bound), Holds: holds,
				Note: "found, of those that are not explained"},
			figures.Figure{
				Of: r.name + ": raw score", Value: fmt.Sprintf("%.1f %%", percent(r.found(), r.tried)), Note: "found, of all",
			})
	}
	return report.Write(root)
}

// survivors returns the text of SURVIVORS.md.
func survivors(results []*result) string {
	var b strings.Builder
	b.WriteString("# Survivors\n\nMade by `go run ./lab/mutation`: the planted bugs that no test finds, and why none " +
		"can, from equivalent.txt.\n")
	b.WriteString("\n| part | planted | killed | timed out | explained | not explained | score | raw |\n" +
		"|---|---|---|---|---|---|---|---|\n")
	for _, r := range results {
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d | %.1f %% | %.1f %% |\n", r.name, r.tried, r.killed, r.timedOut,
			r.explained(), len(r.alive)-r.explained(), r.score(), percent(r.found(), r.tried))
	}
	for _, r := range results {
		fmt.Fprintf(&b, "\n## %s\n", r.name)
		var order []string
		by := map[string][]survivor{}
		for _, s := range r.alive {
			if by[s.reason] == nil {
				order = append(order, s.reason)
			}
			by[s.reason] = append(by[s.reason], s)
		}
		// Mutants without a reason come first.
		slices.SortStableFunc(order, func(a, b string) int { return min(len(a), 1) - min(len(b), 1) })
		for _, reason := range order {
			title := reason
			if reason == "" {
				title = "**Not explained.**"
			}
			fmt.Fprintf(&b, "\n%s\n\n", title)
			for _, s := range by[reason] {
				note := ""
				if s.fate == missed {
					note = " (" + string(missed) + ")"
				}
				fmt.Fprintf(&b, "- %s, %s: `%s`%s\n", s.File, s.where(), strings.ReplaceAll(s.What, "`", "'"), note)
			}
		}
		if len(r.alive) == 0 {
			b.WriteString("\nNone.\n")
		}
	}
	return b.String()
}

func (m mutant) where() string {
	place := m.Func
	if place == "" {
		place = "package level"
	}
	if m.N > 1 {
		return fmt.Sprintf("%s (%d)", place, m.N)
	}
	return place
}

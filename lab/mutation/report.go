package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/lab/figures"
)

// folder is the directory of this command, relative to the root.
const folder = "lab/mutation"

// A result holds the outcomes of the mutants of a part.
type result struct {
	part     part
	stamp    figures.Report // of the measured source
	seed     uint64         // of the sample
	planted  int
	tried    int
	killed   int
	timedOut int
	alive    []survivor
	fates    map[string]fate // of all planted mutants, by key; "" if not tried
}

// A survivor is a mutant that no test found.
type survivor struct {
	mutant
	fate   fate
	reason string // why no test can find it; "" without explanation
}

func (r *result) plant(all []mutant) {
	r.planted, r.fates = len(all), map[string]fate{}
	for _, m := range all {
		r.fates[m.Key()] = ""
	}
}

func (r *result) add(m mutant, f fate) {
	r.tried++
	r.fates[m.Key()] = f
	switch f {
	case killed:
		r.killed++
	case timedOut:
		r.timedOut++
	default:
		r.alive = append(r.alive, survivor{mutant: m, fate: f})
	}
}

func (r *result) explain(rs reasons) {
	for i, s := range r.alive {
		r.alive[i].reason = rs[s.Key()]
	}
}

func (r *result) found() int { return r.killed + r.timedOut }

// unexplained returns the survivors without a reason.
func (r *result) unexplained() []survivor {
	return slices.DeleteFunc(slices.Clone(r.alive), func(s survivor) bool { return s.reason != "" })
}

// counted is the number of tried mutants that a test could find.
func (r *result) counted() int { return r.tried - len(r.alive) + len(r.unexplained()) }

// score returns the percentage of mutants found, without explained ones.
func (r *result) score() float64 { return 100 * float64(r.found()) / float64(max(r.counted(), 1)) }

// holds compares the score with its bound. Of a sample it is open if the interval contains the bound.
func (r *result) holds() figures.Verdict {
	low, high := r.score(), r.score()
	if r.tried < r.planted {
		low, high = interval(r.found(), r.counted())
	}
	switch {
	case low >= r.part.bound:
		return figures.Yes
	case high < r.part.bound:
		return figures.No
	}
	return figures.Open
}

// String describes the score.
func (r *result) String() string {
	of := "all"
	if r.tried < r.planted {
		low, high := interval(r.found(), r.counted())
		of = fmt.Sprintf("a sample, drawn with seed %d; 95 %% confidence: %.1f to %.1f %%", r.seed, low, high)
	}
	return fmt.Sprintf("%d of %d tried, %d killed, %d timed out, %d survived, of which %d have a reason; of %s",
		r.tried, r.planted, r.killed, r.timedOut, len(r.alive), len(r.alive)-len(r.unexplained()), of)
}

func (r *result) print(out io.Writer) {
	fmt.Fprintf(out, "%s: score %.1f %%: %s\n", r.part.name, r.score(), r)
}

// judge returns an error if a score is below its bound, if a survivor among all mutants has no explanation, or if an
// explanation is about a mutant that is found or not planted. It accepts a sample whose interval contains the bound.
func judge(results []*result, rs reasons) error {
	var wrong []string
	for _, r := range results {
		if r.holds() == figures.No {
			wrong = append(wrong, fmt.Sprintf("%s: the score is %.1f %%, want at least %.0f %%", r.part.name, r.score(),
				r.part.bound))
		}
		if n := len(r.unexplained()); n > 0 && r.tried == r.planted {
			wrong = append(wrong,
				fmt.Sprintf("%s: %d survivors without a reason: write a test that finds them, or the reason into equivalent.txt",
					r.part.name, n))
		}
		for _, key := range slices.Sorted(maps.Keys(rs)) {
			if file, _, _ := strings.Cut(key, " | "); path.Dir(file) != r.part.dir {
				continue
			}
			if f, planted := r.fates[key]; !planted || f == killed || f == timedOut {
				wrong = append(wrong, fmt.Sprintf("equivalent.txt explains %s, which did not survive, or is no mutant: remove it",
					key))
			}
		}
	}
	if len(wrong) > 0 {
		return errors.New(strings.Join(wrong, "\n"))
	}
	return nil
}

// write replaces the figures of the part in the report below root. Those of other parts stay.
func (r *result) write(root string) error {
	report, err := figures.Read(root, "mutation")
	if err != nil {
		return err
	}
	report.Command = "go run ./lab/mutation -sample 100"
	report.Commit, report.Day, report.Machine = r.stamp.Commit, r.stamp.Day, r.stamp.Machine
	report.Figures = slices.DeleteFunc(report.Figures, func(f figures.Figure) bool { return r.part.owns(f) })
	report.Figures = append(report.Figures, r.figures()...)
	slices.SortStableFunc(report.Figures, func(a, b figures.Figure) int { return place(a) - place(b) })
	return report.Write(root)
}

// figures returns the score, and the survivors that have no reason.
func (r *result) figures() []figures.Figure {
	all := []figures.Figure{{
		Of: r.part.name + ": score", Value: fmt.Sprintf("%.1f %%", r.score()),
		Bound: fmt.Sprintf("≥ %.0f %%", r.part.bound), Holds: r.holds(),
		Note: fmt.Sprintf("%s; at %s, %s", r, r.stamp.Commit, r.stamp.Day),
	}}
	for _, s := range r.unexplained() {
		all = append(all, figures.Figure{Of: r.part.name + ": survivor", Value: s.Key(), Note: string(s.fate)})
	}
	return all
}

// owns reports whether a figure is one of the part.
func (p part) owns(f figures.Figure) bool { return strings.HasPrefix(f.Of, p.name+": ") }

// place is the position of the part of a figure.
func place(f figures.Figure) int {
	return slices.IndexFunc(parts, func(p part) bool { return p.owns(f) })
}

package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/lab/figures"
)

// folder is the directory of this command, relative to the root.
const folder = "lab/mutation"

// A result holds the outcomes of the mutants of a part. The exported fields are kept in results.json.
type result struct {
	Part     string
	Commit   string
	Day      string
	Machine  string
	Planted  int
	Seed     uint64 // of the sample; 0 if all mutants were tried
	Tried    int
	Killed   int
	TimedOut int
	Alive    []survivor

	part  part
	fates map[string]fate // of all planted mutants, by key; "" if not tried
}

// A survivor is a mutant that no test found.
type survivor struct {
	mutant
	Fate   fate
	reason string // why no test can find it; "" without explanation
}

// stamp records the commit, the day and the machine, and the seed of a sample.
func (r *result) stamp(root string, c choice) error {
	var report figures.Report
	err := report.Stamp(root)
	r.Commit, r.Day, r.Machine = report.Commit, report.Day, report.Machine
	if c.sample > 0 {
		r.Seed = c.seed
	}
	return err
}

func (r *result) plant(all []mutant) {
	r.Planted, r.fates = len(all), map[string]fate{}
	for _, m := range all {
		r.fates[m.Key()] = ""
	}
}

func (r *result) add(m mutant, f fate) {
	r.Tried++
	r.fates[m.Key()] = f
	switch f {
	case killed:
		r.Killed++
	case timedOut:
		r.TimedOut++
	default:
		r.Alive = append(r.Alive, survivor{mutant: m, Fate: f})
	}
}

// reasons are the explanations of equivalent.txt, by the keys of mutants.
type reasons map[string]string

// readReasons reads blocks of keys, one per line, each block followed by a line with a colon and the reason. Lines
// that begin with # are comments.
func readReasons(path string) (reasons, error) {
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	rs := reasons{}
	var open []string
	for n, line := range strings.Split(string(data), "\n") {
		line = strings.TrimSpace(line)
		reason, is := strings.CutPrefix(line, ":")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case is && len(open) > 0:
			for _, key := range open {
				rs[key] = strings.TrimSpace(reason)
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

func (r *result) explain(rs reasons) {
	for i, s := range r.Alive {
		r.Alive[i].reason = rs[s.Key()]
	}
}

func (r *result) found() int { return r.Killed + r.TimedOut }

func (r *result) explained() (n int) {
	for _, s := range r.Alive {
		if s.reason != "" {
			n++
		}
	}
	return n
}

func percent(n, of int) float64 { return 100 * float64(n) / float64(max(of, 1)) }

// score returns the percentage of mutants found, without explained ones.
func (r *result) score() float64 { return percent(r.found(), r.Tried-r.explained()) }

// of says whether the mutants are a sample, and what that means for the score.
func (r *result) of() string {
	if r.Tried == r.Planted {
		return "all"
	}
	low, high := interval(r.found(), r.Tried-r.explained())
	return fmt.Sprintf("a sample, drawn with seed %d; 95 %% confidence: %.1f to %.1f %%", r.Seed, low, high)
}

// holds compares the score with its bound. Of a sample it is open if the interval contains the bound.
func (r *result) holds() figures.Verdict {
	low, high := r.score(), r.score()
	if r.Tried < r.Planted {
		low, high = interval(r.found(), r.Tried-r.explained())
	}
	switch {
	case low >= r.part.bound:
		return figures.Yes
	case high < r.part.bound:
		return figures.No
	}
	return figures.Open
}

func (r *result) print(out io.Writer) {
	fmt.Fprintf(out, "%s: %d of %d tried, %d killed, %d timed out, %d survived, of which %d are explained; "+
		"score %.1f %% (%s), raw %.1f %%\n", r.Part, r.Tried, r.Planted, r.Killed, r.TimedOut, len(r.Alive),
		r.explained(), r.score(), r.of(), percent(r.found(), r.Tried))
}

// judge returns an error if a score is below its bound, if a survivor among all mutants has no explanation, or if an
// explanation is about a mutant that is found or not planted. It accepts a sample whose interval contains the bound.
func judge(results []*result, rs reasons) error {
	var wrong []string
	for _, r := range results {
		if r.holds() == figures.No {
			wrong = append(wrong, fmt.Sprintf("%s: the score is %.1f %%, want at least %.0f %%", r.Part, r.score(),
				r.part.bound))
		}
		if n := len(r.Alive) - r.explained(); n > 0 && r.Tried == r.Planted {
			wrong = append(wrong,
				fmt.Sprintf("%s: %d survivors without a reason: write a test that finds them, or the reason into equivalent.txt",
					r.Part, n))
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

// write puts new results into results.json, and makes SURVIVORS.md and the report of all results there.
func write(root string, parts []part, rs reasons, latest ...*result) error {
	file := filepath.Join(root, folder, "results.json")
	data, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	var before []*result
	if len(data) > 0 {
		if err := json.Unmarshal(data, &before); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	var results []*result // in the order of the parts
	for _, p := range parts {
		for _, old := range slices.Concat(latest, before) {
			if old.Part == p.name {
				old.part = p
				old.explain(rs)
				results = append(results, old)
				break
			}
		}
	}
	if data, err = json.MarshalIndent(results, "", "\t"); err != nil {
		return err
	}
	if err := figures.WriteFile(file, append(data, '\n')); err != nil {
		return err
	}
	if err := figures.WriteFile(filepath.Join(root, folder, "SURVIVORS.md"), []byte(survivors(results))); err != nil {
		return err
	}
	return report(results).Write(root)
}

// report makes the report. It describes the oldest of the results.
func report(results []*result) figures.Report {
	report := figures.Report{Name: "mutation", Command: "go run ./lab/mutation -sample 100"}
	oldest := slices.MinFunc(results, func(a, b *result) int { return cmp.Compare(a.Day, b.Day) })
	report.Commit, report.Day, report.Machine = oldest.Commit, oldest.Day, oldest.Machine
	for _, r := range results {
		count := func(of string, n int, note string) {
			report.Figures = append(report.Figures, figures.Figure{Of: r.Part + ": " + of, Value: fmt.Sprint(n), Note: note})
		}
		count("bugs planted", r.Planted, "")
		count("bugs tried", r.Tried, "at "+r.Commit+", "+r.Day)
		count("killed by a test", r.Killed, "")
		count("stopped by the time limit", r.TimedOut, "ten times what the tests take, and 2 s")
		count("survivors explained", r.explained(), "each in lab/mutation/SURVIVORS.md")
		count("survivors not explained", len(r.Alive)-r.explained(), "")
		report.Figures = append(report.Figures,
			figures.Figure{
				Of: r.Part + ": score", Value: fmt.Sprintf("%.1f %%", r.score()), Bound: fmt.Sprintf("≥ %.0f %%", r.part.bound),
				Holds: r.holds(), Note: "found, of those that are not explained; of " + r.of(),
			},
			figures.Figure{
				Of: r.Part + ": raw score", Value: fmt.Sprintf("%.1f %%", percent(r.found(), r.Tried)),
				Note: "found, of those tried",
			})
	}
	return report
}

// survivors returns the text of SURVIVORS.md.
func survivors(results []*result) string {
	var b strings.Builder
	b.WriteString("# Survivors\n\nMade by `go run ./lab/mutation`: the planted bugs that no test finds, and why none " +
		"can, from equivalent.txt.\n")
	b.WriteString("Where fewer were tried than planted, those tried are a sample. Its interval holds the score of all " +
		"with 95 % confidence.\nThat is so in the first run with a seed. Once its survivors have tests, another run with " +
		"that seed says less about\nthe bugs that were not drawn.\n" +
		"\n| part | planted | tried | killed | timed out | explained | not explained | score | interval | raw |\n" +
		"|---|---|---|---|---|---|---|---|---|---|\n")
	for _, r := range results {
		between := ""
		if r.Tried < r.Planted {
			low, high := interval(r.found(), r.Tried-r.explained())
			between = fmt.Sprintf("%.1f to %.1f %%", low, high)
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d | %d | %.1f %% | %s | %.1f %% |\n", r.Part, r.Planted, r.Tried,
			r.Killed, r.TimedOut, r.explained(), len(r.Alive)-r.explained(), r.score(), between, percent(r.found(), r.Tried))
	}
	for _, r := range results {
		fmt.Fprintf(&b, "\n## %s\n", r.Part)
		var order []string
		by := map[string][]survivor{}
		for _, s := range r.Alive {
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
				if s.Fate == missed {
					note = " (" + string(missed) + ")"
				}
				fmt.Fprintf(&b, "- %s, %s: `%s`%s\n", s.File, s.where(), strings.ReplaceAll(s.What, "`", "'"), note)
			}
		}
		if len(r.Alive) == 0 {
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

package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/lab/figures"
)

// A section is the heading and the introduction of a report on the page of proof.
type section struct {
	report, title, text string
}

// sections are the sections of the page, in order.
var sections = []section{
	{"bench", "Bounds",
		"Ratios of minima of interleaved rounds. \"Open\" is a comparison whose rounds disagree. The whole report is " +
			"[RESULTS.md](../../lab/bench/RESULTS.md)."},
	{"model", "Programs against a model",
		"Random programs of registrations and fires, played by the framework and by a plain sequential model. Ten " +
			"thousand run in every check."},
	{"mutation", "Planted bugs",
		"Each mutant is one small bug planted in the source. It is killed if a test fails. Survivors that no test can " +
			"find have a reason in [equivalent.txt](../../lab/mutation/equivalent.txt), and do not count. The interval of a " +
			"sample holds in the first run with its seed."},
	{"fuzzing", "Fuzzing",
		"Time is that of one worker, in its last run, and inputs are those that reached something new. Every check " +
			"plays those that are committed, and all that failed."},
	{"soak", "Soak",
		"Fires while hooks are added, removed and layered, and a tracer is attached and detached, from other goroutines."},
	{"kill", "A kill at any moment",
		"Processes killed with SIGKILL while they write. What is read afterwards must be the old content or the new one."},
}

// fewBounds is the most bounds of a report that the page lists completely. Of a report with more, it lists those that
// are not shown to hold. The report has all of them.
const fewBounds = 8

// proof returns the figures of all reports. It measures nothing: the runs wrote the reports.
func proof(meter) (string, error) {
	var table, texts strings.Builder
	for _, s := range sections {
		r, err := figures.Read(".", s.report)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&table, "| %s | `%s` | %s | %s | %s |\n", r.Name, r.Command, r.Commit, r.Day, cell(r.Machine))
		fmt.Fprintf(&texts, "\n## %s\n\n%s ", s.title, s.text)
		if err := bounds(&texts, r); err != nil {
			return "", err
		}
	}
	return "\n| run | command | commit | day | machine |\n|---|---|---|---|---|\n" + table.String() +
		"\nA commit with a + is one whose tree had changes that were not committed.\n" + texts.String(), nil
}

// bounds writes how many bounds of a report hold, and a table of bounds.
func bounds(b *strings.Builder, r figures.Report) error {
	all := slices.DeleteFunc(slices.Clone(r.Figures), func(f figures.Figure) bool { return f.Bound == "" })
	doubtful := slices.DeleteFunc(slices.Clone(all), func(f figures.Figure) bool { return f.Holds == figures.Yes })
	fmt.Fprintf(b, "%d of %d bounds hold; [all %d figures](figures/%s.json).\n", len(all)-len(doubtful), len(all),
		len(r.Figures), r.Name)
	shown := all
	if len(shown) > fewBounds {
		shown = doubtful
	}
	if len(shown) == 0 {
		return nil
	}
	b.WriteString("\n| what | figure | bound | holds | note |\n|---|---|---|---|---|\n")
	var unexplained []error
	for _, f := range shown {
		// The range in an open figure explains it.
		torn := f.Holds == figures.Open && strings.Contains(f.Value, "(rounds say ")
		if f.Holds != figures.Yes && !torn && f.Note == "" {
			unexplained = append(unexplained,
				fmt.Errorf("%s, %s: a bound that is not shown to hold needs a note", r.Name, f.Of))
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", cell(f.Of), cell(f.Value), cell(f.Bound),
			cmp.Or(f.Holds, "unknown"), cell(f.Note))
	}
	return errors.Join(unexplained...)
}

// cell escapes characters that would end a table cell or look like HTML.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;").Replace(text)
}

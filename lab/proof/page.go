package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/lab/figures"
)

// A section is the heading and the introduction of a report on the page.
type section struct {
	report string
	title  string
	text   string
}

// sections are the sections of the page, in order.
var sections = []section{
	{"tests", "Invariants, laws and faults",
		"Each figure is a test: what it shows, in the words above its code, what it found, and its command. All of them " +
			"run in every check, most with fewer drawn cases, and those that count no allocations also under the race " +
			"detector."},
	{"bench", "Bounds",
		"Ratios of minima of interleaved rounds. \"Open\" is a comparison whose rounds disagree. The whole report is " +
			"[RESULTS.md](../../lab/bench/RESULTS.md)."},
	{"model", "Programs against a model",
		"Random programs of registrations and fires, played by the framework and by a plain sequential model. Ten " +
			"thousand run in" +
			" every check."},
	{"mutation", "Planted bugs",
		"Each mutant is one small bug planted in the source. It is killed if a test fails. Every survivor is listed in" +
			" [SURVIVORS.md](../../lab/mutation/SURVIVORS.md) with the reason why nobody could tell it from the original." +
			" The interval of a sample holds in the first run with its seed. Once the survivors have tests, another run" +
			" with that seed says less about the bugs that were not drawn."},
	{"fuzzing", "Fuzzing",
		"Time is that of one worker, in all runs so far, and inputs are those that reached something new. Some of each " +
			"target, those that reach most," +
			" are committed, and every check plays them; so are all that failed."},
	{"soak", "Soak",
		"Fires while hooks are added, removed and layered, and a tracer is attached and detached, from other goroutines."},
	{"kill", "A kill at any moment",
		"Processes killed with SIGKILL while they write. What is read afterwards must be the old content or the new one."},
}

// page builds the page. Every section needs its report, and every report its section.
func page(reports []figures.Report) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("# Proof\n\n" +
		"What hookgen promises, how it is shown, and what the latest run found. Made by `go run ./lab/proof` of what the " +
		"runs wrote into\n" +
		"[figures](figures); no figure is typed by hand.\n\n" +
		"| run | command | commit | day | machine |\n|---|---|---|---|---|\n")
	known := map[string]figures.Report{}
	for _, r := range reports {
		known[r.Name] = r
		if !slices.ContainsFunc(sections, func(s section) bool { return s.report == r.Name }) {
			return nil, fmt.Errorf("the report %s has no section in page.go", r.Name)
		}
	}
	for _, s := range sections {
		r, ok := known[s.report]
		if !ok {
			return nil, fmt.Errorf("there is no report %s in %s", s.report, figures.Folder)
		}
		fmt.Fprintf(&b, "| [%s](#%s) | %s | %s | %s | %s |\n", s.title, anchor(s.title), code(r.Command), r.Commit, r.Day,
			cell(r.Machine))
	}
	b.WriteString("\nA commit with a + is one whose tree had changes that were not committed.\n")
	for _, s := range sections {
		if err := write(&b, s, known[s.report]); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

// fewBounds is the most bounds of a report that the page lists completely. Of a report with more, it lists those that
// are not shown to hold. The report has all of them.
const fewBounds = 8

// write writes a section: how many bounds of each group hold, and a table of bounds.
func write(b *bytes.Buffer, s section, r figures.Report) error {
	fmt.Fprintf(b, "\n## %s\n\n%s [All figures](figures/%s.json).\n", s.title, s.text, r.Name)
	var bounded, doubtful []figures.Figure
	b.WriteString("\n| figures | number | with a bound | that holds |\n|---|---|---|---|\n")
	for rest := r.Figures; len(rest) > 0; {
		title := rest[0].Group
		n := slices.IndexFunc(rest, func(f figures.Figure) bool { return f.Group != title })
		if n < 0 {
			n = len(rest)
		}
		bounds, held := 0, 0
		for _, f := range rest[:n] {
			if f.Bound == "" {
				continue
			}
			bounds++
			bounded = append(bounded, f)
			if f.Holds == figures.Yes {
				held++
			} else {
				doubtful = append(doubtful, f)
			}
		}
		fmt.Fprintf(b, "| %s | %d | %d | %d |\n", cmp.Or(title, s.title), n, bounds, held)
		rest = rest[n:]
	}
	shown := bounded
	if len(shown) > fewBounds {
		shown = doubtful
	}
	if len(shown) == 0 {
		return nil
	}
	if err := table(b, shown); err != nil {
		return fmt.Errorf("the report %s: %w", r.Name, err)
	}
	return nil
}

// column is one column of a table.
type column struct {
	title string
	of    func(figures.Figure) string
}

var columns = []column{
	{"what", func(f figures.Figure) string { return cell(f.Of) }},
	{"figure", func(f figures.Figure) string { return cell(f.Value) }},
	{"bound", func(f figures.Figure) string { return cell(f.Bound) }},
	{"holds", func(f figures.Figure) string { return string(f.Holds) }},
	{"note", func(f figures.Figure) string { return cell(f.Note) }},
}

// table writes the figures without empty columns. A bound that is not shown to hold needs an explanation: a note,
// or, if the verdict is open, the range in its figure.
func table(b io.Writer, figs []figures.Figure) error {
	for _, f := range figs {
		torn := f.Holds == figures.Open && strings.Contains(f.Value, "(rounds say ")
		if f.Holds != figures.Yes && !torn && f.Bound != "" && f.Note == "" {
			return fmt.Errorf("%s: a bound that is not shown to hold needs a note", f.Of)
		}
	}
	var used []column
	head, rule := "|", "|"
	for _, c := range columns {
		if slices.ContainsFunc(figs, func(f figures.Figure) bool { return c.of(f) != "" }) {
			used = append(used, c)
			head, rule = head+" "+c.title+" |", rule+"---|"
		}
	}
	fmt.Fprintf(b, "\n%s\n%s\n", head, rule)
	for _, f := range figs {
		row := "|"
		for _, c := range used {
			row += " " + c.of(f) + " |"
		}
		fmt.Fprintln(b, row)
	}
	return nil
}

// cell escapes characters that would end a table cell or look like HTML.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;").Replace(text)
}

// code formats text as code in a cell.
func code(text string) string {
	if text == "" {
		return ""
	}
	return "`" + strings.NewReplacer("|", `\|`, "\n", " ").Replace(text) + "`"
}

// anchor returns the link target of a title.
func anchor(title string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(title) {
		switch {
		case r == ' ':
			b.WriteByte('-')
		case r == '-' || 'a' <= r && r <= 'z' || '0' <= r && r <= '9':
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Command mutation plants bugs, one at a time, in hookkit, hookkit/hookimpl, parts of gen, and a generated
// package. It counts the bugs that the tests find. Run it from the root of the repository:
//
//	go run ./lab/mutation                 all parts; writes SURVIVORS.md and the report
//	go run ./lab/mutation -only gen       one part; writes nothing
//	go run ./lab/mutation -match near.go  the mutants whose key the expression matches; writes nothing
//	go run ./lab/mutation -shard 0/4      a quarter of them; writes nothing
//	go run ./lab/mutation -unreached      those that no test reaches, at once; writes nothing
//
// All mutants of a package are compiled into one instrumented copy (go build -overlay); an environment variable
// selects one of them. A first run records which mutants each test reaches. Each mutant then runs only with those
// tests, fast tests first. For every survivor, add a test that kills it, or an explanation in equivalent.txt.
//
// The exit status is 1 if a score is below the bound, a survivor has no explanation, or an explanation is
// obsolete.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/internal/figures"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "mutation:", err)
		os.Exit(1)
	}
}

// bound is the percentage of mutants that tests must find.
const bound = 95

// choice selects mutants.
type choice struct {
	only     string
	match    *regexp.Regexp
	shard, n int
	quick    bool // none run: only report those that no test reaches
	parallel int  // number of parallel runs
}

func (c choice) whole() bool { return c.only == "" && c.match == nil && c.n == 1 && !c.quick }

func (c choice) takes(m mutant) bool {
	return m.ID%c.n == c.shard && (c.match == nil || c.match.MatchString(m.Key()))
}

func run(args []string, out io.Writer) error {
	c := choice{n: 1}
	flags := flag.NewFlagSet("mutation", flag.ContinueOnError)
	flags.StringVar(&c.only, "only", "", "the one part to try: hookkit, hookimpl, gen or generated")
	flags.Func("match", "a regular expression for the keys of the mutants to try", func(s string) (err error) {
		c.match, err = regexp.Compile(s)
		return err
	})
	flags.Func("shard", "i/n: the i-th of n shares, from 0", func(s string) error {
		if n, err := fmt.Sscanf(s, "%d/%d", &c.shard, &c.n); n != 2 || err != nil || c.n < 1 || c.shard < 0 ||
			c.shard >= c.n {
			return errors.New("want i/n with 0 <= i < n")
		}
		return nil
	})
	flags.IntVar(&c.parallel, "parallel", 1, "how many mutants are tried at once")
	flags.BoolVar(&c.quick, "unreached", false, "only tell the mutants that no test reaches")
	if err := flags.Parse(args); err != nil {
		return err
	}
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/hookgen/hookgen").Output()
	if err != nil {
		return fmt.Errorf("go list -m: %w", err)
	}
	return all(strings.TrimSpace(string(root)), parts, c, out)
}

// all runs the selected mutants of the parts and reports.
func all(root string, parts []part, c choice, out io.Writer) error {
	report := figures.Report{Name: "mutation", Command: "go run ./lab/mutation"}
	if err := report.Stamp(root); err != nil { // before compiling, so that it describes the measured source
		return err
	}
	var results []*result
	for _, p := range parts {
		if c.only != "" && c.only != p.name {
			continue
		}
		r, err := p.try(root, c, out)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		results = append(results, r)
	}
	reasons, err := readReasons(filepath.Join(root, folder, "equivalent.txt"))
	if err != nil {
		return err
	}
	for _, r := range results {
		r.explain(reasons)
		r.print(out)
	}
	if len(results) == 0 {
		return fmt.Errorf("there is no part %q", c.only)
	}
	if c.whole() {
		if err := write(root, report, results); err != nil {
			return err
		}
	}
	return judge(results, reasons, c.whole())
}

// try plants the bugs of one part and runs the selected ones.
func (p part) try(root string, c choice, out io.Writer) (*result, error) {
	temp, err := os.MkdirTemp("", "mutation-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp)
	w, err := p.plant(root, temp)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(out, "%s: %d mutants\n", p.name, len(w.mutants))
	binaries, err := w.compile(root)
	if err != nil {
		return nil, err
	}
	tests, err := w.record(binaries, out)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(out, "%s: %d tests reach some of them\n", p.name, len(tests))
	r := &result{part: p}
	chosen := slices.DeleteFunc(slices.Clone(w.mutants), func(m mutant) bool {
		return !c.takes(m) || c.quick && slices.ContainsFunc(tests, func(t *test) bool { return t.reach(m) })
	})
	fates := make([]chan fate, len(chosen))
	free := make(chan bool, max(1, c.parallel))
	for i := range fates {
		fates[i] = make(chan fate, 1)
	}
	go func() {
		for i, m := range chosen {
			free <- true
			go func() {
				f, by := try(m, binaries, tests)
				if c.match != nil && by != "" {
					fmt.Fprintf(out, "%s: %s by %s\n", m.Key(), f, by)
				}
				fates[i] <- f
				<-free
			}()
		}
	}()
	for i, m := range chosen {
		f := <-fates[i]
		r.add(m, f)
		if f == survived || f == missed {
			fmt.Fprintf(out, "%s (line %d): %s\n", m.Key(), m.Line, f)
		}
	}
	return r, nil
}

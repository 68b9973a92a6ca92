// Command mutation plants bugs, one at a time, in hookkit, hookkit/hookimpl, parts of gen, a generated package, loop
// and the packages of builtin. It counts the bugs that the tests find. Run it from the root of the repository:
//
//	go run ./lab/mutation -sample 100     100 mutants of each part
//	go run ./lab/mutation                 all mutants of all parts: days
//	go run ./lab/mutation -only builtin   the parts builtin and builtin/...
//
// They write the score of each part, and its survivors without a reason, into the report in docs/evidence/figures.
//
// All mutants of a package are compiled into one instrumented copy (go build -overlay); an environment variable
// selects one of them. A first run records which mutants each test reaches. Each mutant then runs only with those
// tests, fast tests first. For every survivor, add a test that kills it, or an explanation in equivalent.txt.
//
// A sample is drawn by a hash of the seed and the mutant. The same seed draws the same
// mutants, and an edit of one function leaves the draws in other functions alone. The report gives the interval of
// 95 % confidence for the score of all mutants.
//
// The exit status is 1 if a score is below its bound, a survivor among all mutants has no explanation, or an
// explanation is obsolete. Of a sample, the score is below the bound if its whole interval is.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "mutation:", err)
		os.Exit(1)
	}
}

// choice selects mutants.
type choice struct {
	only   string
	sample int    // number of mutants of each part; 0: all
	seed   uint64 // of the sample
}

// wants reports whether a part is selected, by its name or a folder of the name.
func (c choice) wants(name string) bool {
	return c.only == "" || c.only == name || strings.HasPrefix(name, c.only+"/")
}

// of returns the selected mutants of a part.
func (c choice) of(all []mutant) []mutant {
	if c.sample > 0 {
		return draw(all, c.sample, c.seed)
	}
	return all
}

func run(args []string, out io.Writer) error {
	var c choice
	flags := flag.NewFlagSet("mutation", flag.ContinueOnError)
	flags.StringVar(&c.only, "only", "", "the part to try, as gen, or the parts of a folder, as builtin")
	flags.IntVar(&c.sample, "sample", 0, "how many mutants of each part are tried; 0: all")
	flags.Uint64Var(&c.seed, "seed", 1, "the seed of the sample")
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
	reasons, err := readReasons(filepath.Join(root, folder, "equivalent.txt"))
	if err != nil {
		return err
	}
	var results []*result
	for _, p := range parts {
		if !c.wants(p.name) {
			continue
		}
		r, err := p.try(root, c, out)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		r.explain(reasons)
		r.print(out)
		results = append(results, r)
		if err := r.write(root); err != nil { // part by part, because a run takes hours
			return err
		}
	}
	if len(results) == 0 {
		return fmt.Errorf("there is no part %q", c.only)
	}
	return judge(results, reasons)
}

// try plants the bugs of one part and runs the selected ones.
func (p part) try(root string, c choice, out io.Writer) (*result, error) {
	r := &result{part: p, seed: c.seed}
	if err := r.stamp.Stamp(root); err != nil { // before compiling, so that it describes the measured source
		return nil, err
	}
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
	r.plant(w.mutants)
	for _, m := range c.of(w.mutants) {
		f := try(m, binaries, tests)
		if r.add(m, f); f == survived || f == missed {
			fmt.Fprintf(out, "%s (line %d): %s\n", m.Key(), m.Line, f)
		}
	}
	return r, nil
}

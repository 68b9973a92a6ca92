// Command lines counts the lines of Go code of each package, without tests, generated code, testdata and examples. Run
// it from the root of the repository:
//
//	go run ./lab/lines [-json] [DIR...]
//	go run ./lab/lines -against v0.1.0 [DIR...]    before and after, for each package that differs
//
// A line of code is neither blank nor a comment. The share of comments is that of all lines that are not blank. Without
// folders, the command counts all packages and adds the totals of the core and of the repository.
package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
)

// others matches the files that are not counted.
var others = regexp.MustCompile(`_test\.go$|_gen\.go$|/testdata/|(^|/)examples?/`)

// core matches the packages of the core.
var core = regexp.MustCompile(`^(gen|hookkit|hooktest|hookvet|cmd/hookgen|cmd/hookvet)(/|$)|^spec$`)

// A count is the number of lines of a package, or of several.
type count struct {
	Name     string  `json:"name"`
	Code     int     `json:"code"`
	Comments int     `json:"comments"`
	Share    float64 `json:"share"` // of comments, in percent
}

// add adds the lines of a file.
func (c *count) add(text string) {
	for line := range strings.Lines(text) {
		switch line = strings.TrimSpace(line); {
		case strings.HasPrefix(line, "//"):
			c.Comments++
		case line != "":
			c.Code++
		}
	}
	c.Share = 100 * float64(c.Comments) / float64(max(1, c.Code+c.Comments))
}

func main() {
	asJSON := flag.Bool("json", false, "print JSON")
	against := flag.String("against", "", "also count the lines of this `revision`")
	flag.Parse()
	if err := run(os.Stdout, flag.Args(), *against, *asJSON); err != nil {
		fmt.Fprintln(os.Stderr, "lines:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, dirs []string, against string, asJSON bool) error {
	if against != "" && asJSON {
		return errors.New("-json prints one version: leave out -against")
	}
	now, err := workTree(dirs)
	if err != nil {
		return err
	}
	counts := countAll(now, len(dirs) == 0)
	switch {
	case asJSON:
		return json.NewEncoder(out).Encode(counts)
	case against != "":
		before, err := revision(against, dirs)
		if err != nil {
			return err
		}
		compare(out, countAll(before, len(dirs) == 0), counts)
		return nil
	}
	for _, c := range counts {
		fmt.Fprintf(out, "%7d  %4.1f %% comments  %s\n", c.Code, c.Share, c.Name)
	}
	return nil
}

// workTree returns the texts of the files in the index, by name.
func workTree(dirs []string) (map[string]string, error) {
	names, err := exec.Command("git", append([]string{"ls-files", "--"}, dirs...)...).Output()
	if err != nil {
		return nil, fmt.Errorf("git ls-files: %w", err)
	}
	texts := map[string]string{}
	for _, name := range strings.Fields(string(names)) {
		if isCounted(name) {
			text, err := os.ReadFile(name)
			if err != nil {
				return nil, err
			}
			texts[name] = string(text)
		}
	}
	return texts, nil
}

// revision returns the texts of the files in a revision, by name.
func revision(name string, dirs []string) (map[string]string, error) {
	archive, err := exec.Command("git", "archive", "--format=tar", name).Output()
	if err != nil {
		return nil, fmt.Errorf("git archive %s: %w", name, err)
	}
	texts := map[string]string{}
	for r := tar.NewReader(bytes.NewReader(archive)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return texts, nil
		}
		if err != nil {
			return nil, err
		}
		within := len(dirs) == 0 || slices.ContainsFunc(dirs, func(dir string) bool {
			return strings.HasPrefix(h.Name, path.Clean(dir)+"/")
		})
		if within && isCounted(h.Name) {
			text, err := io.ReadAll(r)
			if err != nil {
				return nil, err
			}
			texts[h.Name] = string(text)
		}
	}
}

func isCounted(file string) bool { return path.Ext(file) == ".go" && !others.MatchString(file) }

// countAll counts the lines of each package, and adds the totals if asked.
func countAll(texts map[string]string, totals bool) []*count {
	packages := map[string]*count{}
	ofCore, all := &count{Name: "core"}, &count{Name: "all"}
	for file, text := range texts {
		dir := path.Dir(file)
		if packages[dir] == nil {
			packages[dir] = &count{Name: dir}
		}
		packages[dir].add(text)
		all.add(text)
		if core.MatchString(dir) {
			ofCore.add(text)
		}
	}
	var counts []*count
	for _, dir := range slices.Sorted(maps.Keys(packages)) {
		counts = append(counts, packages[dir])
	}
	if totals {
		counts = append(counts, ofCore, all)
	}
	return counts
}

// compare prints the packages whose lines differ, and the totals.
func compare(out io.Writer, before, after []*count) {
	named := func(counts []*count, name string) count {
		for _, c := range counts {
			if c.Name == name {
				return *c
			}
		}
		return count{}
	}
	var names []string
	for _, c := range slices.Concat(before, after) {
		if !slices.Contains(names, c.Name) && c.Name != "core" && c.Name != "all" {
			names = append(names, c.Name)
		}
	}
	slices.Sort(names)
	fmt.Fprintf(out, "%7s  %7s  %7s  %s\n", "before", "after", "change", "comments before and after")
	for _, name := range append(names, "core", "all") {
		b, a := named(before, name), named(after, name)
		if b != a {
			fmt.Fprintf(out, "%7d  %7d  %+7d  %4.1f %%  %4.1f %%  %s\n", b.Code, a.Code, a.Code-b.Code, b.Share, a.Share, name)
		}
	}
}

// Command lines counts the lines of Go code of each package, without tests, generated code, testdata and examples. Run
// it from the root of the repository:
//
//	go run ./lab/lines [-json] [DIR...]
//
// A line of code is neither blank nor a comment. The share of comments is that of all lines that are not blank. Without
// folders, the command counts all packages and adds the totals of the core and of the repository.
package main

import (
	"encoding/json"
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
	flag.Parse()
	if err := run(os.Stdout, flag.Args(), *asJSON); err != nil {
		fmt.Fprintln(os.Stderr, "lines:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, dirs []string, asJSON bool) error {
	files, err := exec.Command("git", append([]string{"ls-files", "--"}, dirs...)...).Output()
	if err != nil {
		return fmt.Errorf("git ls-files: %w", err)
	}
	packages := map[string]*count{}
	ofCore, all := &count{Name: "core"}, &count{Name: "all"}
	for _, file := range strings.Fields(string(files)) {
		if path.Ext(file) != ".go" || others.MatchString(file) {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		dir := path.Dir(file)
		if packages[dir] == nil {
			packages[dir] = &count{Name: dir}
		}
		packages[dir].add(string(text))
		all.add(string(text))
		if core.MatchString(dir) {
			ofCore.add(string(text))
		}
	}
	var counts []*count
	for _, dir := range slices.Sorted(maps.Keys(packages)) {
		counts = append(counts, packages[dir])
	}
	if len(dirs) == 0 {
		counts = append(counts, ofCore, all)
	}
	if asJSON {
		return json.NewEncoder(out).Encode(counts)
	}
	for _, c := range counts {
		fmt.Fprintf(out, "%7d  %4.1f %% comments  %s\n", c.Code, c.Share, c.Name)
	}
	return nil
}

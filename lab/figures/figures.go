// Package figures stores the results of long runs: the benchmark, mutations, fuzzing, soak. Each program writes
// one report. The command lab/pages writes the reports into docs/evidence/proof.md, so that no figure is typed by hand.
// Other parts of pages are replaced in the same way.
package figures

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/hookgen/hookgen/internal/atomicfile"
)

// A Report is the result of one run of one command.
type Report struct {
	Name    string   `json:"name"`    // of the file, without .json
	Command string   `json:"command"` // reproduces the report, from the root of the repository
	Commit  string   `json:"commit"`  // of the measured source; set by Stamp
	Day     string   `json:"day"`     // of the run, as 2006-01-02 in UTC; set by Stamp
	Machine string   `json:"machine"` // set by Stamp
	Figures []Figure `json:"figures"`
}

// A Figure is one measured value.
type Figure struct {
	Group string  `json:"group,omitempty"` // figures of one group appear together, under this title
	Of    string  `json:"of"`              // the measured quantity
	Value string  `json:"value"`           // with its unit
	Bound string  `json:"bound,omitempty"` // as a reader writes it: "≤ 1.2"; "" without a bound
	Holds Verdict `json:"holds,omitempty"` // "" without a bound
	Note  string  `json:"note,omitempty"`  // needed to interpret the figure
}

// A Verdict is the result of comparing a figure with its bound.
type Verdict string

// The verdicts. Open means that the rounds of the run disagree.
const (
	Yes  Verdict = "yes"
	No   Verdict = "no"
	Open Verdict = "open"
)

// Stamp sets the commit, the day and the machine of the report. The commit ends with + if the working tree has
// changes. Stamp runs git in the folder root.
func (r *Report) Stamp(root string) error {
	commit, err := Git(root, "rev-parse", "--short=12", "HEAD")
	if err != nil {
		return err
	}
	changed, err := Git(root, "status", "--porcelain", "--untracked-files=no", "--", "*.go", "go.mod")
	if err != nil {
		return err
	}
	if changed != "" {
		commit += "+"
	}
	r.Commit, r.Day = commit, time.Now().UTC().Format(time.DateOnly)
	r.Machine = fmt.Sprintf("%s, %s/%s, %d processors", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	return nil
}

// Git runs git in a folder, and returns its output without blanks around it.
func Git(folder string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = folder
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}

// Folder is the folder of the reports, relative to the root of the repository.
const Folder = "docs/evidence/figures"

// Write writes the report into its file below root, atomically.
func (r Report) Write(root string) error {
	data, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	return WriteFile(filepath.Join(root, filepath.FromSlash(Folder), r.Name+".json"), append(data, '\n'))
}

// WriteFile writes a file atomically, with the mode 0644. It creates missing directories.
func WriteFile(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return atomicfile.Replace(path, data, 0o644)
}

// Read returns the named report below root. A report that was never written has no figures.
func Read(root, name string) (Report, error) {
	r := Report{Name: name}
	data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(Folder), name+".json"))
	if os.IsNotExist(err) {
		return r, nil
	}
	if err != nil {
		return r, err
	}
	err = json.Unmarshal(data, &r)
	return r, err
}

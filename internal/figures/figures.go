// Package figures keeps what long runs found: the comparison, the mutations, the fuzzing, the soak. Each of them
// writes one report, and docs/PROOF.md is made of the reports, so that no figure is ever typed by hand.
package figures

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// A Report is what one run of one command found.
type Report struct {
	Name    string   `json:"name"`    // of its file, without .json
	Command string   `json:"command"` // that makes it again, from the root of the repository
	Commit  string   `json:"commit"`  // the source that was measured; Stamp sets it
	Day     string   `json:"day"`     // of the run, as 2006-01-02 in UTC; Stamp sets it
	Machine string   `json:"machine"` // Stamp sets it
	Figures []Figure `json:"figures"`
}

// A Figure is one measured value.
type Figure struct {
	Group   string  `json:"group,omitempty"`   // figures of one group stand together, under this title
	Of      string  `json:"of"`                // what was measured
	Value   string  `json:"value"`             // with its unit
	Bound   string  `json:"bound,omitempty"`   // that it is held to, as a reader writes it: "≤ 1.2"; "" where there is none
	Holds   Verdict `json:"holds,omitempty"`   // "" where there is no bound
	Note    string  `json:"note,omitempty"`    // what a reader must know to take the figure rightly
	Command string  `json:"command,omitempty"` // that makes this figure alone again, "" where only the report's does
}

// A Verdict says whether a figure is within its bound.
type Verdict string

// The verdicts. Open is that of a run whose rounds disagree: it proves neither.
const (
	Yes  Verdict = "yes"
	No   Verdict = "no"
	Open Verdict = "open"
)

// Stamp fills in what the report says of its run: the commit (with a + behind it if the tree differs from it), the
// day and the machine. It runs git, in the folder root.
func (r *Report) Stamp(root string) error {
	commit, err := git(root, "rev-parse", "--short=12", "HEAD")
	if err != nil {
		return err
	}
	changed, err := git(root, "status", "--porcelain", "--untracked-files=no", "--", "*.go", "go.mod")
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

func git(root string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}

// Folder is where reports lie, below the root of the repository.
const Folder = "docs/figures"

// Write writes the report into its file below root, whole or not at all.
func (r Report) Write(root string) error {
	data, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	return WriteFile(filepath.Join(root, filepath.FromSlash(Folder), r.Name+".json"), append(data, '\n'))
}

// WriteFile writes a file with the mode 0644, whole or not at all. Missing directories are made.
func WriteFile(path string, data []byte) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	temp, err := os.CreateTemp(dir, ".figures-*")
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name()) // fails once the file is renamed
	_, err = temp.Write(data)
	if err = errors.Join(err, temp.Chmod(0o644), temp.Close()); err != nil {
		return err
	}
	return os.Rename(temp.Name(), path)
}

// Read returns all reports below root, by name.
func Read(root string) ([]Report, error) {
	paths, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(Folder), "*.json"))
	if err != nil {
		return nil, err
	}
	var all []Report
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		var r Report
		if err := json.Unmarshal(data, &r); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if r.Name+".json" != filepath.Base(path) {
			return nil, fmt.Errorf("%s holds the report of %q", path, r.Name)
		}
		all = append(all, r)
	}
	return all, nil
}

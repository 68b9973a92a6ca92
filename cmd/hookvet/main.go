// Command hookvet finds mistakes in programs with hooks that compile. Run it on packages, or from go vet:
//
//	hookvet ./...
//	go vet -vettool=$(which hookvet) ./...
//
// hookvet help lists the checks, and hookvet help NAME explains one. The page docs/hooks/hookvet.md has an example of
// each. hookvet --version prints the version, for bug reports.
//
// It exits with 0 if it finds nothing, with 1 if it finds mistakes, and with 2 if it cannot check a package.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/multichecker"

	"github.com/hookgen/hookgen/hookvet"
	"github.com/hookgen/hookgen/internal/progress"
	"github.com/hookgen/hookgen/internal/version"
)

// checking is the environment variable of a process that run starts.
const checking = "HOOKVET_CHECKING"

func main() {
	if version.Asked(os.Args[1:]) {
		fmt.Print(version.Text("hookvet"))
		return
	}
	if os.Getenv(checking) != "" {
		flag.Bool("version", false, "print the version of hookvet, for bug reports") // for the list of flags
		multichecker.Main(reporting(hookvet.Analyzers())...)
	}
	if slices.ContainsFunc(os.Args[1:], ofVet) {
		multichecker.Main(hookvet.Analyzers()...)
	}
	code, err := run()
	if err != nil {
		fmt.Fprintln(os.Stderr, "hookvet:", err)
		code = trouble
	}
	os.Exit(code)
}

// checked is the beginning of a line about a package, from the process that checks to the one that shows progress.
const checked = "\x00checked "

// reporting lets analyzers print a line for each package, the first of them that sees it.
func reporting(all []*analysis.Analyzer) []*analysis.Analyzer {
	var seen sync.Map
	for _, a := range all {
		run := a.Run
		a.Run = func(pass *analysis.Pass) (any, error) {
			if _, again := seen.LoadOrStore(pass.Pkg, true); !again {
				fmt.Fprintln(os.Stderr, checked+pass.Pkg.Path())
			}
			return run(pass)
		}
	}
	return all
}

// ofVet reports whether only go vet passes an argument: it asks for the version and the flags, and names its files.
func ofVet(argument string) bool {
	return strings.HasPrefix(argument, "-V") || argument == "-flags" || strings.HasSuffix(argument, ".cfg")
}

// The exit codes.
const (
	mistakes = 1
	trouble  = 2
)

// notRun matches the lines that multichecker prints for a package that does not compile, one per check.
var notRun = regexp.MustCompile(`^\w+: (analysis skipped due to errors in package|failed prerequisites: .*)$`)

// position matches the absolute name of a file at the beginning of a line, before its line number.
var position = regexp.MustCompile(`^(.*?)(:\d+(?::\d+)?: )`)

// shortened returns a line of multichecker with names of files relative to a directory, as go vet prints them.
func shortened(line, dir string) string {
	if m := position.FindStringSubmatch(line); m != nil && filepath.IsAbs(m[1]) {
		name, err := filepath.Rel(dir, m[1])
		if err == nil && filepath.Base(name) == name {
			name = "." + string(filepath.Separator) + name
		}
		if err == nil && len(name) < len(m[1]) {
			line = name + line[len(m[1]):]
		}
	}
	return strings.ReplaceAll(line, " "+dir+string(filepath.Separator), " ."+string(filepath.Separator))
}

// run runs the checks in another process, because multichecker never returns. It replaces the lines about checks that
// did not run by one, and returns the exit code.
func run() (int, error) {
	program, err := os.Executable()
	if err != nil {
		return trouble, err
	}
	dir, err := os.Getwd()
	if err != nil {
		return trouble, err
	}
	check := exec.Command(program, os.Args[1:]...)
	check.Env = append(os.Environ(), checking+"=yes")
	check.Stdin, check.Stdout = os.Stdin, os.Stdout
	lines, err := check.StderrPipe()
	if err != nil {
		return trouble, err
	}
	if err := check.Start(); err != nil {
		return trouble, err
	}
	line := progress.Start(os.Stderr, "hookvet")
	defer line.Stop()
	line.Set(func() string { return "loading packages" })
	stderr := line.Writer(os.Stderr)
	packages, skipped := 0, false
	for r := bufio.NewReader(lines); ; {
		text, err := r.ReadString('\n')
		if strings.HasPrefix(text, checked) {
			packages++
			doing := fmt.Sprintf("%d packages checked, last %s", packages, strings.TrimSpace(text[len(checked):]))
			line.Set(func() string { return doing })
		} else if notRun.MatchString(strings.TrimSuffix(text, "\n")) {
			skipped = true
		} else {
			fmt.Fprint(stderr, shortened(text, dir))
		}
		if err != nil {
			break
		}
	}
	err = check.Wait()
	if skipped {
		return trouble, errors.New("packages with errors, and those that import them, were not checked: correct them first")
	}
	// multichecker exits with 1 if it cannot check something, and with 3 if it finds something.
	const found = 3
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0, nil
	case errors.As(err, &exit) && exit.ExitCode() == found:
		return mistakes, nil
	case errors.As(err, &exit):
		return trouble, nil
	}
	return trouble, err
}

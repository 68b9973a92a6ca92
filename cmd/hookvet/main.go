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
	flag.Bool("version", false, "print the version of hookvet, for bug reports") // for the list of flags
	if os.Getenv(checking) != "" || slices.ContainsFunc(os.Args[1:], ofVet) {
		multichecker.Main(hookvet.Analyzers()...)
	}
	code, err := run()
	if err != nil {
		fmt.Fprintln(os.Stderr, "hookvet:", err)
		code = trouble
	}
	os.Exit(code)
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

// shortened returns a line of multichecker with the names of files below a directory relative to it, as go vet prints
// them: ./main.go and lib/lib.go.
func shortened(line, dir string) string {
	here := "." + string(filepath.Separator)
	line = strings.ReplaceAll(line, dir+string(filepath.Separator), here)
	name, _, _ := strings.Cut(strings.TrimPrefix(line, here), ":")
	if strings.ContainsRune(name, filepath.Separator) {
		return strings.TrimPrefix(line, here)
	}
	return line
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
	line.Set(func() string { return "checking" })
	stderr := line.Writer(os.Stderr)
	skipped := false
	for r := bufio.NewReader(lines); ; {
		text, err := r.ReadString('\n')
		if notRun.MatchString(strings.TrimSuffix(text, "\n")) {
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

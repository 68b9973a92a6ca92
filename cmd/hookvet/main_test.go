package main

import (
	"errors"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hookgen/hookgen/internal/usermodule"
	"github.com/hookgen/hookgen/internal/version"
)

// Each way to run the command finds the same, also what depends on several packages: go vet calls it once per package
// and stores its facts in files.
func TestEachWayToRunFindsTheSame(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	m := usermodule.New(t)
	m.Init("user")
	m.Write("mail/spec.go", `package mail

import "github.com/hookgen/hookgen/spec"

//hookgen:points
type Points interface {
	BeforeSend(string) (spec.Replace, spec.FailClosed)
	OnSent(string)
	OnBounce(string)
}
`)
	m.Write("lib/lib.go", `package lib

import (
	"context"

	"user/mail"
)

func Send(ctx context.Context, h *mail.Hooks, text string) {
	_ = h.BeforeSend.Fire(ctx, nil, &text)
}
`)
	// The types of this package do not mention lib or mail.
	m.Write("between/between.go", `package between

import (
	"context"

	"user/lib"
	"user/mail"
)

func Run() {
	var hooks mail.Hooks
	lib.Send(context.Background(), &hooks, "hello")
}
`)
	m.Write("main.go", `package main

import (
	"user/between"
	"user/mail"
)

func main() {
	between.Run()
	_ = mail.NewRun(struct{}{})
}
`)
	m.Run(usermodule.BuildHookgen(t), "mail")
	hookvet := usermodule.Build(t, "hookvet")
	const (
		copied = "lib/lib.go:10:34: hooks of mail.BeforeSend may change the payload, and nothing reads text after the " +
			"fire, so the changes are lost: read it there, not the original"
		dropped = "lib/lib.go:10:6: the error of mail.BeforeSend is dropped: if a hook failed, the program must not continue"
		unfired = "main.go:1:9: nothing in this program fires OnSent, OnBounce of user/mail: hooks there never run; " +
			"fire or remove it"
	)
	for name, c := range map[string]struct {
		command []string
		want    []string
	}{
		"directly":               {[]string{hookvet, "./..."}, []string{copied, dropped, unfired}},
		"by go vet":              {[]string{"go", "vet", "-vettool=" + hookvet, "./..."}, []string{copied, dropped, unfired}},
		"one check, one package": {[]string{"go", "vet", "-vettool=" + hookvet, "-unfired", "."}, []string{unfired}},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := m.Try(c.command...)
			if _, failed := err.(*exec.ExitError); !failed {
				t.Errorf("the command returned %v", err)
			}
			if strings.Contains(out, m.Dir) {
				t.Errorf("there are absolute names of files in:\n%s", out)
			}
			got := findings(out)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("want -, got +:\n%s\n%s", diff, out)
			}
		})
	}
}

// findings returns the lines that are findings, sorted, with the name of the file as the module has it.
func findings(out string) []string {
	var found []string
	for _, m := range regexp.MustCompile(`(?m)^(?:vet: )?(?:\./)?(\S+\.go:\d+:\d+: .*)$`).FindAllStringSubmatch(out, -1) {
		found = append(found, m[1])
	}
	slices.Sort(found)
	return found
}

// A package that cannot be checked is trouble, and the output says why. The exit codes are those of hookgen.
func TestExitCodes(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	m := usermodule.New(t)
	m.Init("user")
	m.Write("right/right.go", "package right\n")
	m.Write("syntax/syntax.go", "package syntax\n\nfunc f( {}\n")
	m.Write("undefined/undefined.go", "package undefined\n\nvar x = y\n")
	m.Write("above/above.go", "package above\n\nimport _ \"user/undefined\"\n")
	m.Write("empty/notes.txt", "These are notes.\n")
	m.Write("mail/spec.go", "package mail\n\n//hookgen:points\ntype Points interface{ OnSent(int) }\n")
	m.Write("found/found.go", "package found\n\nimport \"user/mail\"\n\n"+
		"type Log struct{}\n\nfunc (Log) Bind(*mail.Hooks) {}\n\n"+
		"func (Log) OnSent(run *mail.Run) {}\n")
	m.Run(usermodule.BuildHookgen(t), "mail")
	hookvet := usermodule.Build(t, "hookvet")
	const skipped = "hookvet: packages with errors, and those that import them, were not checked: correct them first\n"
	for name, c := range map[string]struct {
		arguments []string
		code      int
		first     string // the beginning of the output
		last      string
	}{
		"nothing":          {[]string{"./right"}, 0, "", ""},
		"a finding":        {[]string{"./found"}, 1, "found/found.go:9:12: ", ""},
		"syntax":           {[]string{"./syntax"}, 2, "syntax/syntax.go:3:9: ", skipped},
		"undefined":        {[]string{"./undefined"}, 2, "undefined/undefined.go:3:9: undefined: y\n", skipped},
		"import":           {[]string{"./above"}, 2, "undefined/undefined.go:3:9: undefined: y\n", skipped},
		"no Go files":      {[]string{"./empty"}, 2, "-: no Go files in ./empty\n", skipped},
		"no directory":     {[]string{"./nowhere"}, 2, "-: stat ./nowhere: directory not found\n", skipped},
		"no such flag":     {[]string{"-nothing", "./right"}, 2, "flag provided but not defined: -nothing\n", ""},
		"no arguments":     {nil, 2, "hookvet is a tool for static analysis of Go programs.\n", ""},
		"one right of two": {[]string{"./right", "./syntax"}, 2, "syntax/syntax.go:3:9: ", skipped},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := m.Try(append([]string{hookvet}, c.arguments...)...)
			code := 0
			var exit *exec.ExitError
			if errors.As(err, &exit) {
				code = exit.ExitCode()
			}
			if strings.Contains(out, m.Dir) {
				t.Errorf("there are absolute names of files in:\n%s", out)
			}
			if code != c.code || !strings.HasPrefix(out, c.first) || !strings.HasSuffix(out, c.last) {
				t.Errorf("exit code %d, want %d\n%s", code, c.code, out)
			}
			if strings.Contains(out, "prerequisites") {
				t.Errorf("a line per check:\n%s", out)
			}
		})
	}
}

func TestNamesOfFilesAreRelative(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a b", "user")
	below := func(parts ...string) string { return filepath.Join(append([]string{dir}, parts...)...) }
	here := "." + string(filepath.Separator)
	for _, c := range []struct{ line, want string }{
		{below("main.go") + ":1:9: text\n", here + "main.go:1:9: text\n"},
		{below("lib", "lib.go") + ":10:6: text", filepath.Join("lib", "lib.go") + ":10:6: text"},
		{below("lib", "lib.go") + ":10: text", filepath.Join("lib", "lib.go") + ":10: text"},
		{below("..", "other", "x.go") + ":1:2: text", below("..", "other", "x.go") + ":1:2: text"},
		{"-: no Go files in " + below("empty"), "-: no Go files in " + here + "empty"},
		{"lib/lib.go:1:2: text", "lib/lib.go:1:2: text"},
		{"-: nothing", "-: nothing"},
		{"", ""},
	} {
		t.Run(c.want, func(t *testing.T) {
			if got := shortened(c.line, dir); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	root := string(filepath.Separator) + "x.go"
	if got := shortened(root+":1:1: text", dir); got != root+":1:1: text" {
		t.Errorf("a longer relative name: %q", got)
	}
}

// go vet asks a tool for its version with -V=full, and wants another form.
func TestVersion(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	m := usermodule.New(t)
	hookvet := usermodule.Build(t, "hookvet")
	number, _, _ := strings.Cut(version.Text("hookvet"), "\n")
	for arguments, want := range map[string]string{
		"--version": number + "\n" + runtime.Version() + " ", "-version": number + "\n",
		"-V=full": "hookvet version devel ", "-h": "Usage of ",
	} {
		t.Run(arguments, func(t *testing.T) {
			out, err := m.Try(hookvet, arguments)
			if err != nil || !strings.HasPrefix(out, want) && !strings.Contains(out, "/"+want) ||
				arguments == "-h" && !strings.Contains(out, "-version") {
				t.Errorf("got %v and\n%s", err, out)
			}
		})
	}
}

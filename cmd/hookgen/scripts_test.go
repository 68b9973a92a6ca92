package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/internal/usermodule"
	"github.com/rogpeppe/go-internal/testscript"
)

// TestScripts runs the command line as a user does, and checks the output, the files and the exit code.
func TestScripts(t *testing.T) {
	root := usermodule.Root(t)
	binaries := filepath.Dir(usermodule.BuildHookgen(t))
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/scripts",
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("PATH", binaries+string(filepath.ListSeparator)+env.Getenv("PATH"))
			env.Setenv("ROOT", root)
			env.Setenv("BIN", binaries)
			env.Values[keptFiles{}] = map[string]os.FileInfo{}
			return goEnvironment(env)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"crlf": crlf, "bom": byteOrderMark, "grow": grow, "kept": kept, "exits": exits, "files": files,
		},
	})
}

// goEnvironment gives the script the caches that the go command uses here.
func goEnvironment(env *testscript.Env) error {
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPROXY", "GOFLAGS", "GOSUMDB", "GONOSUMDB"} {
		out, err := exec.Command("go", "env", name).Output()
		if err != nil {
			return err
		}
		env.Setenv(name, strings.TrimSpace(string(out)))
	}
	env.Setenv("GOTOOLCHAIN", "local")
	env.Setenv("GOWORK", "off")
	return nil
}

// crlf gives files the line ends of Windows.
func crlf(ts *testscript.TestScript, neg bool, args []string) {
	rewrite(ts, neg, args, func(text []byte) []byte { return bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n")) })
}

// byteOrderMark begins files with one.
func byteOrderMark(ts *testscript.TestScript, neg bool, args []string) {
	rewrite(ts, neg, args, func(text []byte) []byte { return append([]byte("\ufeff"), text...) })
}

// grow size file... adds comments to files until they have that many megabytes.
func grow(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: grow megabytes file...")
	}
	megabytes, err := strconv.Atoi(args[0])
	ts.Check(err)
	rewrite(ts, neg, args[1:], func(text []byte) []byte {
		line := []byte("// " + strings.Repeat("more ", 20) + "\n")
		return append(text, bytes.Repeat(line, megabytes*1_000_000/len(line))...)
	})
}

// rewrite changes files.
func rewrite(ts *testscript.TestScript, neg bool, files []string, change func([]byte) []byte) {
	if neg || len(files) == 0 {
		ts.Fatalf("usage: command file...")
	}
	for _, name := range files {
		path := ts.MkAbs(name)
		text, err := os.ReadFile(path)
		ts.Check(err)
		ts.Check(os.WriteFile(path, change(text), 0o644))
	}
}

// kept file remembers a file. When it is asked again, the file must not have been replaced or written to since;
// with ! it must have been.
func kept(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: kept file")
	}
	info, err := os.Stat(ts.MkAbs(args[0]))
	ts.Check(err)
	files := ts.Value(keptFiles{}).(map[string]os.FileInfo)
	if before := files[args[0]]; before != nil {
		if same := os.SameFile(before, info) && before.ModTime().Equal(info.ModTime()); same == neg {
			ts.Fatalf("%s was kept: %v", args[0], same)
		}
	}
	files[args[0]] = info
}

// keptFiles is the key of what kept remembers.
type keptFiles struct{}

// exits code command... runs a command that must end with the code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits code command...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// files dir compares the names of the files in a directory with the other arguments.
func files(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: files dir name...")
	}
	entries, err := os.ReadDir(ts.MkAbs(args[0]))
	ts.Check(err)
	var names []string
	for _, e := range entries {
		if e.Name() != ".tmp" { // that of the script
			names = append(names, e.Name())
		}
	}
	if !slices.Equal(names, slices.Sorted(slices.Values(args[1:]))) {
		ts.Fatalf("%s holds %q", args[0], names)
	}
}

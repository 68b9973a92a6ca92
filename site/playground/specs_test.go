package playground_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/tools/txtar"

	"github.com/hookgen/hookgen/site/playground"
)

// A terminal is a directory in which tests run the commands of a reader.
type terminal struct {
	t    *testing.T
	dir  string // of a module with the path of the playground's
	tool string // the file of hookgen
}

func newTerminal(t *testing.T) terminal {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	tool := filepath.Join(dir, "hookgen.exe")
	build := exec.Command("go", "build", "-buildvcs=false", "-o", tool, "./cmd/hookgen")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	write(t, dir, "go.mod", "module "+playground.Module+"\n\ngo 1.26.0\n\nrequire github.com/hookgen/hookgen v0.0.0\n\n"+
		"replace github.com/hookgen/hookgen => "+fmt.Sprintf("%q", root)+"\n")
	return terminal{t, dir, tool}
}

// hookgen runs hookgen with -json in a directory below, and decodes its output.
func (t terminal) hookgen(below string, found any, args ...string) {
	t.t.Helper()
	hookgen := exec.Command(t.tool, append(args, "-json")...)
	hookgen.Dir = filepath.Join(t.dir, below)
	out, err := hookgen.Output()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		t.t.Fatal(err)
	}
	if err := json.Unmarshal(out, found); len(out) > 0 && err != nil {
		t.t.Fatalf("%v\n%s", err, out)
	}
}

// build compiles packages of the module, and returns the messages of the compiler by directory.
func (t terminal) build(dirs ...string) map[string][]playground.Note {
	t.t.Helper()
	return t.run("go", append([]string{"build", "-gcflags=-e", "-mod=mod"}, dirs...)...)
}

// run runs a tool of Go, and returns its messages by directory.
func (t terminal) run(name string, args ...string) map[string][]playground.Note {
	t.t.Helper()
	tool := exec.Command(name, args...)
	tool.Dir, tool.Env = t.dir, append(os.Environ(), "GOWORK=off", "GOFLAGS=", "GOPROXY=off")
	var messages strings.Builder
	tool.Stderr = &messages
	_ = tool.Run() // it fails if it has messages
	found := map[string][]playground.Note{}
	last := ""
	for line := range strings.Lines(messages.String()) {
		line = strings.TrimRight(line, "\n")
		switch m := place.FindStringSubmatch(line); {
		case m != nil:
			n := playground.Note{File: m[2], Message: m[5]}
			_, _ = fmt.Sscan(m[3], &n.Line)
			_, _ = fmt.Sscan(m[4], &n.Column)
			last = m[1]
			found[last] = append(found[last], n)
		case strings.HasPrefix(line, "\t") && last != "": // the rest of a message
			found[last][len(found[last])-1].Message += "\n" + strings.Replace(line, last+"/", "", 1)
		case !strings.HasPrefix(line, "# "):
			t.t.Errorf("%s: %s", name, line)
		}
	}
	return found
}

// place matches the begin of a message of the compiler.
var place = regexp.MustCompile(`^(\w+)/(\w+\.go):(\d+):(\d+): (.*)$`)

// specs returns texts of specs, right and wrong: the specs of one file in the tests of package gen, those of the
// gallery, and mail with each token removed, and replaced by another. Nothing has chosen them by an answer.
func specs(t *testing.T) map[string]string {
	texts := map[string]string{"mail": mail}
	archives, err := filepath.Glob("../../gen/testdata/wrong/*.txtar")
	gallery, _ := filepath.Glob("../gallery/*.txtar")
	if err != nil || len(archives) == 0 || len(gallery) == 0 {
		t.Fatal("no archives", err)
	}
	for _, name := range append(archives, gallery...) {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files := map[string]int{}
		for _, f := range archive.Files {
			files[filepath.Dir(f.Name)]++
		}
		for _, f := range archive.Files {
			dir := filepath.Dir(f.Name)
			if filepath.Base(f.Name) == "spec.go" && files[dir] == 2 { // with the file want, or the hook
				texts[filepath.Base(name)+" "+dir] = string(f.Data)
			}
		}
	}
	maps.Copy(texts, mutants("mail", mail, "package"))
	return texts
}

// mutants returns a text with each token after a mark removed, and with each replaced by another one.
func mutants(name, text, mark string) map[string]string {
	found := map[string]string{}
	tokens := regexp.MustCompile(`\w+|[^\s\w]`).FindAllStringIndex(text, -1)
	begin := strings.Index(text, mark)
	tokens = slices.DeleteFunc(tokens, func(at []int) bool { return at[0] < begin })
	random := rand.New(rand.NewPCG(32, 5))
	for n, at := range tokens {
		other := tokens[random.IntN(len(tokens))]
		found[fmt.Sprintf("%s without token %d", name, n)] = text[:at[0]] + text[at[1]:]
		found[fmt.Sprintf("%s with another token %d", name, n)] = text[:at[0]] + text[other[0]:other[1]] + text[at[1]:]
	}
	return found
}

// TestSpecsAreAnsweredAsByTheCommands compares the answers about specs with what hookgen prints and writes, and, if it
// accepts the spec, with the compiler's messages about the package.
func TestSpecsAreAnsweredAsByTheCommands(t *testing.T) {
	texts := specs(t)
	term, p := newTerminal(t), player(t)
	refused := map[string][]playground.Note{} // by directory
	var accepted, names []string
	for i, name := range slices.Sorted(maps.Keys(texts)) {
		if testing.Short() && i%40 > 0 {
			continue
		}
		names = append(names, name)
		dir := fmt.Sprintf("s%03d", len(names)-1)
		write(t, term.dir, dir+"/spec.go", texts[name])
		var found []playground.Note
		term.hookgen(dir, &found, ".")
		if refused[dir] = found; len(found) == 0 {
			accepted = append(accepted, "./"+dir)
		}
	}
	t.Logf("hookgen refuses %d specs and accepts %d", len(names)-len(accepted), len(accepted))
	if len(names)-len(accepted) < 200 && !testing.Short() {
		t.Error("want at least 200 that it refuses")
	}
	compiled := term.build(accepted...)
	for i, name := range names {
		t.Run(name, func(t *testing.T) {
			dir := fmt.Sprintf("s%03d", i)
			got := p.Answer(playground.Question{Spec: texts[name]})
			if diff := cmp.Diff(append(refused[dir], compiled[dir]...), got.Spec, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("commands -, playground +:\n%s\n%s", diff, texts[name])
			}
			file, _ := os.ReadFile(filepath.Join(term.dir, dir, "hooks_gen.go"))
			want := strings.ReplaceAll(string(file), playground.Module+"/"+dir, got.Import)
			if diff := cmp.Diff(want, got.API); diff != "" {
				t.Errorf("command -, playground +:\n%s\n%s", diff, texts[name])
			}
		})
	}
}

// TestChangesAreThoseOfBreaking compares the changes between mail and each spec with what hookgen breaking prints.
func TestChangesAreThoseOfBreaking(t *testing.T) {
	type change struct {
		Rule, Verdict, Point, Message string
		Line                          int
	}
	term := newTerminal(t)
	texts := specs(t)
	var p playground.Player
	compared, changes := 0, 0
	for i, name := range slices.Sorted(maps.Keys(texts)) {
		if testing.Short() && i%40 > 0 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			old, now := mail, texts[name]
			if i%2 > 0 {
				old, now = now, old
			}
			write(t, term.dir, "old/spec.go", old)
			write(t, term.dir, "now/spec.go", now)
			var want, got []change
			term.hookgen(".", &want, "breaking", "-against", "old", "now")
			a := p.Answer(playground.Question{Spec: now, Old: old})
			if a.Problem != "" {
				if len(want) != 1 || want[0].Rule != "io" {
					t.Errorf("the playground says %s, and the command %+v", a.Problem, want)
				}
				return
			}
			for _, c := range a.Changes {
				if len(c.Points) == 0 {
					c.Points = []string{""}
				}
				for _, point := range c.Points {
					got = append(got, change{c.Rule, c.Verdict, point, c.Message, c.Line})
				}
			}
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("command -, playground +:\n%s", diff)
			}
			compared++
			changes += len(got)
		})
	}
	t.Logf("%d pairs compared, %d changes", compared, changes)
	if compared < 50 && !testing.Short() || changes == 0 {
		t.Error("hardly anything was compared")
	}
}
